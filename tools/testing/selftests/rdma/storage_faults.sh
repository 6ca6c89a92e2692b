#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours,distro --subnet opensm --mem 2048 --timeout 2400 --packages "fio nfs-common nfs-kernel-server nvme-cli open-iscsi srptools targetcli-fb"
# The kernel's own NVMe, iSER, SRP and NFS amid faults: fio writes with checksums, reads and compares,
# again and again, while packets are lost, the link is cut for a while and for longer than the protocol
# waits, another subnet manager comes, the target goes and comes back, and so does the client's device, by
# an administrator's hand and after a fatal error. Nothing that was written may be lost.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/storage.sh
. /lab/src/tools/testing/selftests/rdma/storage_load.sh
. /lab/src/tools/testing/selftests/rdma/load_faults.sh
protocols=${*:-nvme iscsi srp nfs}
count=$(wc -w <<<"$protocols")
# On the distribution's core rpcrdma keeps a device that has died for ever: it waits for the end of its
# connection, and the connection manager says nothing when its own message was flushed.
left_out=0
[[ $LAB_NODE$LAB_CORE$protocols != 2distro*nfs* ]] || left_out=1
plan $((2 + count * (LAB_NODE == 1 ? 6 : 16) - left_out))

# A protocol's own timers decide when it notices: up to a minute of NFS, and more of SCSI's.
patience=600
at="rdma $server4 lab"
nvme_options="-i 2 --reconnect-delay=1 --ctrl-loss-tmo=3600"

# ---- how patient the protocols are ----------------------------------------------------------------

nvme_patient() { :; }
nfs_patient() { :; }
srp_patient()
{
	put off "$(echo /sys/class/srp_remote_ports/*/fast_io_fail_tmo)" &&
		put 1 "$(echo /sys/class/srp_remote_ports/*/reconnect_delay)"
}

# connected PROTOCOL: node 2 has the disk, and will wait for it
# shellcheck disable=SC2086
connected() { "$1_begins" $at && "$1_patient"; }

# ---- faults, and what comes of them ----------------------------------------------------------------

# comes_back PROTOCOL: node 1 withdraws what it serves until the client has noticed
comes_back()
{
	local rc=0
	# shellcheck disable=SC2086
	[ "$LAB_NODE" != 1 ] || "$1_withdrawn" $at || rc=1
	lab-barrier withdrawn
	[ "$LAB_NODE" != 2 ] || within given_up || rc=1
	lab-barrier noticed
	# shellcheck disable=SC2086
	[ "$LAB_NODE" != 1 ] || "$1_offered" $at || rc=1
	[ "$LAB_NODE" != 2 ] || goes_on || rc=1
	return $rc
}

# device_goes PROTOCOL HOW: and comes back with its addresses. To iSER and NFS that is a connection like
# any other that has ended. NVMe and SRP have their disk go with the device, and want to be told to connect.
device_goes()
{
	comes_again "$2" || return 1
	case $1 in
	nvme | srp)
		load_fails && within "${1/srp/scsi}_gone" && connected "$1" && load_begins "$("$1_file")" ||
			return 1
		;;
	esac
	goes_on
}

everywhere "ports have addresses" connections_up
guids
know_lids
[ "$LAB_NODE" != 1 ] || disk lab 256
[ "$LAB_NODE" != 1 ] || ok "a disk" test -b /dev/lab
[ "$LAB_NODE" != 2 ] || ok "the client's device" test -e /sys/bus/pci/drivers/vhca/"$device"
for one in $protocols; do
	# shellcheck disable=SC2086
	on 1 "$one: node 1 serves" ${one}_served $at
	on 2 "$one: what the client needs" ${one}_client_up
	on 2 "$one: connect" connected $one
	file=$(${one}_file)
	on 2 "$one: data that stay" written "$file"
	on 2 "$one: others that are written again and again" load_begins "$file"
	on 2 "$one: 1 % of the packets are lost" lossy
	on 2 "$one: the link is cut for three seconds" link_cut three_seconds
	for manager in 1 2; do
		everywhere "$one: node $manager's subnet manager is killed, the other node has one" handed_over
	done
	on 2 "$one: the link is cut until the client gives the connection up" link_cut until_given_up
	everywhere "$one: node 1 serves no longer, and again" comes_back $one
	on 2 "$one: the client's device is removed and added again" device_goes $one by_hand
	[ "$one $LAB_CORE" = "nfs distro" ] || on 2 "$one: and has a fatal error" device_goes $one by_error
	on 2 "$one: the load ends" load_ends
	on 2 "$one: the data that stay are there" kept "$(${one}_file)"
	# shellcheck disable=SC2086
	given_back $one $at
done
finish

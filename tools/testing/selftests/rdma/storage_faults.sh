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
own=node$LAB_NODE-0
nvme_options="-i 2 --reconnect-delay=1 --ctrl-loss-tmo=3600"
device=$(readlink -f "/sys/class/infiniband/$LAB_DEV/device")
device=${device##*/}
manager=1

# What lies beside it from the beginning to the end
beside="--offset=32M --size=4M --rw=randwrite --bs=16k --verify=crc32c"
# shellcheck disable=SC2086
written() { fio_run written "$1" $beside --verify_fatal=1; }
# shellcheck disable=SC2086
kept() { fio_run kept "$1" $beside --verify_only; }

# ---- how patient the protocols are ----------------------------------------------------------------

nvme_patient() { :; }
nfs_patient() { :; }
iscsi_patient() { put 3600 "$(echo /sys/class/iscsi_session/session*/recovery_tmo)"; }
srp_patient()
{
	put off "$(echo /sys/class/srp_remote_ports/*/fast_io_fail_tmo)" &&
		put 1 "$(echo /sys/class/srp_remote_ports/*/reconnect_delay)"
}

# connected PROTOCOL: node 2 has the disk, and will wait for it
# shellcheck disable=SC2086
connected() { "$1_begins" $at && "$1_patient"; }

# ---- faults, and what comes of them ----------------------------------------------------------------

managed_by() { [ "$(($(<"$port/sm_lid")))" = "$1" ] && port_is_active; }

lossy()
{
	lab-fault loss all permille=10 seed=7 && goes_on && lab-vhcactl status | grep "struck [1-9]" &&
		lab-fault clear all && goes_on
}

# link_cut COMMAND...: the link is cut until the command has ended. Nothing gets through, but that fio
# ends whose last answer has come already.
link_cut()
{
	local before
	lab-vhcactl link "$own" down || return 1
	before=$(passes)
	"$@" || return 1
	[ "$(passes)" -le $((before + 1)) ] || { echo "the load goes on all the same"; return 1; }
	lab-vhcactl link "$own" up && within port_is_active && goes_on
}

three_seconds() { read -r -t 3 -u "$lab_silence" || true; }
until_given_up() { within given_up; }

# handed_over: the manager is killed, and the other node has one
handed_over()
{
	local rc=0 other=$((3 - manager))
	[ "$LAB_NODE" != "$manager" ] || kill -9 "$(</run/lab/opensm)"
	lab-barrier "killed-$manager"
	[ "$LAB_NODE" = "$manager" ] || lab-opensm || rc=1
	within managed_by "${lid[other]}" || rc=1
	lab-barrier "managed-$other"
	[ "$LAB_NODE" != 2 ] || goes_on || rc=1
	return $rc
}

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

# which_device: the device, as long as it is registered
which_device() { stat -c %i "/sys/class/infiniband/$LAB_DEV"; }
another_device() { [ "$(which_device)" != "$1" ] && port_is_active; }

by_hand()
{
	put "$device" /sys/bus/pci/drivers/vhca/unbind && device_is_down &&
		put "$device" /sys/bus/pci/drivers/vhca/bind
}

# by_error: who has an error stays down until it is reset
device_is_down() { [ ! -e "/sys/class/infiniband/$LAB_DEV" ]; }
by_error()
{
	lab-fault fatal "$own" && within device_is_down && put 1 "/sys/bus/pci/devices/$device/reset"
}

# device_goes PROTOCOL HOW: and comes back with its addresses. To iSER and NFS that is a connection like
# any other that has ended. NVMe and SRP have their disk go with the device, and want to be told to connect.
device_goes()
{
	local was
	was=$(which_device)
	"$2" && within another_device "$was" && own_addresses || return 1
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

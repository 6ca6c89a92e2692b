#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours,distro --subnet opensm --mem 3072 --timeout 2400 --packages "fio nfs-common nfs-kernel-server nvme-cli open-iscsi srptools targetcli-fb"
# The kernel's own SRP on both sides, by srptools and LIO: data with checksums, logins that come and
# go, a target that is switched off under load and comes back.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/storage.sh
plan $((LAB_NODE == 1 ? 7 : 11))

turns=25

target_down() { no_srp_target && no_lio_disk lab && no_disk lab; }

all_turns()
{
	local turn
	for ((turn = 1; turn <= turns; turn++)); do
		srp_attached && verified "$(scsi_disk)" 4M --bs=16k && srp_detached || {
			echo "turn $turn"
			return 1
		}
	done
}

rport_is() { grep -qx "$1" /sys/class/srp_remote_ports/*/state; }

# comes_back: the target is switched off under load, and on again when the initiator knows
comes_back()
{
	local disk at pid rc=0
	if [ "$LAB_NODE" = 1 ]; then
		lab-barrier under-load
		put 0 "$srp_group/enable" || rc=1
		lab-barrier disabled
		lab-barrier noticed
		put 1 "$srp_group/enable" || rc=1
		return $rc
	fi
	disk=$(scsi_disk)
	put 120 "$(echo /sys/class/srp_remote_ports/*/fast_io_fail_tmo)" &&
		put 1 "$(echo /sys/class/srp_remote_ports/*/reconnect_delay)" || rc=1
	at=$(writes "$disk")
	verified "$disk" 32M --bs=16k &
	pid=$!
	within busy "$disk" $((at + 200)) || rc=1
	lab-barrier under-load
	lab-barrier disabled
	within rport_is blocked || rc=1
	lab-barrier noticed
	wait $pid || rc=1
	return $rc
}

guids
modprobe ib_umad
on 1 "the target's module" modules ib_srpt
on 2 "the initiator's" modules ib_srp
[ "$LAB_NODE" != 1 ] || { disk lab 1200; lio_disk lab; srp_target lab "$(<"$LAB_OUT/guid.2")"; }
on 1 "a target" grep -x 1 "${srp_group:-}/enable"
on 2 "the module is there" modprobe ib_srp
on 2 "discovery and login" srp_attached
on 2 "through a QP" qps
disk=$(scsi_disk)
on 2 "written, read back and compared, in blocks of several sizes" by_sizes "$disk"
on 2 "1 GiB in requests of mixed sizes" mixed "$disk"
everywhere "the target has what was written" same "$disk"
everywhere "the target is switched off under load and comes back: nothing is lost" comes_back
on 2 "logout" srp_detached
on 1 "its QPs are gone" within qps_are 0
on 2 "login, use, logout: $turns times" all_turns
on 2 "the module goes" modprobe -r ib_srp
on 1 "the target goes" target_down
on 1 "and its module" modprobe -r ib_srpt
finish

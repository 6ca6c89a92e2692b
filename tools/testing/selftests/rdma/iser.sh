#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours,distro --subnet opensm --mem 3072 --timeout 2400 --packages "fio nfs-common nfs-kernel-server nvme-cli open-iscsi srptools targetcli-fb"
# The kernel's own iSER on both sides, by open-iscsi and LIO: data with checksums, sessions that are opened
# and closed, a target that is switched off under load and comes back.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/storage.sh
plan $((LAB_NODE == 1 ? 8 : 15))

turns=25

target_up()
{
	disk lab 1200 && lio_disk lab && iscsi_target lab && iscsi_portal iser $server4
}

target_down() { no_iscsi_portal $server4 && no_iscsi_target && no_lio_disk lab && no_disk lab; }

all_turns()
{
	local turn
	for ((turn = 1; turn <= turns; turn++)); do
		iscsi_attached iser $server4 && verified "$(scsi_disk)" 4M --bs=16k && iscsi_detached $server4 || {
			echo "turn $turn"
			return 1
		}
	done
}

session_is() { grep -qx "$1" /sys/class/iscsi_session/session*/state; }

# comes_back: the group of ports is switched off under load, and on again when the initiator knows
comes_back()
{
	local disk at pid rc=0
	if [ "$LAB_NODE" = 1 ]; then
		lab-barrier under-load
		put 0 "$iscsi_group/enable" || rc=1
		lab-barrier disabled
		lab-barrier noticed
		put 1 "$iscsi_group/enable" || rc=1
		return $rc
	fi
	disk=$(scsi_disk)
	at=$(writes "$disk")
	verified "$disk" 32M --bs=16k &
	pid=$!
	within busy "$disk" $((at + 200)) || rc=1
	lab-barrier under-load
	lab-barrier disabled
	within session_is FAILED || rc=1
	lab-barrier noticed
	wait $pid || rc=1
	return $rc
}

everywhere "ports have addresses" connections_up
on 1 "the target's module" modules ib_isert
on 2 "the initiator's" modules ib_iser
on 1 "a target" target_up
on 2 "the initiator's daemon" iscsi_client_up
on 2 "discovery" says "$iqn" iscsiadm -m discovery -t st -p $server4 -I iser
on 2 "login" iscsi_attached iser $server4
on 2 "is over RDMA" says "^iser:" iscsiadm -m session
on 2 "through a QP" qps
disk=$(scsi_disk)
on 2 "written, read back and compared, in blocks of several sizes" by_sizes "$disk"
on 2 "1 GiB in requests of mixed sizes" mixed "$disk"
everywhere "the target has what was written" same "$disk"
everywhere "the target is switched off under load and comes back: nothing is lost" comes_back
on 2 "logout" iscsi_detached $server4
on 1 "its QPs are gone" within qps_are 0
on 2 "login, use, logout: $turns times" all_turns
on 2 "the daemon ends" iscsi_client_down
on 2 "the module goes" modprobe -r ib_iser
on 1 "the target goes" target_down
on 1 "and its module" modprobe -r ib_isert
finish

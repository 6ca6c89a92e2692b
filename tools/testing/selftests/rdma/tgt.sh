#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours,distro --subnet opensm --mem 2048 --timeout 1800 --packages "fio nvme-cli open-iscsi tgt xfsprogs"
# A target in user space, tgtd, serves the kernel's own iSER initiator: data with checksums,
# sessions that come and go, and a target that is killed under load.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/storage.sh
. /lab/src/tools/testing/selftests/rdma/storage_load.sh
plan $((LAB_NODE == 1 ? 9 : 16))

turns=5

tgt() { tgtadm --lld iser --mode "$1" --op "$2" "${@:3}"; }

tgtd_up()
{
	setsid tgtd -f </dev/null >"$LAB_OUT/tgtd" 2>&1 &
	within tgt sys show
}

target_up()
{
	tgt target new --tid 1 -T $iqn &&
		tgt logicalunit new --tid 1 --lun 1 -b /dev/lab && tgt target bind --tid 1 -I ALL &&
		tgt target bind --tid 1 -Q iqn.2026-01.lab.storage:node2
}

tgtd_down()
{
	tgt target delete --tid 1 && tgt sys delete && within sh -c "! pgrep -x tgtd" && no_disk lab
}

# killed: node 1's tgtd is, the client's connection is at an end, and another tgtd serves the same target
killed()
{
	local rc=0
	[ "$LAB_NODE" != 1 ] || pkill -9 -x tgtd || rc=1
	lab-barrier killed
	[ "$LAB_NODE" != 2 ] || within given_up || rc=1
	lab-barrier noticed
	[ "$LAB_NODE" != 1 ] || { tgtd_up && target_up; } || rc=1
	lab-barrier served
	[ "$LAB_NODE" != 2 ] || goes_on || rc=1
	return $rc
}

# a user's process has the QP, and says who it is
owned() { rdma resource show qp | grep 'type RC.*comm tgtd'; }

used()
{
	iscsi_attached iser $server4 && verified "$(scsi_disk)" 4M --bs=16k &&
		iscsi_detached $server4
}

everywhere "ports have addresses" connections_up
on 1 "tgtd" tgtd_up
on 1 "a disk" disk lab 256
on 1 "a target" target_up
on 2 "the initiator's daemon" iscsi_client_up
on 2 "login" iscsi_attached iser $server4
on 2 "is over RDMA" says "^iser:" iscsiadm -m session
on 1 "by a QP of tgtd" owned
disk=$(scsi_disk)
on 2 "written, read back and compared, in blocks of several sizes" by_sizes "$disk"
on 2 "a depth of 128" verified "$disk" 16M --bs=4k --iodepth=128
everywhere "the target has what was written" same "$disk"
on 2 "the client waits for a target that has gone" iscsi_patient
on 2 "data that stay" written "$disk"
on 2 "others that are written again and again" load_begins "$disk"
everywhere "tgtd is killed, and another one serves" killed
on 2 "the load ends" load_ends
on 2 "the data that stay are there" kept "$disk"
on 2 "logout" iscsi_detached $server4
on 2 "login, use, logout: $turns times" repeated $turns used
on 1 "all QPs are gone" within qps_are 0
on 2 "the daemon ends" iscsi_client_down
on 1 "tgtd ends" tgtd_down
finish

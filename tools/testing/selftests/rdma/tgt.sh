#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours,distro --subnet opensm --mem 2048 --timeout 1800 --packages "fio nvme-cli open-iscsi tgt xfsprogs"
# A target in user space, tgtd, serves the kernel's own iSER initiator: data with checksums, and
# sessions that come and go.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/storage.sh
plan $((LAB_NODE == 1 ? 7 : 10))

turns=5

tgt() { tgtadm --lld iser --mode "$1" --op "$2" "${@:3}"; }

tgtd_up()
{
	setsid tgtd -f </dev/null >"$LAB_OUT/tgtd" 2>&1 &
	within tgt sys show
}

target_up()
{
	disk lab 256 && tgt target new --tid 1 -T $iqn &&
		tgt logicalunit new --tid 1 --lun 1 -b /dev/lab && tgt target bind --tid 1 -I ALL &&
		tgt target bind --tid 1 -Q iqn.2026-01.lab.storage:node2
}

tgtd_down()
{
	tgt target delete --tid 1 && tgt sys delete && within sh -c "! pgrep -x tgtd" && no_disk lab
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
on 1 "a target" target_up
on 2 "the initiator's daemon" iscsi_client_up
on 2 "login" iscsi_attached iser $server4
on 2 "is over RDMA" says "^iser:" iscsiadm -m session
on 1 "by a QP of tgtd" owned
disk=$(scsi_disk)
on 2 "written, read back and compared, in blocks of several sizes" by_sizes "$disk"
on 2 "a depth of 128" verified "$disk" 16M --bs=4k --iodepth=128
everywhere "the target has what was written" same "$disk"
on 2 "logout" iscsi_detached $server4
on 2 "login, use, logout: $turns times" repeated $turns used
on 1 "all QPs are gone" within qps_are 0
on 2 "the daemon ends" iscsi_client_down
on 1 "tgtd ends" tgtd_down
finish

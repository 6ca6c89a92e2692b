#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 1 --core ours --kernel debug --subnet opensm --cpus 2 --iommu --timeout 3000
# Every request to uverbs, the connection manager, a umad and netlink lacks the kernel's memory once, at each
# place where it takes some, behind an IOMMU also where memory is mapped for the device: it fails and leaves
# nothing behind, or does without.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
connections_up >/dev/null || exit 1
mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug
modprobe -a ib_umad rdma_ufake
here=/lab/src/tools/testing/selftests/rdma
rc=0
python3 -B $here/uapi_faults.py "$LAB_DEV" ufake0 memory || rc=1
python3 -B $here/uapi_faults_cm.py "$LAB_DEV" "$own4" memory || rc=1
python3 -B $here/uapi_memory_nldev.py "$LAB_DEV" || rc=1
exit $rc

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 1 --core ours --kernel debug --subnet opensm --timeout 3000
# What an administrator does with an IPoIB interface lacks memory once, at each place where it takes some:
# it is done or refused then, it succeeds when there is memory, and nothing is left behind.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh

failslab=/sys/kernel/debug/failslab
objects() { rdma resource show; ls /sys/class/net /sys/kernel/debug/ipoib; }
as_before() { [ "$(objects)" = "$before" ] || { objects; return 1; }; }

plan 3
mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug
# As for cm_memory.sh
echo N >$failslab/ignore-gfp-wait
echo 0 >$failslab/verbose
echo 100 >/sys/kernel/debug/fail_page_alloc/min-order
echo 0 >/sys/kernel/debug/fail_usercopy/verbose
# Of the receives, which are all alike, there are two.
ok "the interface is there" modprobe ib_ipoib recv_queue_size=2
within net_device
before=$(objects)
ok "all succeeds in the end" python3 /lab/src/tools/testing/selftests/rdma/ipoib_memory.py "$(net_device)" $patience
ok "nothing is left" within as_before
finish

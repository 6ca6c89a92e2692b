#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 1 --core ours --kernel debug --subnet opensm --timeout 3000
# Every command of connections, datagram services and groups lacks memory once, at each place where it
# takes some: the same command succeeds then, and nothing is left behind.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh

failslab=/sys/kernel/debug/failslab
plan 4
mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug
# Allocations that may wait fail, too, and without a trace of the stack for each. Pages are left out, which
# the slab allocator takes when it needs some, and does with fewer.
echo N >$failslab/ignore-gfp-wait
echo 0 >$failslab/verbose
echo 100 >/sys/kernel/debug/fail_page_alloc/min-order
echo 0 >/sys/kernel/debug/fail_usercopy/verbose
ok "ports have addresses" connections_up
before=$(rdma resource show)
ok "each command fails, and succeeds" $programs/cm_memory "$own4"
is "nothing is left of them" "$before" "$(rdma resource show)"
ok "no id is left" no_ids
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours,distro
# Kernel consumers of what QPs share: SRQs, CQs that are resized, datagrams, multicast groups.
. /lab/src/tools/testing/selftests/rdma/lib.sh
plan 4

ok "the module meets the device" modprobe rdma_kqueues
is "all checks hold" 0 "$(cat /sys/module/rdma_kqueues/parameters/failed)"
ok "there were checks" test "$(cat /sys/module/rdma_kqueues/parameters/passed)" -gt 40
ok "the module goes" rmmod rdma_kqueues
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours,distro --cpus 2
# check: --core ours
# Two processes share an XRC domain and a target, and one dies, on both cores.
. /lab/src/tools/testing/selftests/rdma/lib.sh
plan 2
silent=()
[ "$LAB_CORE" = ours ] || silent=(silent)
ok "shared domain and target" $programs/xrc_shared "$LAB_DEV" "${silent[@]}"
ok "the device has nothing left of them, only what MADs take" lab-vhcactl objects node1-0 xrcds=0 srqs=0 qps=2 cqs=1 pds=1
finish

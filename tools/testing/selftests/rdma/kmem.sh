#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours --cpus 2
# long: --core ours,distro
# Kernel consumers that register memory between two guests: keys that wrap, messages that end keys,
# READs and WRITEs of 1 MiB by hand and through R/W contexts, atomics, pools of CQs, draining under
# load, objects that end themselves; on our core FMRs, too, and objects that are left.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/kmem_checks.sh
[ "$LAB_CORE" = ours ] || kmem_left_plan=0
plan $((2 * kmem_plan + kmem_left_plan + 1))
kmem_checks lists 0
[ "$LAB_CORE" != ours ] || kmem_left_checks
kmem_force_mr
kmem_checks mrs 1
finish

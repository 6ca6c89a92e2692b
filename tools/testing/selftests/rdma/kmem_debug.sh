#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours --kernel debug --cpus 2 --load none --append kmemleak=off
# Kernel consumers that register memory, in the debug kernel; R/W contexts have MRs. kmemleak is
# off, since it takes half of the time; the KUnit suites take every path under it.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/kmem_checks.sh
plan $((kmem_plan + kmem_left_plan + 1))
ok "the core is told to use MRs" sh -c 'modprobe ib_core force_mr=1 && lab-load auto'
kmem_checks mrs 1
kmem_left_checks
finish

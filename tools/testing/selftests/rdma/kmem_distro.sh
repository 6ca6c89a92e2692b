#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core distro --cpus 2
# Kernel consumers that register memory between two guests, on the distribution's core.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/kmem_checks.sh
plan $((2 * kmem_plan + 1))
kmem_checks lists 0
kmem_force_mr
kmem_checks mrs 1
finish

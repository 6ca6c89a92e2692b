#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours
# Kernel consumers that register memory between two guests: keys that wrap, messages that end keys,
# READs and WRITEs of 1 MiB, atomics, pools of CQs, draining under load.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/kmem_checks.sh
plan $kmem_plan
kmem_checks
finish

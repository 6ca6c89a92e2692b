#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours --cpus 2
# Data inside of requests, and requests that reach for memory they have no right to,
# on our core.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/memory_checks.sh
plan $memory_plan
memory_checks
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core distro --cpus 2
# Data inside of requests, and requests that reach for memory they have no right to,
# on the distribution's core.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/memory_checks.sh
plan $memory_plan
memory_checks
finish

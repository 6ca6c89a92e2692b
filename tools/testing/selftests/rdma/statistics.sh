#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours
# Counters and objects as sysfs and netlink show them, on our core.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/statistics_checks.sh
plan $statistics_plan
statistics
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core distro
# Every asynchronous event there is, on the distribution's core with our driver.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/events_checks.sh
plan $events_plan
events distro
finish

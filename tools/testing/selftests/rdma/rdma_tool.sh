#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours
# What every subcommand of iproute2's rdma says on our core.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/rdma_tool_checks.sh
plan $rdma_tool_plan
rdma_tool compare 1
ok "what must be refused is" python3 -B /lab/src/tools/testing/selftests/rdma/rdma_bad_netlink.py \
	/lab/src/include/uapi/rdma/rdma_netlink.h
finish

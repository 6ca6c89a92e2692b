#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core distro
# What every subcommand of iproute2's rdma says on the distribution's core; golden/rdma_tool.distro
# says where ours answers otherwise, and why.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/rdma_tool_checks.sh
plan $rdma_tool_plan
rdma_tool differences 0
ok "what must be refused is" python3 -B /lab/src/tools/testing/selftests/rdma/rdma_bad_netlink.py \
	/lab/src/include/uapi/rdma/rdma_netlink.h -n
finish

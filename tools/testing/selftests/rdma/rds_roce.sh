#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours,distro --link eth --timeout 900
# rds.sh over Ethernet ports, with fewer connections
exec /lab/src/tools/testing/selftests/rdma/rds.sh eth 10

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core distro,ours --link eth --timeout 2400
# ulp_faults.sh with SMC, which connects by Ethernet ports only
exec /lab/src/tools/testing/selftests/rdma/ulp_faults.sh smc

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours --kernel debug --cpus 2 --link eth --timeout 2400 --append "kmemleak=off dma_debug=off" -- 300
# smc_debug.sh SECONDS: storage_debug.sh with SMC, which connects by Ethernet ports only
exec /lab/src/tools/testing/selftests/rdma/storage_debug.sh "$1" smc

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 1 --core ours --cpus 2 --kernel debug --timeout 7200 -- 200
# rounds.sh in the debug kernel
exec /lab/src/tools/testing/selftests/rdma/rounds.sh "$@"

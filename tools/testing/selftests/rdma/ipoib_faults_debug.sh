#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours --kernel debug --subnet none --load modules --timeout 3600 --device-arg --topology --device-arg /lab/src/tools/testing/selftests/rdma/detour.json
# long/ipoib_faults in the debug kernel, where kmemleak and all other checks look on.
. /lab/src/tools/testing/selftests/rdma/ipoib_faults.sh

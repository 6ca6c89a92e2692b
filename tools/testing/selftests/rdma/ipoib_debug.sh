#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours --ports 2 --kernel debug --subnet opensm --timeout 3600 --packages ethtool
# long/ipoib_admin in the debug kernel, which has no bridges: both modes, children, network namespaces, a
# bond.
# shellcheck disable=SC2034
bridges=0
. /lab/src/tools/testing/selftests/rdma/ipoib_admin.sh

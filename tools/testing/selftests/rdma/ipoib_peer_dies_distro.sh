#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core distro --subnet opensm --timeout 600
# own boot: a guest dies
# long/ipoib_peer_dies with the distribution's module on its own core: in guests of its own, since
# node 2 does not come back.
. /lab/src/tools/testing/selftests/rdma/ipoib_peer_dies.sh

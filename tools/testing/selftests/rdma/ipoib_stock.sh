#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours --subnet opensm --timeout 900
# own boot: another module takes the place of ours
# guest/ipoib with Linux's own ib_ipoib, compiled unchanged for our core.
stock=/lab/src/build/trees/ours/foreign/ipoib/ib_ipoib.ko
mount --bind $stock "$(modinfo -n ib_ipoib)" || exit 1
# shellcheck disable=SC2034
module=stock
. /lab/src/tools/testing/selftests/rdma/ipoib.sh

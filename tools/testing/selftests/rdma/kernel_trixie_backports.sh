#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --kernel trixie-backports --core ours,distro --mem 2048
. /lab/src/tools/testing/selftests/rdma/kernel_short.sh '7\.'

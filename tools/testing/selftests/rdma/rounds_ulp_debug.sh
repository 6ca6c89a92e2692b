#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours --kernel debug --cpus 2 --subnet opensm --mem 3072 --timeout 7200 --packages "fio nfs-common nfs-kernel-server nvme-cli open-iscsi srptools targetcli-fb" -- 3
# rounds_ulp.sh in the debug kernel
exec /lab/src/tools/testing/selftests/rdma/rounds_ulp.sh "$@"

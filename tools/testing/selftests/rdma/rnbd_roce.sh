#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours --link eth --mem 2048 --timeout 2400 --packages "fio nfs-common nfs-kernel-server nvme-cli open-iscsi srptools targetcli-fb"
# rnbd.sh over Ethernet ports, with fewer sessions
exec /lab/src/tools/testing/selftests/rdma/rnbd.sh eth 10

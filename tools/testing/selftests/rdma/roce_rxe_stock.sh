#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours --core-of 2=stock --hca-of 2=0 --link eth --timeout 900
# RoCE v2 between a vhca device on our core in one guest and the distribution's rdma_rxe on its own
# core in the other, which has nothing of ours.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/roce_checks.sh

stock_rxe()
{
	[ "$LAB_NODE" = 2 ] || return 0
	rxe_on eth0 && ! modinfo -n ib_core rdma_rxe | grep /updates/
}

plan $((1 + roce_rxe_plan))
ok "the second node has the distribution's rdma_rxe" stock_rxe
roce_rxe
finish

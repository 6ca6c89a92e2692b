#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours,distro --link eth --timeout 900
# RoCE v2 between a vhca device in one guest and rdma_rxe in the other: by the frames of the standard.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/roce_checks.sh

# Node 2 gives its vhca device up: its net device takes all frames, and rxe stands on it.
take_rxe()
{
	local net pci
	[ "$LAB_NODE" = 2 ] || return 0
	net=$(roce_netdev) && pci=$(readlink -f "/sys/class/infiniband/$LAB_DEV/device") &&
		echo "${pci##*/}" >/sys/bus/pci/drivers/vhca/unbind && rxe_on "$net"
}

plan $((1 + roce_rxe_plan))
ok "the second node has rdma_rxe" take_rxe
roce_rxe
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours --link eth --timeout 400
# cm_hostile between Ethernet ports, whose messages have GRHs and whose paths have no LIDs.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/cm_hostile_checks.sh
. /lab/src/tools/testing/selftests/rdma/roce_checks.sh
own4=$roce4

# what cm_hostile.py is told of an Ethernet port
know_lids() { lid=(0 0 0); }
native_addresses()
{
	own_gid=$(as_gid "$own4")
	server_gid=$(as_gid $server4)
}

connected() { roce_up && modprobe -a rdma_ucm ib_umad; }

plan $((LAB_NODE == 1 ? 1 + hostile_plan_server : 1 + hostile_plan_client))
ok "addresses have GIDs" connected
lab-barrier ready
hostile_checks
finish

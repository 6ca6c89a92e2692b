#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours --subnet opensm --timeout 400
# Messages of connections that no manager would send are counted, and dropped or refused; connections
# beside them stand, and nothing is left of them.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/cm_hostile_checks.sh

plan $((LAB_NODE == 1 ? 1 + hostile_plan_server : 1 + hostile_plan_client))
ok "ports have addresses" connections_up
hostile_checks
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours --kernel debug --cpus 2 --subnet opensm --timeout 5400 --append kmemleak=off
# Connections in the debug kernel: many at once with faults of the links, messages that no manager sends,
# processes that end, and that lose their device, at every stage. kmemleak is off, since it takes half of
# the time.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/cm_hostile_checks.sh
. /lab/src/tools/testing/selftests/rdma/cm_storm_checks.sh

many=200
plan $((1 + storm_plan + (LAB_NODE == 1 ? hostile_plan_server : hostile_plan_client + 4)))
ok "ports have addresses" connections_up
storm_checks
hostile_checks
# the manager is in node 1, so that it is node 2 that loses its device
if [ "$LAB_NODE" = 2 ]; then
	before=$(left)
	lost_at_every_stage
fi
lab-barrier lost
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours,distro --subnet opensm --timeout 5400
# A thousand connections at once with faults of the links.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/cm_storm_checks.sh

many=1000
plan $((1 + storm_plan))
ok "ports have addresses" connections_up
storm_checks
finish

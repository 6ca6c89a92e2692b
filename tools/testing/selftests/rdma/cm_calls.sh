#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours --subnet opensm --timeout 400
# long: --core ours,distro
# librdmacm's calls and the events of connections between two guests; see cm_calls.c.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh

plan 22
ok "ports have addresses" connections_up
call_cases ib
ok "no id is left" no_ids
finish

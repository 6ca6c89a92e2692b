#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours --link eth --i386 --timeout 600
# check: no
# Programs of 32 bits on a kernel of 64 make librdmacm's calls, and are killed and lose their device at
# every stage of a connection.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/roce_checks.sh
own4=$roce4

call_plan=$($programs/cm_calls names eth | wc -l)
plan $((4 + call_plan + 1 + (LAB_NODE == 2 ? 6 : 0)))
ok "addresses have GIDs" roce_up
ok "there are programs' connections" modprobe rdma_ucm
# mounted before the root of 32 bits is, which has what is mounted then
ok "and settings of ports" settings
lab-i386
is "there are programs of 32 bits" 32 "$(lab-i386 getconf LONG_BIT)"
programs="lab-i386 /lab/src/build/selftests-i386"
call_cases eth
ok "no id is left" no_ids

before=$(left)
if [ "$LAB_NODE" = 2 ]; then
	lost_at_every_stage
	ok "addresses have GIDs again" within gids
	ok "there is what there was" within as_before
fi
lab-barrier back
finish

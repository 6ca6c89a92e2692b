#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours --hca 0
# siw, compiled from Linux's source against our headers, on our core: a kernel consumer connects RC
# QPs by iw_cm, between the guests and inside each, and programs connect by address.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/siw_checks.sh
plan $((2 + siw_programs_plan + siw_plan))
case $(modinfo -n siw) in
*/updates/*) where=ours ;;
*) where=theirs ;;
esac
is "siw is the one for our core" ours "$where"
ok "siw accepts before more comes" siw_accepts_first
siw_programs
siw_connects 100
finish

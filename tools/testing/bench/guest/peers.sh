#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# peers.sh: what bench/ethernet starts in two guests. The second has rdma_rxe all the time, the first has
# rdma_rxe and an HCA in turn; every program's output stays in $LAB_OUT as
# WHAT.ROUND.PROGRAM.nodeK for the host to read.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/roce_checks.sh
. /lab/src/tools/testing/bench/guest/devices.sh

# of NAME PROGRAM OPTION...
of() { roce_pair "$1" 4 "${@:2}" -F --report_gbits >/dev/null || die "${*:2} failed: $1"; }

# measure WHAT ROUND: the second guest asks, or with --reversed the first
measure()
{
	local one
	for one in write send read; do
		of "$1.$2.$one.from" "ib_${one}_bw" -s 65536 -n 300
		of "$1.$2.$one.to" "ib_${one}_bw" -s 65536 -n 300 --reversed
	done
	of "$1.$2.atomic.from" ib_atomic_bw -n 1000
	of "$1.$2.atomic.to" ib_atomic_bw -n 1000 --reversed
}

[ "$LAB_NODE" = 1 ] || rxe_up
for step in rxe:1 ours:1,2 rxe:2 ours:3,4 rxe:3 ours:5; do
	what=${step%:*}
	[ "$LAB_NODE" != 1 ] || "${what}_up"
	roce_up || die "addresses have no GIDs: $step"
	for round in $(tr , ' ' <<<"${step#*:}"); do measure "$what" "$round"; done
	lab-barrier "$step-measured"
	[ "$LAB_NODE" != 1 ] || "${what}_down"
done
[ "$LAB_NODE" = 1 ] || rxe_down

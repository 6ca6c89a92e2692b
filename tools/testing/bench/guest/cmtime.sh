#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# cmtime.sh COUNT...: what bench/connect starts in both guests: rdma_rxe on the distribution's modules and
# the emulated HCA on ours take turns in the same guests, and each has cmtime make COUNT connections. Its
# output stays in $LAB_OUT as cmtime-WHAT.ROUND.COUNT.nodeK for the host to read.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/bench/guest/devices.sh

cmtime_listens() { wait_listen 7471 "$1"; }

# connect ROUND SERVER OWN: connections between the two guests by these addresses
connect()
{
	local count
	for count in $counts; do
		served "cmtime-$1.$count" cmtime_listens ended "cmtime -b $2 -c $count" \
			cmtime -b "$3" -s "$2" -c "$count" >/dev/null || die "cmtime -c $count failed: $1"
	done
}

counts=$*
for step in rxe:1 ours:1,2 rxe:2 ours:3,4 rxe:3 ours:5; do
	what=${step%:*}
	"${what}_up"
	if [ "$what" = rxe ]; then
		modprobe rdma_ucm || die "no stock rdma_ucm"
		server=10.77.0.1 own=10.77.0.$LAB_NODE
	else
		connections_up >/dev/null || die "ports have no addresses"
		server=$server4 own=$own4
	fi
	lab-barrier "$step-up"
	for round in $(tr , ' ' <<<"${step#*:}"); do connect "$what.$round" $server "$own"; done
	lab-barrier "$step-measured"
	[ "$what" = rxe ] || manager_ends
	"${what}_down"
done

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 3 --core ours
# own boot: a guest dies
# Node 2 fails in mid-transfer, its QEMU killed as a power failure would end it. Node 1 learns of it by a
# completion in error, and goes on with node 3.
. /lab/src/tools/testing/selftests/rdma/lib.sh

# started ADDRESS...: ib_write_bw is running as $load and both sides have connected
started()
{
	rm -f "$LAB_OUT/load.$LAB_NODE"	# of an earlier run
	stdbuf -oL ib_write_bw -d "$LAB_DEV" -F -s 65536 -D 6000 "$@" >"$LAB_OUT/load.$LAB_NODE" 2>&1 &
	load=$!
	if [ $# -eq 0 ]; then
		wait_listen 18515 $load
		lab-barrier load-listens
	fi
	until grep -qs '#bytes' "$LAB_OUT/load.$LAB_NODE"; do
		kill -0 $load || return 1
		sleep 0.05
	done
}

case $LAB_NODE in
1)
	plan 4
	lab-barrier load-listens
	started 10.77.0.2
	is "traffic to node 2 runs" 0 $?
	lab-barrier load-runs
	wait $load
	is "the writer fails" 1 $(($? != 0))
	cat "$LAB_OUT/load.1"
	ok "because its peer no longer answers" \
		grep -Ei 'retry|completion with error|vendor' "$LAB_OUT/load.1"
	ok "node 3 can be reached" ibv_rc_pingpong -d "$LAB_DEV" -c -n 50 10.77.0.3
	finish
	;;
2)
	started || exit 1
	lab-barrier load-runs
	lab-end kill
	;;
3)
	plan 1
	ibv_rc_pingpong -d "$LAB_DEV" -c -n 50 &
	other=$!
	wait_listen 18515 $other
	lab-barrier load-listens
	lab-barrier load-runs
	wait $other
	is "node 1 comes to node 3" 0 $?
	finish
	;;
esac

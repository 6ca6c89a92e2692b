#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours
# A process killed with QPs and MRs open and traffic under way leaves nothing
# behind; a module whose device is open cannot be removed; afterwards it can,
# and comes up again.
. /lab/src/tools/testing/selftests/rdma/lib.sh
plan 6

victim()
{
	rm -f "$LAB_OUT/victim.$LAB_NODE"	# of an earlier run
	# far more messages than can pass before the kill
	if [ "$LAB_NODE" = 1 ]; then
		stdbuf -oL ib_write_bw -d "$LAB_DEV" -F -s 65536 -D 6000 >"$LAB_OUT/victim.1" 2>&1 &
		victim=$!
		wait_listen 18515 $victim
		lab-barrier victim-listens
	else
		lab-barrier victim-listens
		stdbuf -oL ib_write_bw -d "$LAB_DEV" -F -s 65536 -D 6000 10.77.0.1 >"$LAB_OUT/victim.2" 2>&1 &
		victim=$!
	fi
	# the table's header is printed when both sides are connected
	until grep -qs '#bytes' "$LAB_OUT/victim.$LAB_NODE"; do
		kill -0 $victim || return 1
		sleep 0.05
	done
	lab-barrier victim-runs
}

ok "traffic runs" victim
victim=$(pgrep -x ib_write_bw)
ok "rmmod of a module in use is refused" sh -c '! rmmod vhca 2>/dev/null && ! rmmod ib_uverbs 2>/dev/null && lsmod | grep -w vhca'
lab-barrier modules-held	# one side killed, the other ends by itself
kill -9 $victim
while kill -0 $victim 2>/dev/null; do sleep 0.05; done
lab-barrier victim-dead
is "the device still answers" "4: ACTIVE" "$(port_state "$LAB_DEV")"
ok "a new connection works" pair after 18515 ibv_rc_pingpong -d "$LAB_DEV" -c -n 20
ok "the modules can be removed" sh -c 'rmmod vhca && rmmod ib_uverbs && rmmod ib_core'
ok "and come up again" sh -c 'modprobe vhca && modprobe ib_uverbs && ls /sys/class/infiniband/*'
finish

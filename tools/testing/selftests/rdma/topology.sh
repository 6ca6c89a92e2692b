#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours --confined --device-arg --topology --device-arg /lab/src/tools/testing/selftests/rdma/topology.json
# check: no
# Two guests with switches between them, one of the links far away, and a way around it.
. /lab/src/tools/testing/selftests/rdma/lib.sh
plan 9

d=$LAB_DEV

# least NAME USEC: no message of 64 bytes arrives sooner
least()
{
	pair "$1" 18515 ib_send_lat -d "$d" -F -n 50 -s 64 >"$LAB_OUT/$1.lat.$LAB_NODE" || return
	awk -v least="$2" '$1 == 64 { print "at least", $3, "us"; found = $3 >= least }
		END { exit !found }' "$LAB_OUT/$1.lat.$LAB_NODE"
}

# unheard: the sender fails with an error; the listener would wait without end
unheard()
{
	local pid rc=0
	if [ "$LAB_NODE" = 1 ]; then
		ibv_rc_pingpong -d "$d" -n 10 &
		pid=$!
		wait_listen 18515 $pid
		lab-barrier cut-listens
		lab-barrier cut-done
		kill $pid
		return 0
	fi
	lab-barrier cut-listens
	ibv_rc_pingpong -d "$d" -n 10 10.77.0.1 >"$LAB_OUT/cut" 2>&1 && rc=1
	lab-barrier cut-done
	cat "$LAB_OUT/cut"
	[ $rc = 0 ] && grep -q "transport retry counter exceeded" "$LAB_OUT/cut"
}

[ "$LAB_NODE" = 1 ] && rate="100 Gb/sec (4X EDR)" || rate="10 Gb/sec (4X SDR)"
is "the port has the rate of its own link" "$rate" "$(cat "/sys/class/infiniband/$d/ports/1/rate")"
ok "data arrive" pair first 18515 ibv_rc_pingpong -d "$d" -c -n 100 -s 16384
ok "and take the time of the way" least far 500

[ "$LAB_NODE" != 1 ] || lab-vhcactl link far latency 2000000
lab-barrier farther
ok "and longer when it is longer" least farther 2000

[ "$LAB_NODE" != 1 ] || lab-vhcactl link far down
lab-barrier down
is "a cut between switches is no event of the port" "4: ACTIVE" "$(port_state "$d")"
ok "but what is sent does not arrive" unheard
lab-barrier looked
ok "and is counted" sh -c 'lab-vhcactl --json links | tr "{" "\n" | grep -q "\"discards\":[1-9]"'
lab-barrier counted
[ "$LAB_NODE" != 1 ] || lab-vhcactl reroute >/dev/null
lab-barrier rerouted
ok "and arrives when another way is looked for" pair detour 18515 ibv_rc_pingpong -d "$d" -c -n 20
[ "$LAB_NODE" != 1 ] || lab-vhcactl link far up , reroute >/dev/null
lab-barrier up
ok "and by the old one again" least again 2000
finish

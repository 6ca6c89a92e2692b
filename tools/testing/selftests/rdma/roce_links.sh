#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours --link eth --confined --device-arg --topology --device-arg /lab/src/tools/testing/selftests/rdma/roce_links.json
# Ethernet ports of two guests with switches between them, one of the links far away, and a way around it.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/roce_checks.sh

# least NAME USEC: no message of 64 bytes arrives sooner
least()
{
	roce_pair "$1" 4 ib_send_lat -F -n 50 -s 64 >"$LAB_OUT/$1.lat.$LAB_NODE" || return
	awk -v least="$2" '$1 == 64 { print "at least", $3, "us"; found = $3 >= least }
		END { exit !found }' "$LAB_OUT/$1.lat.$LAB_NODE"
}

state_is() { [ "$(port_state "$LAB_DEV")" = "$1" ]; }

# taken LINK: packets have set out on it
taken() { lab-vhcactl --json links | tr '{' '\n' | grep -A2 "\"name\":\"$1\"" | grep '"packets":[1-9]' >/dev/null; }

# in_turn COMMAND...: node 1 tells the daemon, and both go on
in_turn()
{
	[ "$LAB_NODE" != 1 ] || lab-vhcactl "$@" >/dev/null || return 1
	lab-barrier "told-$*"
}

plan 10
ok "addresses have GIDs" roce_up
ok "data arrive" roce_pair rc 4 ibv_rc_pingpong -c -n 50 -s 16384
ok "and take the time of the way" least far 500
untaken() { ! taken left-spare; }
ok "nothing has taken the other one" untaken

ok "the far link goes" in_turn link far down
ok "data arrive by the other way" roce_pair detour 6 ibv_rc_pingpong -c -n 50
ok "which they have taken" taken left-spare

# node 2's own
ok "its link is cut" in_turn link node2-0 down
[ "$LAB_NODE" = 2 ] && state="1: DOWN" || state="4: ACTIVE"
ok "a port without its link is down, and the others are not" within state_is "$state"
lab-barrier looked
in_turn link node2-0 up
within state_is "4: ACTIVE" && roce_up
ok "data arrive when it is back" roce_pair back 4 ibv_rc_pingpong -c -n 50
finish

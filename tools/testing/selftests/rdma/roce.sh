#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours --link eth --timeout 900
# long: --core ours,distro
# Ethernet ports: RoCE v2 between two guests' vhca devices, whose ports follow their net devices.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/roce_checks.sh

state_is() { [ "$(port_state "$LAB_DEV")" = "$1" ]; }

# with_state STATE COMMAND...: what COMMAND does has the port get this state
with_state()
{
	local state=$1
	shift
	"$@" && within state_is "$state"
}

# The device knows by which address the net device is reached now.
new_address()
{
	local net
	net=$(roce_netdev)
	ip link set "$net" address "52:54:00:e8:00:0$LAB_NODE" && lab-barrier roce-address &&
		roce_up
}

plan $((2 + 1 + roce_pingpongs_plan + roce_jumbo_plan + roce_perftest_plan + roce_rping_plan + 6))
is "the port is an Ethernet port" Ethernet "$(port_attr link_layer)"
ok "the port becomes active" within state_is "4: ACTIVE"
ok "addresses have GIDs" roce_up
roce_pingpongs
roce_jumbo
roce_perftest
roce_rping

net=$(roce_netdev)
ok "the port goes down with its net device" with_state "1: DOWN" ip link set "$net" down
ok "and comes up with it" with_state "4: ACTIVE" ip link set "$net" up
ok "GIDs are there again" roce_up
ok "ibv_rc_pingpong -c after that" roce_pair rc-again 4 ibv_rc_pingpong -c -n 20
ok "another MAC address" new_address
ok "ibv_rc_pingpong -c to that" roce_pair rc-moved 4 ibv_rc_pingpong -c -n 20
finish

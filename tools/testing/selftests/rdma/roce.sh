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

# In exclusive mode a device, and its net device, can be in a network namespace of their own.
elsewhere() { ip netns exec roce "$@"; }
exclusive() { rdma system set netns exclusive; }
shared() { rdma system set netns shared; }
to_namespace()
{
	within exclusive && ip netns add roce && rdma dev set "$LAB_DEV" netns roce && ip link set "$net" netns roce &&
		elsewhere ip link set "$net" up && elsewhere ip addr add "$roce4/24" dev "$net" && within place || return 1
	lab-barrier roce-elsewhere
	within elsewhere ping -q -c 1 -W 20 "10.77.0.$((3 - LAB_NODE))"
}

# place: index of the GID there
place()
{
	elsewhere sh -c "grep -lsx $(as_gid "$roce4") /sys/class/infiniband/$LAB_DEV/ports/1/gids/?" |
		sed -n 's,.*/,,p' | grep .
}

talk_there()
{
	listens() { elsewhere cat /proc/net/tcp /proc/net/tcp6 | grep -q ':4853 [0-9A-F:]* 0A'; }
	[ "$(rdma dev show)" = "" ] && pair roce-elsewhere 18515 elsewhere ibv_rc_pingpong -d "$LAB_DEV" -g "$(place)" -c -n 20
}

# Both come back to the first namespace when theirs ends.
from_namespace()
{
	lab-barrier roce-back
	ip netns del roce && within test -d "/sys/class/infiniband/$LAB_DEV" && within test -d "/sys/class/net/$net" &&
		within shared && ip link set "$net" up && ip addr add "$roce4/24" dev "$net" && roce_up
}

# Until the device has failed, or is about to be reset, and is back with its addresses
gone() { [ ! -e "/sys/class/infiniband/$LAB_DEV" ]; }
fails() { lab-fault fatal "node$LAB_NODE-0" && within gone; }
reset() { echo 1 >"$pci/reset" && within state_is "4: ACTIVE" && roce_up; }

plan $((2 + 1 + roce_pingpongs_plan + roce_jumbo_plan + roce_perftest_plan + roce_opcodes_plan +
	roce_vlan_plan + roce_loss_plan + roce_rping_plan + 6 + 6 + 4))
is "the port is an Ethernet port" Ethernet "$(port_attr link_layer)"
ok "the port becomes active" within state_is "4: ACTIVE"
ok "addresses have GIDs" roce_up
roce_pingpongs
roce_jumbo
roce_perftest
roce_opcodes
roce_vlan
roce_loss
roce_rping

net=$(roce_netdev)
ok "the port goes down with its net device" with_state "1: DOWN" ip link set "$net" down
ok "and comes up with it" with_state "4: ACTIVE" ip link set "$net" up
ok "GIDs are there again" roce_up
ok "ibv_rc_pingpong -c after that" roce_pair rc-again 4 ibv_rc_pingpong -c -n 20
ok "another MAC address" new_address
ok "ibv_rc_pingpong -c to that" roce_pair rc-moved 4 ibv_rc_pingpong -c -n 20

pci=$(readlink -f "/sys/class/infiniband/$LAB_DEV/device")
lab-barrier roce-whole
ok "the device fails" fails
ok "a reset brings it back, and its GIDs" reset
ok "ibv_rc_pingpong -c after that" roce_pair rc-failed 4 ibv_rc_pingpong -c -n 20
ok "a working device is reset" reset
ok "ibv_rc_pingpong -c after that" roce_pair rc-reset 4 ibv_rc_pingpong -c -n 20
ok "every opcode after that" roce_pair opcodes-reset 6 $programs/opcodes

ok "a namespace has the device and its net device" to_namespace
ok "ibv_rc_pingpong -c there" talk_there
ok "both come back with their namespace's end" from_namespace
ok "ibv_rc_pingpong -c after that" roce_pair rc-back 4 ibv_rc_pingpong -c -n 20
finish

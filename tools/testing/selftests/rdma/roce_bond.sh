#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours,distro --ports 2 --link eth --timeout 600
# In each guest the net devices of both ports of an HCA are slaves of a bond, which sends by one of them.
# The port of this one has the bond's addresses: connections that are made go by it. Those that are
# there at a fail-over end: their port has the addresses no more.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/roce_checks.sh
declare -a nets

# enslaved: the bond is there, with both slaves and the node's addresses. Its MAC address is that of the
# slave by which it sends, since the segment leaves each address with the adapter that had it first.
enslaved()
{
	local net
	modprobe bonding max_bonds=0 && ip link add roce0 type bond mode active-backup miimon 50 fail_over_mac active ||
		return 1
	for net in "${nets[@]}"; do
		ip addr flush dev "$net" && ip link set "$net" down && ip link set "$net" master roce0 || return 1
	done
	ip link set roce0 up && ip addr add "$roce4/24" dev roce0 && ip addr add "$roce6/64" dev roce0 nodad
}

active() { ip link set roce0 type bond active_slave "$1"; }
is_active() { [ "$(</sys/class/net/roce0/bonding/active_slave)" = "$1" ]; }

# goes_by PORT: this port has the addresses, and the other has not
goes_by()
{
	local roce_port=$((3 - $1))
	! find_gid "$roce4" && ! find_gid "$roce6" || return 1
	roce_port=$1
	find_gid "$roce4" && find_gid "$roce6"
}

# reached PORT: so it is in both nodes, and they answer by IP. They meet here.
reached()
{
	within goes_by "$1" || { show_gids; return 1; }
	lab-barrier "bond-$1"
	within ping -q -c 1 -W 20 10.77.0.$((3 - LAB_NODE)) && within ping -q -c 1 -W 20 fd00:77::$((3 - LAB_NODE)) ||
		return 1
	lab-barrier "bond-reached-$1"
}

fail_over() { active "${nets[$1 - 1]}" && reached "$1"; }

# The net devices are on their own again, as another core expects them.
unbonded()
{
	local net
	ip link del roce0 || return 1
	for net in "${nets[@]}"; do ip link set "$net" up || return 1; done
	ip addr add "$roce4/24" dev "${nets[0]}" && within find_gid "$roce4"
}

# The link of the first port goes, and the bond notices.
link_down() { ip link set "${nets[0]}" down && within is_active "${nets[1]}" && reached 2; }
link_up() { ip link set "${nets[0]}" up && within is_slave_up "${nets[0]}" && fail_over 1; }
is_slave_up() { [ "$(<"/sys/class/net/$1/bonding_slave/mii_status")" = up ]; }

# talks PORT: what can be done by its GIDs, and by addresses
talks_plan=4 talked=0
talks()
{
	local roce_port=$1
	talked=$((talked + 1))
	ok "port $1: ibv_rc_pingpong -c" roce_pair "rc-$talked" 4 ibv_rc_pingpong -c -n 20
	ok "port $1: ibv_ud_pingpong -c, IPv6" roce_pair "ud-$talked" 6 ibv_ud_pingpong -c -n 20 -s 512
	# with a flow label the core asks the bond by which slave packets leave
	ok "port $1: every opcode both ways" roce_pair "opcodes-$talked" 4 $programs/opcodes -f 0x12345
	ok "port $1: rping connects by it" connects_by "$1"
}

# sent PORT: packets
sent() { cat "/sys/class/infiniband/$LAB_DEV/ports/$1/counters/port_xmit_packets"; }

# connects_by PORT: all packets of programs that connect by address are this port's
connects_by()
{
	local mine other
	mine=$(sent "$1") other=$(sent $((3 - $1)))
	roce_ping $server4 -C 20 || return 1
	echo "packets: $mine to $(sent "$1"), of the other port: $other to $(sent $((3 - $1)))"
	[ "$(sent "$1")" -ge $((mine + 20)) ] && [ "$(sent $((3 - $1)))" = "$other" ]
}

# The load is one busy connection by the first port, which would go on for hours.
load_starts()
{
	local rc=0 address=
	[ "$LAB_NODE" = 1 ] || { lab-barrier load-listens; address=10.77.0.1; }
	stdbuf -oL ib_write_bw -d "$LAB_DEV" -i 1 -x "$(find_gid "$roce4")" -F -s 65536 -D 6000 $address \
		>"$load_log" 2>&1 &
	load=$!
	[ "$LAB_NODE" != 1 ] || { wait_listen 18515 $load || rc=1; lab-barrier load-listens; }
	awaited $load grep -q '#bytes' "$load_log" || { cat "$load_log"; rc=1; }
	lab-barrier load-runs
	return $rc
}
# No answer: status 12, transport retries exceeded.
failed() { grep 'Failed status 12' "$load_log" || { cat "$load_log"; return 1; }; }

load_log=$LAB_OUT/load.node$LAB_NODE
mapfile -t nets < <(cat "/sys/class/infiniband/$LAB_DEV/ports"/[12]/gid_attrs/ndevs/0)
plan $((5 + talks_plan * 4 + 4 + (LAB_NODE == 2) + 3))
is "both ports have net devices" 2 ${#nets[@]}
ok "a bond of both is there" enslaved
ok "it sends by the first, whose port has its addresses" fail_over 1
modprobe rdma_ucm
talks 1
ok "it fails over to the second" fail_over 2
talks 2
ok "and back" fail_over 1

load_starts
is "a connection by the first port is busy" 0 $?
ok "its bond fails over" fail_over 2
if [ "$LAB_NODE" = 2 ]; then
	ended "$load"
	ok "it ends with an error" failed
fi
lab-barrier load-failed
kill "$load" 2>/dev/null
wait "$load"
ok "new connections go by the second port" connects_by 2
ok "the bond comes back" fail_over 1
talks 1

ok "the link of the first port goes, and the bond fails over" link_down
talks 2
ok "the link is back, and so is the bond" link_up
ok "the bond goes" unbonded
finish

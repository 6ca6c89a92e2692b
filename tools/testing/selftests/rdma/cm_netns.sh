#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours --subnet opensm --timeout 400
# Ids in network namespaces: each has its own addresses and ports, and a request goes to the namespace whose
# interface it is for.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh

other4=10.81.0.$LAB_NODE other_server4=10.81.0.1

elsewhere() { ip netns exec other "$@"; }
has_carrier() { elsewhere grep -q 1 /sys/class/net/ibx/carrier; }

# namespace: makes one with an interface of its own on the same port
namespace()
{
	ip netns add other && ip link add link "$(net_device)" name ibx type ipoib &&
		ip link set ibx netns other && elsewhere ip addr add "$other4/24" dev ibx &&
		elsewhere ip link set ibx up && within has_carrier || return 1
	lab-barrier elsewhere
	within elsewhere ping -q -c 1 -W 20 "10.81.0.$((3 - LAB_NODE))"
}

refused() { ! "$@"; }

# connects ADDRESS [COMMAND...]: a client, which COMMAND runs
connects()
{
	local address=$1
	shift
	"$@" rping -c -a "$address" -C 10 -V
}

plan $((LAB_NODE == 1 ? 9 : 7))
ok "ports have addresses" connections_up
ok "so have they in another namespace" namespace
if [ "$LAB_NODE" = 1 ]; then
	rping -s -C 10 -V >"$LAB_OUT/here" 2>&1 &
	here=$!
	ok "a server" cm_listens $here
	ip netns exec other rping -s -C 10 -V >"$LAB_OUT/there" 2>&1 &
	there=$!
	ok "another one at the same port" cm_listens $there
fi
lab-barrier served
if [ "$LAB_NODE" = 2 ]; then
	ok "no way leads from here to there" refused connects $other_server4
	ok "a client there" connects $other_server4 elsewhere
fi
lab-barrier connected
if [ "$LAB_NODE" = 1 ]; then
	ended $there
	is "the server there has had it" 0 $?
	ok "this one waits" kill -0 $here
fi
lab-barrier waited
[ "$LAB_NODE" = 1 ] || ok "a client here" connects "$server4"
lab-barrier connected-here
if [ "$LAB_NODE" = 1 ]; then
	ended $here
	is "the server here has had it" 0 $?
fi
lab-barrier had
ok "the namespace goes" ip netns del other
ok "no id is left" within no_ids
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours --subnet opensm --timeout 600
# check: no
# long: --core ours,distro
# rdma-core's own tests of librdmacm, both sides on node 1's adapter, which has an address.
# Node 2 is a member of the multicast group that they use, and so is another program of node 1: opensm
# writes no entry for a group of one port, and answers a port's first member before it has written one. The
# tests send as soon as they have the answer.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh

# where the tests find node 1's address
group=230.${server4#*.}
served_output=$LAB_OUT/member.node$LAB_NODE

# in_table: the switch sends the group to two ports
in_table()
{
	local mlid
	mlid=$(sed -n 's/.* mlid \(0x[0-9a-f]*\) .*/\1/p' "$served_output")
	ibroute -M "$(switch_lids)" | grep "^$mlid .*x.*x"
}

# The member is stopped once it is one: it polls for messages without end, and would take the processor from
# all others. Only one node asks the switch, which takes long, too.
ready()
{
	local member
	connections_up || return 1
	stdbuf -oL mckey -b "$own4" -m "$group" -C 1000 -S 1024 >"$served_output" 2>&1 &
	member=$!
	said $member "receiving data transfers" || { cat "$served_output"; return 1; }
	kill -STOP $member
	lab-barrier members
	[ "$LAB_NODE" = 2 ] || within in_table
}

if [ "$LAB_NODE" = 2 ]; then
	plan 1
	ok "a member of the group" ready
	lab-barrier tested
	finish
fi
ready >"$LAB_OUT/up" 2>&1 || { cat "$LAB_OUT/up"; echo "Bail out! no address, or no group"; exit 1; }
rc=0
/lab/src/tools/testing/selftests/rdma/pyverbs_tap.py --whole --least 10 "$LAB_DEV" test_rdmacm || rc=1
lab-barrier tested
exit $rc

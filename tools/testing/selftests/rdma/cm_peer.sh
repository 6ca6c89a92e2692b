#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours --subnet opensm --timeout 600
# check: no
# long: --core ours,distro
# Events of the other ends of processes that are killed, or lose their device, at every stage of a
# connection and of a datagram service. The processes are in node 2, the other ends in node 1, and the
# subnet manager there, too.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh

active() { [ "$(port_state "$LAB_DEV")" = "4: ACTIVE" ]; }

# peers kill|remove
peers()
{
	local served_lines=40
	served "peers-$1" listens_now ended "$programs/cm_peer watch $1 $server4 10.78.0.2 10.77.0.1" \
		$programs/cm_peer lose "$1" "$LAB_DEV" "$own4" $server4 10.77.0.1
}

plan $((LAB_NODE == 2 ? 7 : 5))
ok "ports have addresses" connections_up
before=$(left)
ok "peers of processes that are killed at every stage" peers kill
ok "nothing of either side is left" within as_before
lab-barrier killed
ok "peers of those that lose their device" peers remove
if [ "$LAB_NODE" = 2 ]; then
	ok "the port comes back" within active
	ok "and has its addresses again" own_addresses
	ok "there is what there was" within as_before
else
	ok "nothing of theirs is left" within as_before
fi
# the manager is needed until then
lab-barrier back
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours --subnet opensm --timeout 600
# long: --core ours,distro
# Processes with connections are killed at every stage of these, and lose their device: nothing is
# left, who lost it is told and goes on, and so is who is at the other end. The manager is in node 1, the
# processes are in node 2.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh

active() { [ "$(port_state "$LAB_DEV")" = "4: ACTIVE" ]; }

# peers kill|remove: node 1 has the other ends of what is lost in node 2
peers()
{
	local served_lines=40
	served "peers-$1" listens_now ended "$programs/cm_peer watch $1 $server4 10.78.0.2 10.77.0.1" \
		$programs/cm_peer lose "$1" "$LAB_DEV" "$own4" $server4 10.77.0.1
}

plan $((LAB_NODE == 2 ? 11 : 5))
ok "ports have addresses" connections_up
before=$(left)
ok "peers of processes that are killed at every stage" peers kill
ok "peers of those that lose their device" peers remove
if [ "$LAB_NODE" = 2 ]; then
	within active && own_addresses && within as_before
	lost_at_every_stage
	ok "the port comes back" within active
	ok "and has its addresses again" own_addresses
	ok "there is what there was" within as_before
fi
lab-barrier back
ok "rping" served rping cm_listens ended "rping -s -a $server4 -C 10 -V" rping -c -a $server4 -C 10 -V
[ "$LAB_NODE" = 2 ] || ok "no id is left" no_ids
finish

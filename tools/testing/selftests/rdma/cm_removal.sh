#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours --subnet opensm --timeout 600
# long: --core ours,distro
# Processes with connections are killed at every stage of these, and lose their device: nothing is left, and
# a process that lost it gets events and goes on. The manager is in node 1, the processes are in node 2.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh

# addresses_again: the device has its addresses, and the route to the peer, for which rping waits only 2 s
addresses_again() { own_addresses && reaches $server4; }
active() { [ "$(port_state "$LAB_DEV")" = "4: ACTIVE" ]; }

plan $((LAB_NODE == 2 ? 9 : 3))
ok "ports have addresses" connections_up
before=$(left)
if [ "$LAB_NODE" = 2 ]; then
	lost_at_every_stage
	ok "the port comes back" within active
	ok "and has its addresses again" addresses_again
	ok "there is what there was" within as_before
fi
lab-barrier back
ok "rping" served rping cm_listens ended "rping -s -a $server4 -C 10 -V" rping -c -a $server4 -C 10 -V
[ "$LAB_NODE" = 2 ] || ok "no id is left" no_ids
finish

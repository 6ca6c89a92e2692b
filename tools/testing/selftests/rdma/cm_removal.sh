#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours --subnet opensm --timeout 600
# long: --core ours,distro
# Processes with connections are killed at every stage of these, and lose their device: nothing is
# left, and who lost it is told and goes on. The manager is in node 1, the processes are in node 2.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh

# left: objects of the kernel and QPs of the device; the kernel's number of the device may change
left() { rdma resource show | sed 's/^[0-9]*: //' && lab-vhcactl qps "node$LAB_NODE-0" | wc -l; }
as_before() { [ "$(left)" = "$before" ] || { left; return 1; }; }
active() { [ "$(port_state "$LAB_DEV")" = "4: ACTIVE" ]; }

plan $((LAB_NODE == 2 ? 9 : 3))
ok "ports have addresses" connections_up
before=$(left)
if [ "$LAB_NODE" = 2 ]; then
	ok "processes are killed at every stage" $programs/cm_removal kill "$LAB_DEV" "$own4"
	ok "nothing of them is left" as_before
	ok "the device goes at every stage" $programs/cm_removal remove "$LAB_DEV" "$own4"
	ok "no id is left" no_ids
	ok "the port comes back" within active
	ok "and has its addresses again" own_addresses
	ok "there is what there was" within as_before
fi
lab-barrier back
ok "rping" served rping cm_listens ended "rping -s -a $server4 -C 10 -V" rping -c -a $server4 -C 10 -V
[ "$LAB_NODE" = 2 ] || ok "no id is left" no_ids
finish

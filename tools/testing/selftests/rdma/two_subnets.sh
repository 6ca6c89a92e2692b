#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours --subnet none --load modules --ports 2 --timeout 600 --device-arg --topology --device-arg /lab/src/tools/testing/selftests/rdma/islands.json
# long: --core ours,distro
# The two ports of each adapter are on different subnets, each with a manager of its own and a prefix of
# its own: an opensm for the first in node 1, and one for the second in node 2.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
plan 8

ports=/sys/class/infiniband/$LAB_DEV/ports
active() { [[ $(<"$ports/$1/state") = *ACTIVE ]]; }
prefix() { cut -d: -f1-4 "$ports/$1/gids/0"; }

modprobe ib_umad
if [ "$LAB_NODE" = 1 ]; then
	ok "a manager of the first subnet" lab-opensm
else
	echo "subnet_prefix 0xfe80000000000002" >/tmp/opensm.conf
	guid=0x$(cut -d: -f5-8 "$ports/2/gids/0" | tr -d :)
	ok "a manager of the second subnet" lab-opensm -F /tmp/opensm.conf -g "$guid"
fi
ok "the first port is ACTIVE" within active 1
ok "the second port is ACTIVE" within active 2
is "one has the first subnet's prefix" "fe80:0000:0000:0000" "$(prefix 1)"
is "the other the second one's" "fe80:0000:0000:0002" "$(prefix 2)"
lab-barrier up
ok "data arrive on the first" pair one 18515 ibv_rc_pingpong -d "$LAB_DEV" -i 1 -g 0 -c -n 50
ok "data arrive on the second" pair other 18515 ibv_rc_pingpong -d "$LAB_DEV" -i 2 -g 0 -c -n 50
ok "opensm has nothing to complain of" no_errors
# A node that ends takes its ports along, with what opensm has just asked them.
lab-barrier judged
finish

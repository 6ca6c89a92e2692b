#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 3 --core ours,distro --subnet none --load modules --timeout 900 --device-arg --topology --device-arg /lab/src/tools/testing/selftests/rdma/subnet.json
# The distribution's opensm with four LIDs a port: a link is cut, and it finds another route; it is killed,
# and the standby manager in node 2 takes over.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
plan $((14 + (LAB_NODE == 1 ? 7 : 0) + (LAB_NODE == 2 ? 3 : 0)))

# The standby manager asks the one that was killed until it gives it up: that node's kernel answers that it
# has no such attribute.
sm_expected='ERR 3111: Received MAD with error status = 0xC'

# How soon the standby manager finds that there is no master: not while the master's guest is merely paused
# for some seconds.
# The first master sweeps when a trap reports a change, and at no other time.
sweep=5
[ "$LAB_NODE" != 1 ] || sweep=0
printf '%s\n' "sminfo_polling_timeout 1000" "polling_retry_number 8" "sweep_interval $sweep" "sm_sl 2" >/tmp/opensm.conf

active() { [ "$(port_state "$LAB_DEV")" = "4: ACTIVE" ]; }
managed_by() { [ "$(($(<"$port/sm_lid")))" = "$1" ] && active; }

# Every LID of a port is one by which it is reached.
each_lid()
{
	local i
	for i in 0 1 2 3; do [ "$(hops "${lid[1]}" $((lid[2] + i)))" -gt 0 ] || return 1; done
}

goes_by() { [ "$(hops "${lid[1]}" "${lid[2]}")" = "$1" ]; }

# All links are ACTIVE when it has swept; those of the guests may be so before.
manager() { lab-opensm -F /tmp/opensm.conf -l 2 -p 10 && within grep "SUBNET UP" "$log"; }

modprobe ib_umad
[ "$LAB_NODE" != 1 ] || ok "opensm starts" manager
ok "the port becomes ACTIVE" within active
know_lids
is "it has four LIDs" 2 "$(($(<"$port/lid_mask_count")))"
is "the first of which is a multiple of four" 0 $((lid[LAB_NODE] % 4))
is "the manager is in node 1" "${lid[1]}" "$(($(<"$port/sm_lid")))"
is "and asked by its own service level" 2 "$(<"$port/sm_sl")"
ok "data arrive" pair first 18515 ibv_rc_pingpong -d "$LAB_DEV" -c -n 100

if [ "$LAB_NODE" = 1 ]; then
	ok "every LID leads to its port" each_lid
	ok "from leaf to leaf" goes_by 2
	lab-vhcactl link direct down
	ok "a link is cut: the way leads over the spine" within goes_by 3
	ok "every switch knows a way to every LID" within every_table 4
fi
lab-barrier cut
ok "data arrive by the new way" pair detour 18515 ibv_rc_pingpong -d "$LAB_DEV" -c -n 100
is "nobody has noticed" "4: ACTIVE" "$(port_state "$LAB_DEV")"

if [ "$LAB_NODE" = 2 ]; then
	ok "a second opensm starts" lab-opensm -F /tmp/opensm.conf -l 2 -p 5
	ok "and waits" within says SMINFO_STANDBY sminfo "${lid[2]}"
fi
lab-barrier waits
is "node 1 still manages" "${lid[1]}" "$(($(<"$port/sm_lid")))"
[ "$LAB_NODE" != 1 ] || kill -9 "$(</run/lab/opensm)"
ok "it is killed, and node 2 manages" within managed_by "${lid[2]}"
lab-barrier taken-over
[ "$LAB_NODE" != 2 ] || ok "and says so" says SMINFO_MASTER sminfo "${lid[2]}"
is "LIDs are what they were" "${lid[LAB_NODE]}" "$(($(<"$port/lid")))"
ok "data arrive as before" pair after 18515 ibv_rc_pingpong -d "$LAB_DEV" -c -n 100

[ "$LAB_NODE" != 1 ] || lab-vhcactl link direct up
lab-barrier up
if [ "$LAB_NODE" = 1 ]; then
	ok "the new one finds the old way again" within goes_by 2
	ok "and every switch one to every LID" within every_table 4
fi
lab-barrier short
ok "data arrive by it" pair last 18515 ibv_rc_pingpong -d "$LAB_DEV" -c -n 100
if [ "$LAB_NODE" -le 2 ]; then
	ok "opensm has nothing to complain of" no_errors
else
	ok "node 3 has no manager of its own" test ! -e "$log"
fi
# A node that ends takes its port along, with what opensm has just asked it.
lab-barrier judged
finish

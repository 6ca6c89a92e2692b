#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 4 --core ours,distro --subnet opensm --timeout 900 --device-arg --topology --device-arg /lab/src/tools/testing/selftests/rdma/four.json
# The distribution's opensm brings up four guests, each at a switch of its own, and two switches above.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
plan $((5 + (LAB_NODE == 1 ? 7 : 0)))

# Each node is the server of the one before it: ring NAME COMMAND...
ring()
{
	local name=$1 pid rc=0
	shift
	"$@" >"$LAB_OUT/$name.server$LAB_NODE" 2>&1 &
	pid=$!
	wait_listen 18515 "$pid" || true
	lab-barrier "$name-listens"
	"$@" "10.77.0.$((LAB_NODE % LAB_NODES + 1))" || rc=1
	lab-barrier "$name-asked"
	ended "$pid" || rc=1
	return $rc
}

# All routes from leaf to leaf have three switches.
all_ways()
{
	local from to
	for from in 1 2 3 4; do
		for to in 1 2 3 4; do
			[ "$from" = "$to" ] || [ "$(hops "${lid[from]}" "${lid[to]}")" = 3 ] || return 1
		done
	done
}

know_lids
is "the port is ACTIVE" "4: ACTIVE" "$(port_state "$LAB_DEV")"
is "it has a LID of its own" 4 "$(printf '%s\n' "${lid[@]}" | sort -u | grep -cv '^0$')"
is "and knows the manager's" "${lid[1]}" "$(($(<"$port/sm_lid")))"
if [ "$LAB_NODE" = 1 ]; then
	ok "four adapters" counts 4 "^Ca" ibhosts
	ok "six switches" counts 6 "^Switch" ibswitches
	ok "every link is up, from both ends" within counts 24 "Active/  LinkUp" iblinkinfo -l
	ok "every switch knows the way to every port" every_table
	ok "from every leaf to every other" all_ways
	ok "no errors on any link" ibqueryerrors -s LinkDownedCounter
fi
lab-barrier looked
ok "each sends to the next one" ring pingpong ibv_rc_pingpong -d "$LAB_DEV" -c -n 100
ok "and by datagrams" ring datagrams ibv_ud_pingpong -d "$LAB_DEV" -c -n 100
[ "$LAB_NODE" != 1 ] || ok "opensm has nothing to complain of" no_errors
# A node that ends takes its port along, with what opensm has just asked it.
lab-barrier judged
finish

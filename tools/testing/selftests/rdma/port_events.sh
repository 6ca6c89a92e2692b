#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours,distro --timeout 300
# A port comes up while the core still reads what an earlier event was about: in the end the core
# knows it as it is.
. /lab/src/tools/testing/selftests/rdma/lib.sh
h=node1-0

# told COUNT: sets events to the next COUNT lines of ibv_asyncwatch, sorted by name
told()
{
	local line i
	for ((i = 0; i < $1; i++)); do
		IFS= read -r -t $patience line <&"${watch[0]}" || line="nothing"
		printf '%s\n' "$line"
	done >/tmp/told
	events=$(sort /tmp/told)
}

# struck: the fault has met a command
struck() { until lab-fault spent $h; do moment; done; }

# resolved: rdma_cm finds an active port in the subnet of an address. riostream names no address of its own,
# so the core's cache of its ports decides; no manager is there that could give a path.
resolved()
{
	local rc=0
	timeout 100 riostream -s fe80::1 -f gid -S 64 -C 1 -I 1 >/tmp/resolved 2>&1 || rc=$?
	cat /tmp/resolved
	[ "$rc" != 0 ] && ! grep 'No such device' /tmp/resolved
}

plan 6
modprobe rdma_ucm
coproc watch { stdbuf -oL ibv_asyncwatch -d "$LAB_DEV"; }
IFS= read -r -t $patience line <&"${watch[0]}" || true
is "ibv_asyncwatch waits" "$LAB_DEV: async event FD" "${line% *}"
lab-vhcactl link $h:1 down
told 1
is "the link goes down" "  event_type IBV_EVENT_PORT_ERR (10), port 1" "$events"
lab-fault command $h opcode=QUERY_GIDS delay=600000
lab-vhcactl port $h:1 reregister=1
ok "the core reads a port that is down" struck
lab-vhcactl link $h:1 up
lab-fault clear $h	# and now it has read it
told 2
is "it is told of both" "  event_type IBV_EVENT_CLIENT_REREGISTER (17), port 1
  event_type IBV_EVENT_PORT_ACTIVE (9), port 1" "$events"
is "the port is active" "4: ACTIVE" "$(port_state "$LAB_DEV")"
ok "and the core knows" resolved
kill "$watch_PID"
finish

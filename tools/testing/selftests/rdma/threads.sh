#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours --hca 2 --device-arg --threads --device-arg 2
# check: no
# threads.sh [GID-INDEX]: two pairs of adapters that two threads of the daemon work for: adapters that do
# not send to each other get different threads while they are busy, and share one again once they do.
# Packets have this GID, if one is named.
. /lab/src/tools/testing/selftests/rdma/lib.sh
plan 11
gid=${1:-}

# the adapters of this guest, in the order in which the daemon has them
mapfile -t devs < <(for d in /sys/class/infiniband/*; do echo "$(<"$d/node_guid") ${d##*/}"; done |
	sort | cut -d' ' -f2)

# threads: which thread each adapter is with, as "node1-0=0 node1-1=1 node2-0=0 node2-1=1"
threads()
{
	lab-vhcactl --json top --once | tr '{' '\n' |
		sed -n 's/.*"name":"\(node[0-9-]*\)".*"thread":\([0-9]*\).*/\1=\2/p' | sort | paste -sd' '
}

# Both pairs are with a thread of their own.
parted()
{
	local all
	all=$(threads)
	[ "$all" = "node1-0=0 node1-1=1 node2-0=0 node2-1=1" ] ||
		[ "$all" = "node1-0=1 node1-1=0 node2-0=1 node2-1=0" ]
}

# Waits until they are, as long as both loads go on.
get_parted()
{
	local deadline=$((SECONDS + patience))
	until parted; do
		kill -0 "${load[@]}" && [ $SECONDS -lt $deadline ] || {
			threads
			return 1
		}
	done
}

# started I [ADDRESS]: a side of a load of the guests' adapters I; its process is load[I]
started()
{
	local i=$1 log=$LAB_OUT/load$1.$LAB_NODE
	shift
	rm -f "$log"	# of an earlier run
	stdbuf -oL ib_write_bw -d "${devs[i]}" -p $((18521 + i)) -F -s 1048576 -D 6000 ${gid:+-x $gid} "$@" >"$log" 2>&1 &
	load[i]=$!
	if [ $# -eq 0 ]; then
		wait_listen $((18521 + i)) "${load[i]}"
		lab-barrier "load$i-listens"
	fi
	until grep -qs '#bytes' "$log"; do
		kill -0 "${load[i]}" || return 1
		moment
	done
}

# mix NAME COMMAND...: a pair of programs, one at the first adapter of its guest, one at the second
mix()
{
	local option=-g
	case $2 in ib_*) option=-x ;; esac
	pair "$1" 18515 "${@:2}" -d "${devs[LAB_NODE - 1]}" ${gid:+$option $gid}
}

# told: adapters of which the status says with which thread they are
told() { lab-vhcactl status | grep -c '^node.* thread [01]$'; }

ok "the daemon has two threads" sh -c 'lab-vhcactl --json top --once | grep "\"threads\":2"'
is "and says which one each adapter is with" 4 "$(told)"
for i in 0 1; do
	rc=0
	if [ "$LAB_NODE" = 1 ]; then
		started $i || rc=$?
	else
		lab-barrier "load$i-listens"
		started $i 10.77.0.1 || rc=$?
	fi
	is "pair $i is busy" 0 $rc
done
lab-barrier busy
rc=0
[ "$LAB_NODE" != 1 ] || get_parted || rc=$?
is "both pairs get a thread of their own" 0 $rc
lab-barrier parted
kill -0 "${load[@]}"
is "and go on" 0 $?
lab-barrier looked
kill "${load[@]}"
wait "${load[@]}"
lab-barrier over

ok "adapters that were parted talk to each other" mix rc ibv_rc_pingpong -c -n 100 -s 65536
ok "with datagrams, too" mix ud ibv_ud_pingpong -c -n 100
ok "one reads the other's memory" mix read ib_read_bw -F -s 65536 -n 200
ok "and changes it" mix atomic ib_atomic_bw -F -n 200
all=$(threads)
one=${all#*node1-0=} other=${all#*node2-1=}
is "they have come together" "${one%% *}" "${other%% *}"
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours --subnet opensm --timeout 600
# check: no
# long: --core ours,distro --timeout 900 -- 10000
# cm_programs.sh [PINGS]: the distribution's programs that connect by address, over IPv4, IPv6 and
# native addresses, leave nothing behind. One of them pings that many times (100).
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh

# pings ADDRESS OPTION...: rping's client checks what comes back
pings()
{
	local address=$1
	shift
	served "rping$*-$address" cm_listens ended "rping -s -a $address -V $*" rping -c -a "$address" -V "$@"
}

# clients N: that many programs connect to one server at once
clients()
{
	local i rc=0
	local -a pids
	for ((i = 0; i < $1; i++)); do
		rping -c -a "$server4" -C 20 -V -S 100 >"$LAB_OUT/client.$i" 2>&1 &
		pids+=($!)
	done
	for i in "${!pids[@]}"; do
		wait "${pids[i]}" || { rc=1; echo "client $i: $?"; cat "$LAB_OUT/client.$i"; }
	done
	return $rc
}

# Groups that mckey joins below, by its options. Before that both nodes are members of all these groups:
# opensm answers a join before it has programmed the switches, which no event reports. mckey gives it 3 s
# for that, and a guest may be paused for longer.
groups=("-b $own4 -m 239.1.2.3" "-b $own6 -m ff15::4711" "-b $own4 -M ff12::4711"
	"-b $own4 -p 0x0002 -m 239.1.2.5" "-b $own4 -m 239.1.2.4")
members=()

# join_groups: makes this node a member of each group by a program that is stopped as soon as it is one,
# since it polls without end. Only one node asks the switch, which takes long. All nodes meet here.
join_groups()
{
	local one
	rm -f /tmp/member.*	# of an earlier run
	for one in "${groups[@]}"; do
		# shellcheck disable=SC2086
		stdbuf -oL mckey $one -C 20 >"/tmp/member.${#members[@]}" 2>&1 &
		awaited $! grep -q " mlid " "/tmp/member.${#members[@]}" || return 1
		kill -STOP $!
		members+=($!)
	done
	lab-barrier members
	[ "$LAB_NODE" = 1 ] || within in_tables
}

# in_tables: the switch sends each group to two ports
in_tables()
{
	local i mlid
	ibroute -M "$(switch_lids)" >/tmp/groups || return 1
	for i in "${!groups[@]}"; do
		mlid=$(sed -n 's/.* mlid \(0x[0-9a-f]*\) .*/\1/p' "/tmp/member.$i")
		grep "^$mlid .*x.*x" /tmp/groups || { cat /tmp/groups; return 1; }
	done
}

# group SERVER OWN OPTION...: node 1 receives what node 2 sends to a multicast group
group()
{
	local server=$1 own=$2
	shift 2
	served "mckey$*" mckey_receives mckey_ended "mckey -b $server -C 20 $*" \
		mckey -b "$own" -s -C 20 "$@"
}

# alone: a group whose only members are two programs of this guest
alone()
{
	local out=$LAB_OUT/mckey-alone.node$LAB_NODE group=239.1.3.$LAB_NODE pid
	stdbuf -oL mckey -b "$own4" -C 20 -m "$group" >"$out" 2>&1 &
	pid=$!
	awaited $pid grep -q "receiving data transfers" "$out" && kill -STOP $pid &&
		mckey -b "$own4" -s -C 20 -m "$group" && mckey_ended $pid
}

# cmtime prints how long each step took; its exit status means nothing. It asks for all paths at once, and
# waits only 2 s for them by default.
timed()
{
	served "cmtime-$1-$3" cmtime_listens ended "cmtime -b $1 -c $3" \
		cmtime -b "$2" -s "$1" -c "$3" -t $((1000 * patience))
}
cmtime_listens() { wait_listen 7471 "$1"; }

count=${1:-100}
plan 27
ok "ports have addresses" connections_up
native_addresses

[ "$count" = 100 ] || CM_PATIENCE=600
ok "rping, $count times" pings $server4 -C "$count"
for size in 32 4096 65000; do ok "rping of $size bytes" pings $server4 -C 50 -S $size; done
ok "rping over IPv6" pings $server6 -C 100
ok "rping with a QP that it modifies itself" pings $server4 -C 20 -q
ok "twenty clients of one server" \
	served rping-many cm_listens stopped "rping -s -P -a $server4 -V -S 100" clients 20
ok "udaddy" over4 udaddy -c 10 -C 20
ok "udaddy over IPv6" over6 udaddy
ok "udaddy by GIDs" over_gid udaddy
ok "udaddy in the port space of IPoIB" over4 udaddy -p 0x0002
ok "ucmatose" over4 ucmatose
ok "ucmatose over IPv6" over6 ucmatose
ok "ucmatose, 100 connections" over4 ucmatose -c 100 -C 5
ok "ucmatose to another channel" over4 ucmatose -c 5 -m
ok "ucmatose with a type of service" over4 ucmatose -t 8
ok "ucmatose with a time-out" over4 ucmatose -a 20
ok "ucmatose by GIDs" over_gid ucmatose -P ib
join_groups || { echo "Bail out! no member of a group"; exit 1; }
ok "mckey" group $server4 "$own4" -m 239.1.2.3
ok "mckey over IPv6" group $server6 "$own6" -m ff15::4711
ok "mckey by a multicast GID" group $server4 "$own4" -M ff12::4711
ok "mckey in a group of IPoIB" group $server4 "$own4" -p 0x0002 -m 239.1.2.5
ok "mckey, who only sends" served mckey-sendonly mckey_receives mckey_ended \
	"mckey -b $server4 -C 20 -m 239.1.2.4" mckey -b "$own4" -s -C 20 -m 239.1.2.4 -o
ok "mckey, whose group has no member elsewhere" alone
kill -9 "${members[@]}"
wait "${members[@]}"
ok "cmtime" timed $server4 "$own4" 50
ok "no id is left" no_ids
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours --subnet opensm --timeout 400 --packages ibacm
# check: no
# long: --core ours,distro
# The distribution's ibacm: it resolves addresses for ib_acme, as the subnet manager does, and paths for the
# kernel, which does without it when it does not answer or does not run. ibacm does not tell the kernel the
# GID behind an IP gateway; a program of ours does.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
plan $((LAB_NODE == 1 ? 12 : 14))

# begin_ibacm: it runs, and answers
begin_ibacm() { ibacm && within ib_acme -P; }

# asked: how many paths ibacm was asked for
asked() { ib_acme -P | awk -F, '$1 ~ /sock$/ { print $3 }'; }

# acme_to ADDRESS: what ib_acme learns of it
acme_to() { ib_acme -f i -s "$own4" -d "$1" -v; }

# A consumer in the kernel, since librdmacm would ask ibacm itself. It connects three times and asks for a
# path each time.
kcma() { cat "/sys/module/rdma_kcma/parameters/$1"; }
connect() { echo "10.78.0.$((3 - LAB_NODE))" >/sys/module/rdma_kcma/parameters/connect; }
connect_by_ibacm()
{
	local before
	before=$(asked)
	connect && [ "$(asked)" = $((before + 3)) ] || { echo "$before paths before, $(asked) now"; return 1; }
}
connect_without()
{
	pkill "-$1" -x ibacm && connect
}
# For each of the three paths the kernel waits as long as it is set to: that is longer than by default.
connect_late()
{
	local began=$SECONDS
	/lab/src/tools/testing/selftests/rdma/ls_timeout.py 5000 && connect && [ $((SECONDS - began)) -ge 14 ]
}

# behind_gateway: the other node has an address whose route leads over its other address
behind_gateway()
{
	local net peer=$((3 - LAB_NODE))
	net=$(net_device)
	ip addr add "10.99.0.$LAB_NODE/32" dev "$net" && ip route add "10.99.0.$peer/32" via "10.78.0.$peer" dev "$net"
}
# The consumer in the kernel has the ports from the one that rping takes otherwise.
reach() { rping -c -p 7199 -a 10.99.0.1 -C 1 -v; }
nobody_knows()
{
	says "rdma_resolve_addr: Cannot assign requested address" \
		sh -c "! rping -c -p 7199 -a 10.99.0.1 -C 1 -v"
}

ok "ports have addresses" connections_up
ok "ibacm runs" begin_ibacm
ok "a consumer in the kernel listens" modprobe rdma_kcma
lab-barrier listens
# The other ibacm learns of it by a multicast group, and no event reports when the switches have its
# entries.
ok "ib_acme resolves the other node's address" \
	within says "SA verification: success" acme_to "10.78.0.$((3 - LAB_NODE))"
ok "the kernel has its paths from ibacm" connect_by_ibacm
lab-barrier asked
ok "it asks the subnet manager when ibacm does not answer" connect_without STOP
ok "as late as it is told to" connect_late
lab-barrier stopped
ok "or has gone" connect_without KILL
lab-barrier gone

ok "there are addresses behind gateways" behind_gateway
if [ "$LAB_NODE" = 1 ]; then
	rping -s -P -p 7199 >/dev/null 2>&1 &
	pid=$!
	cut -c1-39 "$port/gids/0" >"$LAB_OUT/gid.1"
	ok "which serve" cm_listens $pid
fi
lab-barrier behind
if [ "$LAB_NODE" = 2 ]; then
	ok "nobody knows their GIDs" nobody_knows
	coproc knows { exec /lab/src/tools/testing/selftests/rdma/ls_gids.py 10.99.0.1 "$(<"$LAB_OUT/gid.1")"; }
	pid=$knows_PID
	exec {told}<&"${knows[0]}"
	IFS= read -r -t $patience _ <&"$told"
	ok "until a program does" reach
	IFS= read -r -t $patience word <&"$told" || word=nothing
	is "which the kernel asks" "asked for 10.99.0.1" "$word"
fi
lab-barrier reached-behind
kill $pid

is "all of the consumer's checks hold" 0 "$(kcma failed)"
ok "it goes" rmmod rdma_kcma
finish

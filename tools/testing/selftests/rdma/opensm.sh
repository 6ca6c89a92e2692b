#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 3 --core ours --subnet opensm --timeout 900 --device-arg --topology --device-arg /lab/src/tools/testing/selftests/rdma/subnet.json
# check: no
# long: --core ours,distro
# The distribution's opensm in node 1 brings up three guests and three switches; the distribution's
# programs look at what it has made of them, and send by the routes it found.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh

attributes="nodeinfo nodedesc portinfo pkeys guidinfo sl2vl vlarb"
records="CPI NR PIR SL2VL PKTR VLAR LR PR LFTR GIR SWIR SMIR"

# answered RECORD: the manager has such records, and shows them to those who know its key
answered() { says "dump:\|ClassPortInfo" saquery --smkey 1 "$1"; }

# by_path ATTRIBUTE: the same attribute by LID and by a directed route
by_path()
{
	smpquery "$1" "${lid[1]}" >/tmp/by-lid && smpquery -D "$1" 0 >/tmp/by-path || return 1
	cat /tmp/by-lid
	# The first line names the port as it was named.
	[ -s /tmp/by-lid ] && diff <(sed 1d /tmp/by-lid) <(sed 1d /tmp/by-path)
}

discovered() { ibnetdiscover | grep -v '^#'; }

same_twice() { discovered >/tmp/first && discovered >/tmp/second && [ -s /tmp/first ] && diff /tmp/first /tmp/second; }

# refused WORDS COMMAND...: COMMAND fails, and prints WORDS
refused()
{
	local words=$1
	shift
	! "$@" >/tmp/refused 2>&1 && grep -- "$words" /tmp/refused || { cat /tmp/refused; return 1; }
}

# unknown COMMAND...: the answer is that there is no such attribute, and COMMAND fails
unknown() { refused "MAD completed with error status 0xc;" "$@"; }

# asks WHAT...: of the administration, what no program of the distribution does
asks() { python3 -B /lab/src/tools/testing/selftests/rdma/sa_requests.py "${lid[1]}" "$@"; }

none() { saquery --smkey 1 "$1" >/tmp/none && ! grep . /tmp/none; }

service() { asks register of-node-1 && says "ServiceName.*of-node-1" saquery --smkey 1 SR; }
service_ends() { asks unregister of-node-1 && none SR; }
subscribed() { asks subscribe 65 && says "trap_num.*65" saquery --smkey 1 IIR; }
subscription_ends() { asks unsubscribe 65 && none IIR; }

# From two ports to two: there is a path from each to each.
multipath()
{
	asks paths "$(gid "${lid[1]}"),$(gid "${lid[2]}")" "$(gid "${lid[2]}"),$(gid "${lid[3]}")" >/tmp/paths ||
		return 1
	cat /tmp/paths
	[ "$(tr ' ' '\n' </tmp/paths | grep -cx "${lid[3]}")" = 2 ]
}
gid() { ibaddr -g "$1" | sed -n 's/^GID \([^ ]*\).*/\1/p'; }

# counted_and_reset: a port's counter has counted, and is smaller when it was reset
counter() { perfquery "${lid[1]}" 1 | sed -n "s/^$1:\.*//p"; }
counted_and_reset()
{
	local before
	before=$(counter PortXmitPkts)
	[ "$before" -gt 0 ] && perfquery -R "${lid[1]}" 1 && [ "$(counter PortXmitPkts)" -lt "$before" ]
}

# served NAME SERVER CLIENT...: CLIENT on node 1 while SERVER runs on node 2
served()
{
	local name=$1 server=$2 pid rc=0
	shift 2
	if [ "$LAB_NODE" = 2 ]; then
		$server >"$LAB_OUT/$name.server" 2>&1 &
		pid=$!
		lab-barrier "$name-up"
		lab-barrier "$name-over"
		kill $pid
		return 0
	fi
	lab-barrier "$name-up"
	[ "$LAB_NODE" != 1 ] || "$@" || rc=1
	lab-barrier "$name-over"
	return $rc
}

# A client that asks before the server has registered gets no answer, and asks again.
pinged() { within says " 0% packet loss" ibping -c 3 "${lid[2]}"; }
statted() { within says "node2" ibsysstat "${lid[2]}" host; }

ipoib_up()
{
	modprobe ib_ipoib || return 1
	# the first solicitations may come before switches have the entries of their group, which no event
	# reports; and the peer may be paused
	echo 60 >/proc/sys/net/ipv6/neigh/ib0/mcast_solicit
	echo 60 >/proc/sys/net/ipv4/neigh/ib0/mcast_solicit
	ip addr add "10.78.0.$LAB_NODE/24" dev ib0 && ip addr add "fd78::$LAB_NODE/64" dev ib0 nodad &&
		ip link set ib0 up || return 1
	within grep -q 1 /sys/class/net/ib0/carrier
}

ping_all()
{
	local k
	for ((k = 1; k <= LAB_NODES; k++)); do ping -c 3 -i 0.2 -W 60 "$1$k" || return 1; done
}

# stream: 16 MiB by TCP, from node 2 to node 1
stream()
{
	local pid data=$LAB_OUT/stream
	if [ "$LAB_NODE" = 1 ]; then
		busybox nc -l -p 5001 >/tmp/stream &
		pid=$!
		wait_listen 5001 $pid
		lab-barrier stream-listens
		wait $pid
		lab-barrier stream-over
		sha256sum </tmp/stream >/tmp/sum
		[ "$(stat -c %s /tmp/stream)" = $((16 << 20)) ] && diff "$data" /tmp/sum
		return
	fi
	lab-barrier stream-listens
	if [ "$LAB_NODE" = 2 ]; then
		head -c 16M /dev/urandom >/tmp/stream
		sha256sum </tmp/stream >"$data"
		# The server ends its side at once, which this does not look at.
		cat /tmp/stream >/dev/tcp/10.78.0.1/5001
	fi
	lab-barrier stream-over
}

# has_cm: a tree of our own has those modules that are written; the kernel's own are no use to it
has_cm() { [ "$LAB_CORE" != ours ] || [ -e "/usr/lib/modules/$(uname -r)/updates/rdma_ucm.ko" ]; }

# it is shown as one that listens before the CM does so, and sleeps after that
listening() { rdma resource show cm_id | grep -q LISTEN && grep -q '^State:.S' "/proc/$pid/status"; }

cm()
{
	local pid
	modprobe rdma_ucm
	if [ "$LAB_NODE" = 1 ]; then
		rping -s -a 10.78.0.1 -C 10 -v >"$LAB_OUT/rping.server" 2>&1 &
		pid=$!
		within listening
		lab-barrier rping-listens
		wait $pid
	else
		lab-barrier rping-listens
		[ "$LAB_NODE" != 2 ] || says "ping data: rdma-ping-9" rping -c -a 10.78.0.1 -C 10 -v
	fi
}

sections=1
[ "$LAB_NODE" != 1 ] || sections=$(($(wc -w <<<"$attributes $records") + 38))
! has_cm || sections=$((sections + 1))
plan $((14 + sections))
has_cm || echo "# rping does not run: this tree has no rdma_ucm"

know_lids
is "the port is ACTIVE" "4: ACTIVE" "$(port_state "$LAB_DEV")"
is "it has a LID of its own" 3 "$(printf '%s\n' "${lid[@]}" | sort -u | grep -cv '^0$')"
is "and knows the manager's" "${lid[1]}" "$(($(<"$port/sm_lid")))"
ok "ibstat says so, too" says "Base lid: ${lid[LAB_NODE]}\$" ibstat "$LAB_DEV" 1
printf 'node%s vhca' "$LAB_NODE" >"/sys/class/infiniband/$LAB_DEV/node_desc"
# The core before this one has left its groups while datagrams to them were under way.
[ "$LAB_NODE" != 1 ] || ibqueryerrors -k >/dev/null
lab-barrier began

if [ "$LAB_NODE" = 1 ]; then
	ok "ibhosts" counts 3 '^Ca.*"node[123] vhca"' ibhosts
	ok "the manager was told their names" within says "node2 vhca" saquery NR
	ok "ibswitches" counts 3 "^Switch" ibswitches
	ok "ibnetdiscover twice" same_twice
	ok "iblinkinfo: every link is up" counts 12 "Active/  LinkUp" iblinkinfo -l
	ok "sminfo" says "sm lid ${lid[1]} .*SMINFO_MASTER" sminfo
	ok "ibaddr" says "LID start $(printf '0x%x end 0x%x' "${lid[2]}" "${lid[2]}")" ibaddr "${lid[2]}"
	for one in $attributes; do ok "smpquery $one" by_path "$one"; done
	modprobe -r ib_cm
	ok "no port has a connection manager" sh -c "! smpquery portinfo ${lid[1]} 1 | grep IsCommunic"
	modprobe ib_cm
	ok "until there is one" says IsCommunic smpquery portinfo "${lid[1]}" 1
	ok "smpquery switchinfo" says "LinearFdbCap" smpquery switchinfo "$(switch_lids | head -n 1)"
	ok "smpdump" says "^0101" smpdump -D 0 0x11
	for one in $records; do ok "saquery $one" answered "$one"; done
	ok "saquery: a path for a pair" says "dlid.*${lid[2]}" saquery --src-to-dst "${lid[1]}:${lid[2]}"
	ok "a service that is registered is shown" service
	ok "until it ends" service_ends
	ok "so is who subscribes to reports" subscribed
	ok "until it does no more" subscription_ends
	# saquery has no command for multipath records.
	ok "paths from two ports to two, by one request" multipath
	ok "every switch knows the way to every port" every_table
	ok "from leaf to leaf it is short" counts 2 "-> switch" ibtracert "${lid[1]}" "${lid[2]}"
	ok "perfquery" says "PortXmitPkts" perfquery "${lid[2]}" 1
	ok "perfquery, extended" says "PortUnicastXmitPkts" perfquery -x "${lid[2]}" 1
	ok "perfquery resets" counted_and_reset
	ok "perfquery of all of a switch's ports" says "PortXmitPkts" perfquery -a "$(switch_lids | head -n 1)"
	ok "ibportstate" says "LinkState:\.*Active" ibportstate "${lid[2]}" 1 query
	ok "ibqueryerrors: nothing but links that were down" ibqueryerrors -s LinkDownedCounter
	ok "ibstatus" says "state:.*4: ACTIVE" ibstatus "$LAB_DEV"
	ok "smpquery portinfoextended: no port has such" \
		refused "port info extended not supported" smpquery portinfoextended "${lid[2]}" 1
	# No node here has congestion control; the others are for adapters and switches of one vendor.
	for one in "${lid[2]}" "$(switch_lids | head -n 1)"; do
		ok "ibccquery is refused by LID $one" unknown ibccquery -e CongestionInfo "$one"
		ok "so is vendstat" unknown vendstat -e -N "$one"
		ok "and smpquery mlnxextportinfo" unknown smpquery -e mlnxextportinfo "$one" 1
	done
else
	ok "node $LAB_NODE finds the manager, too" says "sm lid ${lid[1]} .*SMINFO_MASTER" sminfo
fi
lab-barrier looked

ok "ibping" served ibping "ibping -S" pinged
ok "ibsysstat" served ibsysstat "ibsysstat -S" statted
ok "ibv_rc_pingpong" pair pingpong 18515 ibv_rc_pingpong -d "$LAB_DEV" -c -n 100 -s 16384
ok "ib_send_bw of datagrams" pair ud 18515 ib_send_bw -d "$LAB_DEV" -F -c UD -n 500 -s 1024
# by time, since switches get the entries of the group while it already sends, and the manager's guest may
# be paused for seconds; the server prints what it got
ok "ib_send_bw to a multicast group" pair mcast 18515 ib_send_bw -d "$LAB_DEV" -F -c UD -g -D 6 -s 1024
[ "$LAB_NODE" != 1 ] || ok "and much of it comes" grep -E '^ *1024 +[1-9]' "$LAB_OUT/mcast.node1"
ok "sysfs has the port's counters" test "$(<"$port/counters/port_xmit_packets")" -gt 0
lab-barrier sent
ok "IPoIB comes up" ipoib_up
lab-barrier ipoib
ok "ping over IPoIB" ping_all 10.78.0.
ok "and by IPv6" ping_all fd78::
lab-barrier pinged
ok "TCP over IPoIB" stream
! has_cm || ok "rping" cm
lab-barrier connected
if [ "$LAB_NODE" = 1 ]; then
	ok "saquery knows the members of its groups" answered MCMR
	ok "and where the switches send to them" answered MFTR
	ok "which their tables confirm" says "0xc000" ibroute -M "$(switch_lids | head -n 1)"
fi
[ "$LAB_NODE" != 1 ] || ok "opensm has nothing to complain of" no_errors
# A node that ends takes its port along, with what opensm has just asked it.
lab-barrier judged
finish

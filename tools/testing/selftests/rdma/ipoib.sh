#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours --subnet opensm --timeout 900
# long: --core ours,distro
# IP over InfiniBand as the stack's own programs see it: both modes, groups, children, bad input, a subnet
# manager that is killed, and a module that is removed while packets are under way.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/ipoib_checks.sh
[ "$module" = ours ] && plan 47 || plan 42

debug=/sys/kernel/debug/ipoib broadcast=ff12:401b:ffff::ffff:ffff

# driver NET: what ethtool's driver information says
driver()
{
	python3 - "$1" <<-'PY'
		import array, fcntl, socket, struct, sys
		info = array.array("B", struct.pack("I", 3) + bytes(192))
		name = struct.pack("16sP", sys.argv[1].encode(), info.buffer_info()[0])
		fcntl.ioctl(socket.socket(), 0x8946, name + bytes(16))
		print(bytes(info[4:36]).rstrip(b"\0").decode())
	PY
}

# echo_udp SIDE: node 2 sends datagrams of many sizes, and compares what node 1 sends back
echo_udp()
{
	python3 - "$1" "$server4" $patience <<-'PY'
		import os, socket, sys
		s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		s.settimeout(int(sys.argv[3]))
		if sys.argv[1] == "serve":
		    s.bind((sys.argv[2], 5002))
		    open("/tmp/udp", "w").close()
		    while True:
		        data, who = s.recvfrom(65536)
		        if data == b"end":
		            sys.exit()
		        s.sendto(data, who)
		for size in list(range(1, 4200, 97)) + [8000, 16000, 30000]:
		    data = os.urandom(size)
		    s.sendto(data, (sys.argv[2], 5002))
		    if s.recvfrom(65536)[0] != data:
		        sys.exit(f"{size} bytes came back changed")
		s.sendto(b"end", (sys.argv[2], 5002))
	PY
}

# to_group SIDE GROUP: node 2 sends to a group until node 1, a member, has answered
to_group()
{
	python3 - "$1" "$own4" "$2" <<-'PY'
		import socket, sys
		group = (sys.argv[3], 5003)
		s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		own = socket.inet_aton(sys.argv[2])
		if sys.argv[1] == "serve":
		    s.bind(group)
		    s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(group[0]) + own)
		    s.settimeout(60)
		    data, who = s.recvfrom(100)
		    answer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		    answer.sendto(data, who)
		    sys.exit()
		s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, own)
		s.settimeout(0.2)
		for _ in range(300):
		    s.sendto(b"to the group", group)
		    try:
		        sys.exit(s.recv(100) != b"to the group")
		    except TimeoutError:
		        pass
		sys.exit("node 1 hears nothing")
	PY
}

# sides NAME COMMAND SIDE-ARGUMENT...: COMMAND serve in node 1 and COMMAND ask in node 2
sides()
{
	local name=$1 rc=0
	shift
	if [ "$LAB_NODE" = 1 ]; then
		"$1" serve "${@:2}" || rc=1
	else
		"$1" ask "${@:2}" || rc=1
	fi
	lab-barrier "$name-over"
	return $rc
}

udp()
{
	local rc=0 pid
	rm -f /tmp/udp
	if [ "$LAB_NODE" = 1 ]; then
		echo_udp serve &
		pid=$!
		within test -e /tmp/udp
		lab-barrier "udp$1-serves"
		wait $pid || rc=1
	else
		lab-barrier "udp$1-serves"
		echo_udp ask || rc=1
	fi
	lab-barrier "udp$1-over"
	return $rc
}

rping_both()
{
	local pid rc=0
	if [ "$LAB_NODE" = 1 ]; then
		rping -s -a "$server4" -C 5 >/tmp/rping 2>&1 &
		pid=$!
		within cm_listening $pid
		lab-barrier "rping$1-listens"
		wait $pid || rc=1
	else
		lab-barrier "rping$1-listens"
		rping -c -a "$server4" -C 5 || rc=1
	fi
	lab-barrier "rping$1-over"
	return $rc
}

# sent NUMBER: the interface has sent more packets than this
sent() { [ "$(<"/sys/class/net/$net/statistics/tx_packets")" -gt "$1" ]; }

# reloaded: node 2 floods its peer while its module is removed
reloaded()
{
	local flood
	[ "$LAB_NODE" = 2 ] || return 0
	ping -q -f -c 100000 "$peer4" >/dev/null 2>&1 &
	flood=$!
	within sent $(($(<"/sys/class/net/$net/statistics/tx_packets") + 100)) || return 1
	modprobe -r ib_ipoib || return 1
	kill $flood
	wait $flood
	[ ! -e "/sys/class/net/$net" ] && modprobe ib_ipoib && own_addresses
}

# child_unreached: a listener for all addresses is not reached by that of a child without its P_Key
child_unreached()
{
	if [ "$LAB_NODE" = 1 ]; then
		ip addr add 10.80.0.1/24 dev "$net.8001" || return 1
		cat "/sys/class/net/$net/address" >"$LAB_OUT/address"
	fi
	served child cm_listens stopped "rping -s -P" ask_child
}

# ask_child: the listener is there, and refuses
ask_child()
{
	rping -c -a "$server4" -C 1 || return 1
	ip addr add 10.80.0.2/24 dev "$net" || return 1
	ip neigh replace 10.80.0.1 lladdr "$(<"$LAB_OUT/address")" dev "$net" &&
		refused RDMA_CM_EVENT_REJECTED rping -c -a 10.80.0.1 -C 1 || return 1
	ip addr del 10.80.0.2/24 dev "$net"
}

gone() { [ ! -e "/sys/class/net/$1" ]; }

# member: the subnet manager knows this port as a member of the broadcast group
member()
{
	local gid
	IFS=: read -ra gid <"$port/gids/0"
	says "PortGid.*$(printf ':%x' "0x${gid[4]}" "0x${gid[5]}" "0x${gid[6]}" "0x${gid[7]}")" saquery --smkey 1 --mgid "$broadcast" MCMR
}

# anew: the interface is brought down and up, and has to ask the manager for all that it needs
anew() { ip link set "$net" down && own_addresses; }

ok "the interface has its addresses" connections_up
net=$(net_device)
is "it is an InfiniBand one" 32 "$(<"/sys/class/net/$net/type")"
is "of our module's name" ib_ipoib "$(driver "$net")"
is "in datagram mode" datagram "$(<"/sys/class/net/$net/mode")"
is "with the first P_Key" 0xffff "$(<"/sys/class/net/$net/pkey")"
is "and the group's MTU" 1 "$(mtu "$net" | grep -cE '^(2044|4092)$')"
datagram_mtu=$(mtu "$net")
ok "ip shows its kind" says "ipoib pkey  *0xffff mode  *datagram umcast  *0000" ip -d link show "$net"
ok "ping of more than a datagram" lossless -c 5 -i 0.2 -s 8000 "$peer4"
ok "by IPv6, too" lossless -c 5 -i 0.2 -s 8000 "$peer6"
lab-barrier pinged
ok "a flood without loss" flooded 10
lab-barrier flooded
ok "TCP" stream datagram
ok "UDP" udp datagram
ok "a multicast group" sides group to_group 239.78.1.1
ok "debugfs lists the broadcast group" grep -q "^GID: ff12:401b:ffff:0:0:0:ffff:ffff$" "$debug/${net}_mcg"
ok "and the path to the peer" grep -q "complete:    yes" "$debug/${net}_path"
ok "rping" rping_both datagram

# children
child() { ip link add link "$net" name "$1" type ipoib "${@:2}"; }
ok "a child of the same P_Key" child twin
ok "comes up" sh -c "ip addr add 10.79.0.$LAB_NODE/24 dev twin && ip link set twin up"
ok "and has a carrier" within carrier twin
lab-barrier twins
ok "it reaches the peer's" lossless -c 3 -i 0.2 "10.79.0.$peer"
lab-barrier twins-over
ok "it goes" ip link del twin
if [ "$module" = ours ]; then
	ok "a child with an MTU" ip link add link "$net" name small mtu 1500 type ipoib
	is "has it" 1500 "$(mtu small)"
	ip link del small
	ok "one that is too long is refused" refused "mtu 9000: it is 72 to" \
		ip link add link "$net" name large mtu 9000 type ipoib
	ok "and there is no such child" gone large
fi
# ip prints the extended ACK where there is one, and what the error is called where there is none
if [ "$module" = ours ]; then
	no_partition="names no partition" waits="waits for P_Key 0x8001"
else
	no_partition="Invalid argument" waits="P_Key 0x8001 is not found"
fi
ok "P_Key 0 is refused" refused "$no_partition" child bad pkey 0
ok "and 0x8000" refused "$no_partition" child bad pkey 0x8000
ok "a child by sysfs" put 0x8001 "/sys/class/net/$net/create_child"
is "has its parent's name" "$net" "$(<"/sys/class/net/$net.8001/parent")"
ok "a second one is refused" refused "not unique" put 0x8001 "/sys/class/net/$net/create_child"
ip link set "$net.8001" up
ok "its P_Key is not there: the kernel says so" says "$net.8001.*$waits" dmesg
ok "it has no carrier" sh -c "! grep -q 1 /sys/class/net/$net.8001/carrier"
[ "$module" != ours ] || ok "and gets no connections" child_unreached
put 0x8001 "/sys/class/net/$net/delete_child"
ok "it goes by sysfs" within gone "$net.8001"
ok "an unknown mode is refused" refused "Invalid argument" mode sideways

# connected mode
ok "connected mode" mode connected
is "has a long MTU" 65520 "$(mtu "$net")"
lab-barrier connected
ok "ping of 30000 bytes" lossless -c 5 -i 0.2 -s 30000 "$peer4"
ok "TCP by connections" stream connected
[ "$LAB_NODE" != 2 ] || mode datagram
lab-barrier mixed
ok "one side in datagram mode" lossless -c 5 -i 0.2 -s 1000 "$peer4"
lab-barrier mixed-over
mode datagram
is "back in datagram mode" "$datagram_mtu" "$(mtu "$net")"

# faults
if [ "$LAB_NODE" = 1 ]; then
	manager_killed
	lab-opensm -l 2 >/tmp/opensm.again 2>&1
fi
lab-barrier manager
ok "another subnet manager knows this member of the broadcast group" within member
lab-barrier managed
ok "a group is joined that was not there before" sides managed to_group 239.78.1.2
ok "the interface starts anew" anew
lab-barrier anew
ok "and the peer answers" within ping -q -c 1 -W 2 "$peer4"
lab-barrier reached-anew
ok "the module goes under load, and comes back" reloaded
lab-barrier reloaded
ok "the peer answers" within ping -q -c 1 -W 2 "$peer4"
lab-barrier answered
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 3 --core ours,distro --subnet opensm --timeout 900 --device-arg --topology --device-arg /lab/src/tools/testing/selftests/rdma/subnet.json --packages "dnsmasq-base iperf3 iputils-arping openssh-client openssh-server socat tcpdump"
# Three guests, each at a switch of its own, talk IP over InfiniBand from each to each, and all at the
# same time: in both modes, and when one of them is in another mode than the others. One gives the others
# addresses by DHCP.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/ipoib_checks.sh
plan $((17 + 3 * 3))

group=239.78.1.9
# the nodes one and two places further on
others="$((LAB_NODE % 3 + 1)) $(((LAB_NODE + 1) % 3 + 1))"

# each NAME COMMAND...: COMMAND with the address of each of the others, to which no other node sends at
# that time
each()
{
	local name=$1 rc=0 other
	shift
	for other in $others; do
		"$@" "10.78.0.$other" || rc=1
		lab-barrier "$name-asked"
	done
	return $rc
}

# iperf NAME OPTION...: to each of the others, while another sends to this node
iperf()
{
	local name=$1 rc=0 other pid
	shift
	for other in $others; do
		iperf3 -s -1 -J -B "$own4" >/tmp/arrived 2>&1 &
		pid=$!
		iperf_listens $pid || rc=1
		lab-barrier "$name-served"
		iperf3 -J -c "10.78.0.$other" "$@" >/tmp/sent || { cat /tmp/sent; rc=1; }
		lab-barrier "$name-sent"
		ended $pid && iperf_arrived /tmp/arrived || rc=1
	done
	return $rc
}

# large ADDRESS, large6 ADDRESS: packets in several parts
large() { lossless -c 5 -i 0.2 -s "$size" "$1"; }
large6() { lossless -c 5 -i 0.2 -s "$size" "fd00:78::${1##*.}"; }

# flood ADDRESS
flood() { peer4=$1 && flooded 10; }

# heard_all FILE: what each node has sent to the group is there
heard_all() { [ "$(sort -u "$1" | grep -c '^from [123]$')" = 3 ]; }

# in_group: all send to a group, whose members they are
in_group()
{
	local receiver sender rc=0
	rm -f /tmp/heard	# of an earlier run
	socat -u "UDP4-RECV:6000,ip-add-membership=$group:$own4" CREATE:/tmp/heard &
	receiver=$!
	while echo "from $LAB_NODE" | socat -u - "UDP4-DATAGRAM:$group:6000,ip-multicast-if=$own4"; do moment; done &
	sender=$!
	within heard_all /tmp/heard || rc=1
	lab-barrier heard
	kill $receiver $sender
	return $rc
}

answers6() { ping -c 2 -i 0.2 -W 2 "ff02::1%$net" | sed -n 's/.* from \([^ ]*\)%.*/\1/p' | sort -u; }
# hears_all: each node answers a request to all
hears_all() { [ "$(answers6 | wc -l)" = 3 ] || { answers6; return 1; }; }

asks() { says "reply from.*$1" arping -I "$net" -c 3 -w $patience "$1"; }

# told_mtu ADDRESS, told_mtu6 ADDRESS: a packet that may not be cut is refused with the path's MTU
told_mtu() { refused "mtu.*$mtu" ping -M "do" -c 2 -s 8000 -W 2 "$1"; }
told_mtu6() { told_mtu "fd00:78::${1##*.}"; }
in_parts() { within ping -q -c 1 -W 2 -s 8000 "$1"; }
in_parts6() { in_parts "fd00:78::${1##*.}"; }

# talk MODE BYTES
talk()
{
	size=$2
	lab-barrier "$1"
	ok "$1: packets of $2 bytes are answered" each "$1-4" large
	ok "$1: by IPv6, too" each "$1-6" large6
	ok "$1: TCP" iperf "$1-tcp" -n 16M
}

ok "the interface has its addresses" connections_up
net=$(net_device)
mtu=$(<"/sys/class/net/$net/mtu")
talk datagram 8000
ok "a flood without loss" each flood flood
ok "UDP" iperf udp -u -b 100M -n 4M -l 1400
ok "arping" each arping asks
ok "who sends to a group is heard by all" in_group
ok "all answer who asks all, by IPv6" within hears_all
ssh_key
lab-barrier keys
ok "sshd" sshd_runs
lab-barrier sshd
ok "files by ssh" each ssh copied
kill "$(pgrep -o -x sshd)"

dhcp 2
monitor_tells

mode connected
talk connected 30000
[ "$LAB_NODE" != 3 ] || mode datagram
talk mixed 30000

# connected mode, and peers that take datagrams alone
[ "$LAB_NODE" != 3 ] || mode connected
lab-barrier all-connected
for other in $others; do
	by_datagrams "10.78.0.$other"
	by_datagrams "fd00:78::$other"
done
lab-barrier by-datagrams
ok "who may not cut a packet is told its path's MTU" each mtu-4 told_mtu
ok "and that of IPv6" each mtu-6 told_mtu6
ok "others go on in parts" each parts-4 in_parts
ok "by IPv6, too" each parts-6 in_parts6
# A node that ends takes its port along.
lab-barrier over
finish

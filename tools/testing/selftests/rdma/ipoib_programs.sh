#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours,distro --subnet opensm --timeout 900 --packages "dnsmasq-base iperf3 iputils-arping openssh-client openssh-server socat tcpdump" -- 100
# Programs that know nothing of InfiniBand, or a little: iperf3, arping, ssh, DHCP, tcpdump, ip monitor,
# socat to a group, a flood of N hundred pings (10 by default), and path MTU discovery in connected mode.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/ipoib_checks.sh
plan 20

group=239.78.1.9

# iperf OPTION...: from node 2 to node 1
iperf()
{
	served "iperf$*" iperf_listens ended "iperf3 -s -1 -J -B $server4" iperf3 -J -c "$server4" "$@" >/dev/null &&
		iperf_arrived "$served_output"
}

ok "the interface has its addresses" connections_up
net=$(net_device)
mtu=$(<"/sys/class/net/$net/mtu")
ok "iperf3, TCP" iperf -n 32M
ok "and UDP" iperf -u -b 100M -n 4M -l 1400
ok "arping" says "reply from.*$peer4" arping -I "$net" -c 3 -w $patience "$peer4"
lab-barrier arping

if [ "$LAB_NODE" = 1 ]; then
	lab-barrier key
	ok "sshd" sshd_runs
	lab-barrier sshd
	lab-barrier copied
	kill "$(pgrep -o -x sshd)"
else
	ssh_key
	lab-barrier key
	lab-barrier sshd
	ok "a file by ssh" copied "$server4"
	lab-barrier copied
fi

dhcp 1

monitor_tells

rm -f /tmp/tcpdump	# of an earlier run
# It goes on until it is killed: the first packets may all be those that the peer's requests make.
tcpdump -i "$net" -nn -l "icmp and host $peer4" >/tmp/tcpdump 2>&1 &
tcpdump=$!
within grep -q "listening on" /tmp/tcpdump
lab-barrier tcpdump
ok "the peer answers" ping -q -c 2 -i 0.2 -W $patience "$peer4"
ok "tcpdump shows requests" within grep "IP $own4 > $peer4: ICMP echo request" /tmp/tcpdump
ok "and answers" within grep "IP $peer4 > $own4: ICMP echo reply" /tmp/tcpdump
kill $tcpdump 2>/dev/null
lab-barrier tcpdump-over

if [ "$LAB_NODE" = 1 ]; then
	rm -f /tmp/heard
	socat -u "UDP4-RECV:6000,ip-add-membership=$group:$own4" CREATE:/tmp/heard &
	ok "what socat sends to a group is heard" within grep -q "to the group" /tmp/heard
	lab-barrier heard
	kill $!
else
	while echo "to the group" | socat -u - "UDP4-DATAGRAM:$group:6000,ip-multicast-if=$own4"; do moment; done &
	lab-barrier heard
	ok "socat sends to a group" kill $!
fi
ok "a flood of requests has as many answers" flooded "${1:-10}"
lab-barrier flooded

# connected mode, and a peer that takes datagrams alone
mode connected
lab-barrier connected
by_datagrams "$peer4"
by_datagrams "$peer6"
lab-barrier datagrams
ok "who may not cut a packet is told its path's MTU" refused "mtu.*$mtu" ping -M "do" -c 2 -s 8000 -W 2 "$peer4"
ok "and that of IPv6" refused "mtu.*$mtu" ping -M "do" -c 2 -s 8000 -W 2 "$peer6"
ok "others go on in parts" within ping -q -c 1 -W 2 -s 8000 "$peer4"
ok "by IPv6, too" within ping -q -c 1 -W 2 -s 8000 "$peer6"
lab-barrier told
ok "TCP does" iperf -n 4M
finish

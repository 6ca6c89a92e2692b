#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours,distro --subnet opensm --timeout 600 --device-arg --caps-off --device-arg srq
# Connected mode of IPoIB by adapters that have no shared receive queues: each connection has receives
# of its own, and max_nonsrq_conn_qp says how many connections an interface takes.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/ipoib_checks.sh
[ "$module" = ours ] && plan 24 || plan 15

parameter=/sys/module/ib_ipoib/parameters/max_nonsrq_conn_qp
# addresses of a second interface of node 2 and, on the interface that both talk to, of node 1
twin4=10.79.0.2 other4=10.79.0.1

# connected_by N: N QPs belong to connections of IPoIB, to this node's and to those of peers
connected_by() { [ "$(connections)" = "$1" ] || { rdma resource show qp; return 1; }; }
connections() { rdma resource show qp | grep -c "type RC .*comm .*ib_ipoib"; }

# connected_both_ways: what was sent last may have been long ago
connected_both_ways() { ping -q -c 1 -W 2 "$peer4" && connected_by 2; }

# with PARAMETER...: the module is loaded anew
with()
{
	modprobe -r ib_ipoib && modprobe ib_ipoib "$@" && own_addresses && mode connected && within carrier "$net"
}

# takes NUMBER: node 1 takes NUMBER connections, and makes none in datagram mode; node 2 takes any number
takes()
{
	if [ "$LAB_NODE" = 1 ]; then
		with max_nonsrq_conn_qp="$1" && mode datagram
	else
		with max_nonsrq_conn_qp=5000 recv_queue_size=2
	fi
}

unanswered() { ! ping -q -c 3 -i 0.2 -W 1 "$1"; }
by_datagrams() { mode datagram && reaches "$1"; }

# twin: node 2 has a second interface, by which it knows node 1's only one
twin()
{
	if [ "$LAB_NODE" = 1 ]; then
		ip addr add "$other4/24" dev "$net"
	else
		ip link add link "$net" name twin type ipoib mode connected && solicits twin &&
			ip addr add "$twin4/24" dev twin && ip link set twin up && within carrier twin
	fi
}

# gone_under_load: node 1's module is removed while node 2 sends to it over connections
gone_under_load()
{
	local rc=0 received flood
	if [ "$LAB_NODE" = 1 ]; then
		received=$(<"/sys/class/net/$net/statistics/rx_packets")
		lab-barrier flood
		within has_received $((received + 100)) && modprobe -r ib_ipoib || rc=1
		lab-barrier gone
	else
		ping -q -f -s 20000 -c 1000000 "$peer4" >/dev/null 2>&1 &
		flood=$!
		lab-barrier flood
		lab-barrier gone
		kill $flood || rc=1
	fi
	return $rc
}
has_received() { [ "$(<"/sys/class/net/$net/statistics/rx_packets")" -gt "$1" ]; }

ok "the interface has its addresses" connections_up
net=$(net_device)
is "the adapter has no shared receive queues" 0 \
	"$(ibv_devinfo -v -d "$LAB_DEV" | awk '$1 == "max_srq:" { print $2 }')"
is "so many connections are taken" 128 "$(<$parameter)"
is "the address says that they are" 80 "$(cut -d: -f1 "/sys/class/net/$net/address")"
ok "connected mode" mode connected
is "has a long MTU" 65520 "$(mtu "$net")"
lab-barrier connected
ok "ping of 60000 bytes" lossless -c 5 -i 0.2 -s 60000 "$peer4"
ok "TCP by connections" stream connected
ok "there is one each way" within connected_both_ways
lab-barrier counted
ok "the interface goes down" ip link set "$net" down
ok "and has no connections" within connected_by 0
lab-barrier down

ok "other numbers" takes -3
is "6.12 allows from none to 4096" "$((LAB_NODE == 1 ? 0 : 4096))" "$(<$parameter)"
lab-barrier none
ok "an interface that takes none gets nothing by connections" on 2 unanswered "$peer4"
ok "datagrams arrive" on 2 by_datagrams "$peer4"
[ "$module" = ours ] || finish

ok "only one connection" takes 1
lab-barrier one
ok "an interface more" twin
lab-barrier twins
ok "node 1 answers the first" on 2 reaches "$peer4"
ok "and the second, for which the first has to go" on 2 reaches "$other4"
ok "there is one connection" within connected_by 1
lab-barrier counted-one
ok "node 1 answers the first again" on 2 reaches "$peer4"
ok "the module goes under load" gone_under_load
ok "and comes back" on 1 with
ok "the peer answers" reaches "$peer4"
lab-barrier answered
finish

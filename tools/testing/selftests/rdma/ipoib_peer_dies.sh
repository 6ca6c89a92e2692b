#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours --subnet opensm --timeout 600
# own boot: a guest dies
# Node 2 fails while node 1 sends to it by TCP over IPoIB, in both modes: its QEMU is killed as a power
# failure would end it. Node 1's programs get the errors that they would get on any network.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/ipoib_checks.sh

stream=/lab/src/tools/testing/selftests/rdma/ipoib_stream.py
twin4=10.79.0.2

# twin: a second interface of the same port, by connections
twin()
{
	ip link add link "$net" name twin type ipoib mode connected && solicits twin &&
		ip addr add "10.79.0.$LAB_NODE/24" dev twin && ip link set twin up &&
		within carrier twin
}
came() { [ "$(<"$1")" -gt 0 ]; }

# lost PID FILE: it has ended, since its peer does not answer any more
lost()
{
	ended "$1"
	[ $? = 2 ] && grep -E "timed out|No route to host" "$2"
}

if [ "$LAB_NODE" = 2 ]; then
	connections_up || exit 1
	net=$(net_device)
	twin || exit 1
	python3 $stream serve "$own4" /tmp/came.datagram &
	python3 $stream serve $twin4 /tmp/came.connected &
	within test -e /tmp/came.datagram -a -e /tmp/came.connected
	lab-barrier listens
	within came /tmp/came.datagram && within came /tmp/came.connected || exit 1
	lab-barrier streams
	lab-end kill
fi
plan 5
ok "the interface has its addresses" connections_up
net=$(net_device)
ok "there is another one in connected mode" twin
lab-barrier listens
python3 $stream send "$peer4" >/tmp/datagram 2>&1 &
datagram=$!
python3 $stream send $twin4 >/tmp/connected 2>&1 &
connected=$!
lab-barrier streams
# Its peer is gone from here on: TCP need not try for a quarter of an hour.
echo 4 >/proc/sys/net/ipv4/tcp_retries2
lost $datagram /tmp/datagram
is "who sends by datagrams is told" 0 $?
lost $connected /tmp/connected
is "and who sends by a connection" 0 $?
ok "the module goes, with what it had to do with node 2" modprobe -r ib_ipoib
finish

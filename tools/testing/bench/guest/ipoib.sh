#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# What bench/ipoib starts:
#   ipoib.sh traffic            in two guests, on our core and on the distribution's: TCP between them by
#                               virtio-net and by IPoIB, which take turns. What iperf3 and qperf print stays
#                               in $LAB_OUT as WHAT.ROUND.METRIC, and what ethtool and the interface say of
#                               themselves as WHAT.settings.
#   ipoib.sh neighbours N...    in both guests: the memory for N neighbours in node 1, and what is not freed
#                               after them, ROUNDS times, in neighbours.N, in kB
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/bench/guest/devices.sh

SECONDS_EACH=3 ROUNDS=5

iperf_listens() { wait_listen 5201 "$1"; }
qperf_listens() { wait_listen 19765 "$1"; }

# settings WHAT NET: what is in force beside the figures
settings()
{
	[ "$LAB_NODE" = 2 ] || return 0
	echo "mtu $(<"/sys/class/net/$2/mtu")" >"$LAB_OUT/$1.settings"
	ethtool -k "$2" | sed -n 's/^[[:space:]]*\([a-z0-9-]*\): on.*/\1/p' |
		grep -E 'checksum|segmentation|receive-offload|scatter' >>"$LAB_OUT/$1.settings"
}

# measure WHAT ROUND NET SERVER
measure()
{
	settings "$1" "$3"
	served "$1.$2.stream" iperf_listens ended "iperf3 -s -1 -B $4" iperf3 -J -t $SECONDS_EACH -c "$4" >/dev/null ||
		die "iperf3 failed on $1"
	[ "$1" = distro ] || served "$1.$2.latency" qperf_listens stopped qperf \
		qperf -t $SECONDS_EACH "$4" tcp_lat >/dev/null || die "qperf failed on $1"
}

mode()
{
	echo "$1" >"/sys/class/net/$net/mode" || die "no mode $1"
	lab-barrier "mode-$1"
}

traffic()
{
	local round virtio
	connections_up >/dev/null || die "ports have no addresses"
	net=$(net_device)
	virtio=$(ip -o route get 10.77.0.9 | sed -n 's/.* dev \([^ ]*\).*/\1/p')
	if [ "$LAB_CORE" = distro ]; then
		ethtool -K "$net" tx off rx off tso off || die "offloads stay"
	fi
	for ((round = 1; round <= ROUNDS; round++)); do
		if [ "$LAB_CORE" = distro ]; then
			measure distro $round "$net" $server4
			continue
		fi
		measure virtio $round "$virtio" 10.77.0.1
		mode datagram
		measure datagram $round "$net" $server4
		mode connected
		measure connected $round "$net" $server4
	done
}

# come N: makes N neighbours, all of them QPs of the other guest's port, and sends a packet to each
come()
{
	python3 - "$net" "$1" "$(<"$LAB_OUT/address")" <<-'PY'
		import socket, subprocess, sys
		net, count, peer = sys.argv[1], int(sys.argv[2]), sys.argv[3]
		where = [f"10.90.{1 + i // 250}.{1 + i % 250}" for i in range(count)]
		lines = [f"neigh replace {ip} dev {net} nud permanent lladdr 00:80:{i >> 8:02x}:{i & 255:02x}{peer[11:]}\n"
		         for i, ip in enumerate(where)]
		subprocess.run(["ip", "-batch", "-"], input="".join(lines), text=True, check=True)
		s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		for ip in where:
		    s.sendto(b"anybody?", (ip, 9))
	PY
}

neighbours()
{
	local count before round
	connections_up >/dev/null || die "ports have no addresses"
	net=$(net_device)
	[ "$LAB_NODE" != 2 ] || cat "/sys/class/net/$net/address" >"$LAB_OUT/address"
	lab-barrier address
	if [ "$LAB_NODE" = 1 ]; then
		ip addr add 10.90.0.1/16 dev "$net"
		for round in 1 2 3; do echo 65536 >/proc/sys/net/ipv4/neigh/default/gc_thresh$round; done
		for count in "$@"; do
			: >"$LAB_OUT/neighbours.$count"
			for ((round = 1; round <= ROUNDS; round++)); do
				before=$(kernel_kb)
				come "$count" || die "$count neighbours do not come"
				[ "$(ip neigh show dev "$net" nud permanent | wc -l)" -ge "$count" ] || die "they are not there"
				echo -n "$(($(kernel_kb) - before)) " >>"$LAB_OUT/neighbours.$count"
				ip neigh flush dev "$net" nud permanent >/dev/null || die "they stay"
				kernel_kb >>"$LAB_OUT/neighbours.$count"
			done
		done
	fi
	lab-barrier measured
}

part=$1
shift
$part "$@"

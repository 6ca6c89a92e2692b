#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours --subnet opensm --timeout 600
# check: no
# long: --core ours,distro
# rsockets by the distribution's programs, over IPv4, IPv6 and native addresses: streams and their
# data, direct writes, datagrams, a file.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh

file_mb=64

# rsocket_serves PID: waits until it listens; only then does it print this line
rsocket_serves() { said "$1" usec/xfer; }
streams4() { both rsocket_serves $server4 "$own4" "$@"; }
streams6() { both rsocket_serves $server6 "$own6" "$@"; }
streams_gid() { both rsocket_serves "$server_gid" "$own_gid" "$@" -f gid; }

# has_datagrams PID: waits until a program has UDP port 7174
has_datagrams() { awaited "$1" grep -q ':1C06 ' /proc/net/udp; }

# datagrams COUNT OPTION...: udpong's server runs until it is stopped. Its client's exit status means
# nothing; it prints the number of datagrams, a pattern, and only when all went well. Until librdmacm has an
# address handle it sends by UDP, and the first datagram by RDMA may overtake those: where none is answered,
# the server may get the end mark before some of them.
datagrams()
{
	local count=$1
	shift
	served "udpong$*" has_datagrams stopped "udpong -b $server4 $*" udpong -s $server4 "$@" &&
		{ [ "$LAB_NODE" != 2 ] || grep -q "^custom  *1k  *$count " "$served_output"; }
}

# copied: the file that node 2 sends has the same sum in node 1
copied()
{
	served rcopy cm_listens stopped rcopy rcopy /tmp/sent "$server4:/tmp/received"
}
sum() { sha256sum <"$1" | cut -d' ' -f1; }

plan 15
ok "ports have addresses" connections_up
native_addresses
# not -T a: with it rstream gives up when it sees that its peer has hung up, though the last data has
# arrived
for test in b n; do ok "rstream, -T $test" streams4 rstream -S 4096 -C 50 -I 4 -T v -T $test; done
ok "rstream of large messages" streams4 rstream -S 262144 -C 20 -I 1 -T v
ok "rstream over IPv6" streams6 rstream -S 4096 -C 50 -I 4 -T v
ok "rstream by GIDs" streams_gid rstream -S 4096 -C 50 -I 4 -T v
ok "rstream, addresses by librdmacm" streams4 rstream -S 4096 -C 50 -I 4 -T v -T r
ok "riostream" streams4 riostream -S 4096 -C 50 -I 4 -T v
ok "riostream over IPv6" streams6 riostream -S 4096 -C 50 -I 4 -T v
ok "riostream by GIDs" streams_gid riostream -S 4096 -C 50 -I 4 -T v
ok "udpong" datagrams "[0-9]*" -S 1024 -C 100
ok "udpong, echoed" datagrams 200 -S 1024 -C 100 -T e
[ "$LAB_NODE" != 2 ] || head -c ${file_mb}M /dev/urandom >/tmp/sent
ok "rcopy of $file_mb MiB" copied
if [ "$LAB_NODE" = 1 ]; then
	sum /tmp/received >"$LAB_OUT/received.sum"
	lab-barrier summed
else
	lab-barrier summed
	is "the file is the same" "$(sum /tmp/sent)" "$(<"$LAB_OUT/received.sum")"
fi
[ "$LAB_NODE" != 1 ] || is "and all of it has come" $((file_mb << 20)) "$(stat -c %s /tmp/received)"
rm -f /tmp/sent /tmp/received
ok "no id is left" no_ids
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours,distro --subnet opensm --timeout 600 --packages ethtool
# What IPoIB leaves to the device, our module on our core and the distribution's on its own:
# TCP arrives unchanged with the offloads, without each of them and in connected mode.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
plan 19

# stream NAME SERVER [MIB]: bytes by TCP from node 2 to node 1, in writes of odd sizes
stream()
{
	local pid rc=0
	if [ "$LAB_NODE" = 1 ]; then
		tcp serve "$2" "$LAB_OUT/sum.$1" &
		pid=$!
		wait_listen 5004 $pid
		lab-barrier "$1-listens"
		lab-barrier "$1-sent"
		wait $pid || rc=1
	else
		lab-barrier "$1-listens"
		tcp send "$2" "$LAB_OUT/sum.$1" "${3:-8}" || rc=1
		lab-barrier "$1-sent"
	fi
	lab-barrier "$1-over"
	return $rc
}

tcp()
{
	python3 - "$@" <<-'PY'
		import hashlib, os, random, socket, sys
		side, server, file = sys.argv[1:4]
		family = socket.AF_INET6 if ":" in server else socket.AF_INET
		s = socket.socket(family)
		digest = hashlib.sha256()
		if side == "serve":
		    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
		    s.bind((server, 5004))
		    s.listen()
		    c = s.accept()[0]
		    while data := c.recv(1 << 18):
		        digest.update(data)
		    c.sendall(b"got it")
		    if digest.hexdigest() != open(file).read():
		        sys.exit("other bytes arrived than were sent")
		    sys.exit()
		data = os.urandom(int(sys.argv[4]) << 20)
		digest.update(data)
		with open(file, "w") as f:
		    f.write(digest.hexdigest())
		s.connect((server, 5004))
		at = 0
		while at < len(data):
		    n = random.choice((1, 999, 65537, 200001))
		    s.sendall(data[at:at + n])
		    at += n
		s.shutdown(socket.SHUT_WR)
		s.recv(100)
	PY
}

# feature NAME STATE: what ethtool says of it
feature() { ethtool -k "$net" | grep -q "^[[:space:]]*$1: $2"; }
change() { ethtool -K "$net" "$@"; }
mode() { echo "$1" >"/sys/class/net/$net/mode"; }

ok "the interface has its addresses" connections_up
net=$(net_device)
if [ "$LAB_CORE" = ours ]; then
	six=on
else
	six=off
fi
ok "checksums are set by the device" feature tx-checksum-ipv4 on
ok "and checked" feature rx-checksumming on
ok "large sends are the device's" feature tx-tcp-segmentation on
ok "of IPv6 with our module" feature tx-tcp6-segmentation $six
ok "and checksums" feature tx-checksum-ipv6 $six
ok "TCP" stream all "$server4"
ok "TCP over IPv6" stream six "$server6"
lab-barrier streamed
ok "no large sends" change tso off tx-tcp6-segmentation off
ok "TCP" stream notso "$server4" 4
ok "no checks" change rx off
ok "TCP" stream norx "$server4" 4
ok "no checksums" change tx off
ok "TCP" stream notx "$server4" 4
change tx on rx on tso on
[ $six = off ] || change tx-tcp6-segmentation on
ok "all of them again" feature tx-tcp-segmentation on
lab-barrier again
ok "connected mode" mode connected
ok "has no large sends" feature tx-tcp-segmentation off
lab-barrier connected
ok "TCP by connections" stream connected "$server4"
mode datagram
ok "datagram mode has them" feature tx-tcp-segmentation on
lab-barrier datagram
finish

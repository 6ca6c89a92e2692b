#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours,distro --hca 0
# iwpmd, unmodified: an iWARP device without hardware has its ports mapped, and the daemons of both
# guests tell each other.
. /lab/src/tools/testing/selftests/rdma/lib.sh
own=10.77.0.$LAB_NODE
param=/sys/module/rdma_iwfake/parameters
more=0
[ "$LAB_CORE" != ours ] || more=2
plan $((12 + more))

# The daemon has read all that the kernel had to say: it sleeps in select() and its netlink socket
# is empty.  Before its hello it is not there.
pause_of_iwpmd()
{
	local call _ rmem pid
	pid=$(pidof iwpmd) || return 1
	read -r call _ <"/proc/$pid/syscall"
	[ "$call" = 23 ] || [ "$call" = 270 ] || return 1
	rmem=$(awk -v pid="$pid" '$2 == 20 && $3 == pid { print $5 }' /proc/net/netlink)
	[ "$rmem" = 0 ]
}

until_pause() { until pause_of_iwpmd; do moment; done; }

start_iwpmd()
{
	iwpmd || return 1
	until_pause
}

# can_bind ADDRESS:PORT
can_bind() { python3 -c "import socket; socket.socket().bind(('${1%:*}', ${1##*:}))"; }

stop_iwpmd()
{
	local pid
	pid=$(pidof iwpmd)
	kill -9 "$pid"
	while [ -e "/proc/$pid" ]; do moment; done
}

# tell NAME: what the other node's file says, once both have written theirs
tell()
{
	echo "$2" >"$LAB_OUT/$1.$LAB_NODE"
	lab-barrier "$1"
	cat "$LAB_OUT/$1.$((3 - LAB_NODE))"
}

# hello ERRNO: one whose header names no port, as a program's own may, is answered so (0: not at all)
hello()
{
	python3 - "$1" <<'PY'
import errno, socket, struct, sys
expected = getattr(errno, sys.argv[1], 0)
nl = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 20)
attr = struct.pack("HHHxx", 6, 1, 4)
nl.send(struct.pack("IHHII", 16 + len(attr), 2 << 10 | 8, 1, 7, 0) + attr)
if not expected:
    sys.exit()
answer = nl.recv(4096)
kind, error = struct.unpack_from("H", answer, 4)[0], struct.unpack_from("i", answer, 16)[0]
print(kind, error)
sys.exit(not (kind == 2 and error == -expected))
PY
}
export -f hello

ok "the daemon starts" start_iwpmd
ok "its hello has loaded iw_cm" grep -q '^iw_cm ' /proc/modules
[ "$more" = 0 ] || ok "not everybody may be the port mapper" setpriv --reuid 1000 --clear-groups bash -c "hello EPERM"
modprobe rdma_iwfake
lab-barrier fake

# Node 1 listens, node 2 connects.
if [ "$LAB_NODE" = 1 ]; then
	echo "$own:7000" >$param/listen
	mapped=$(<$param/wire_local)
	case $mapped in
	"$own:7000" | "$own:0" | "") found=bad ;;
	"$own":*) found=good ;;
	*) found=bad ;;
	esac
	is "the listener got another port ($mapped)" good "$found"
	can_bind "$mapped" 2>/dev/null && found=free || found=taken
	is "which is taken from TCP" taken "$found"
	tell listening "$mapped" >/dev/null
	theirs=$(tell connected "$mapped")
	until_pause
	echo "$theirs" >$param/arrive
	is "the peer's consumer connects from" 10.77.0.2:8000 "$(<$param/arrived)"
	echo 10.77.0.2:9 >$param/arrive
	is "of somebody else nothing is known" 10.77.0.2:9 "$(<$param/arrived)"
	stop_iwpmd
	ok "another daemon starts" start_iwpmd
	lab-barrier again
	lab-barrier asked
	echo 1 >$param/forget
	until_pause
	ok "TCP gets the port back" can_bind "$mapped"
	lab-barrier forgotten
	lab-barrier refused
else
	server=$(tell listening "")
	echo "$own:8000 10.77.0.1:7000" >$param/connect
	mapped=$(<$param/wire_local)
	is "the peer's port is known" "$server" "$(<$param/wire_remote)"
	case $mapped in
	"$own:8000" | "$own:0" | "") found=bad ;;
	"$own":*) found=good ;;
	*) found=bad ;;
	esac
	is "and the own one is another ($mapped)" good "$found"
	tell connected "$mapped" >/dev/null
	lab-barrier again
	echo "$own:8001 10.77.0.1:7000" >$param/connect
	is "a new daemon knows the listener" "$server" "$(<$param/wire_remote)"
	lab-barrier asked
	lab-barrier forgotten
	echo "$own:8002 10.77.0.1:7000" >$param/connect
	is "who listens no more is asked for where he was" 10.77.0.1:7000 "$(<$param/wire_remote)"
	ok "own ports are given back" sh -c "echo 1 >$param/forget"
	lab-barrier refused
	is "and nothing is connected" "" "$(<$param/arrived)"
fi
rmmod rdma_iwfake
modprobe rdma_iwfake no_map=1
echo "$own:7001" >$param/listen
is "a device that wants no other ports keeps its own" "$own:7001" "$(<$param/wire_local)"
stop_iwpmd
echo "$own:7002" >$param/listen
is "without a daemon ports are used as they are" "$own:7002" "$(<$param/wire_local)"
[ "$more" = 0 ] || ok "a hello from nowhere is no daemon's" hello nothing
ok "the device goes" rmmod rdma_iwfake
ok "and iw_cm" sh -c '{ ! grep -q ^rdma_cm /proc/modules || modprobe -r rdma_cm; } && rmmod iw_cm'
finish

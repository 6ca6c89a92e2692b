#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours --ports 2 --subnet opensm --timeout 900 --packages ethtool
# check: no
# long: --core ours,distro
# IPoIB as an administrator sets it: by ip, sysfs and ethtool; another name, network namespaces, a GUID
# that the port does not have, a cable that is pulled, a bond of two ports.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/ipoib_checks.sh
# 0 if the kernel has no bridges
bridges=${bridges:-1}
[ "$module" = ours ] && plan $((62 + bridges)) || plan $((54 + bridges))

debug=/sys/kernel/debug/ipoib
ports=/sys/class/infiniband/$LAB_DEV/ports

# net_of N: the interface of the device's port, 0 the first
net_of()
{
	local file
	for file in "/sys/class/infiniband/$LAB_DEV/device/net"/*/dev_port; do
		[ "$(<"$file")" != "$1" ] || { basename "${file%/*}"; return 0; }
	done
	return 1
}
net_device() { net_of 0; }

# gid_of NET: the last 16 bytes of its address, as they stand in the table of GIDs
gid_of() { tr -d : <"/sys/class/net/$1/address" | cut -c9- | sed 's/..../&:/g; s/:$//'; }

# link_info NET ATTRIBUTE VALUE: the attribute of the kind "ipoib" takes any value, also one for which
# ip has no word; what the kernel answers is shown by its name
link_info()
{
	python3 - "$@" <<-'PY'
		import errno, socket, struct, sys
		def attribute(kind, data):
		    return struct.pack("HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)
		net, number, value = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
		info = attribute(1, b"ipoib\0") + attribute(2, attribute(number, struct.pack("H", value)))
		body = struct.pack("BxHiII", 0, 0, socket.if_nametoindex(net), 0, 0) + attribute(18, info)
		s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
		s.send(struct.pack("IHHII", 16 + len(body), 16, 5, 1, 0) + body)    # RTM_NEWLINK, acknowledged
		error = -struct.unpack_from("i", s.recv(8192), 16)[0]
		sys.exit(errno.errorcode[error] if error else 0)
	PY
}
IPOIB_MODE=2 IPOIB_UMCAST=3

# shows NET WORDS: what ip -d says of the kind
shows() { says "ipoib pkey  *[0-9a-fx]* $2" ip -d link show "$1"; }

# statistic NAME: what ethtool says of it
statistic() { ethtool -S "$net" | sed -n "s/^ *$1: //p"; }
counted() { [ "$(statistic tx_packets)" -ge "$1" ]; }

# setting OPTION NAME: of what ethtool shows, its first value
setting() { ethtool "$1" "$net" | sed -n "s/^$2:[[:space:]]*//p" | tail -n 1; }

# resized RX TX: rings have another size, and the interface has started anew
resized()
{
	local before
	before=$(<"/sys/class/net/$net/carrier_changes")
	ethtool -G "$net" rx "$1" tx "$2" && within restarted $((before + 2))
}
restarted() { [ "$(<"/sys/class/net/$net/carrier_changes")" -ge "$1" ] && carrier "$net"; }

# asks_itself: an address that is known is confirmed by a request that goes only there
asks_itself()
{
	local solicit
	reaches "$peer4" || return 1
	solicit=$(<"/proc/sys/net/ipv4/neigh/$net/mcast_solicit")
	echo 0 >"/proc/sys/net/ipv4/neigh/$net/mcast_solicit"
	echo 60 >"/proc/sys/net/ipv4/neigh/$net/ucast_solicit"
	ip neigh change "$peer4" dev "$net" nud probe && within says "REACHABLE" ip neigh show "$peer4" dev "$net" ||
		return 1
	echo "$solicit" >"/proc/sys/net/ipv4/neigh/$net/mcast_solicit"
}

# ---- what is shown, and set ----
ok "the interface has its addresses" connections_up
net=$(net_device)
second=$(net_of 1)
ok "there is one for the second port" test -n "$second"
is "which dev_id knows, too" 0x1 "$(<"/sys/class/net/$second/dev_id")"
is "it has that port's GID" "$(<"$ports/2/gids/0")" "$(gid_of "$second")"
is "ethtool tells the module" ib_ipoib "$(setting -i driver)"
is "the adapter" "$(basename "$(readlink "/sys/class/infiniband/$LAB_DEV/device")")" "$(setting -i bus-info)"
is "and its firmware" "$(<"/sys/class/infiniband/$LAB_DEV/fw_ver")" "$(setting -i firmware-version)"
is "its speed is the port's" "$(sed 's/ Gb.*//' "$ports/1/rate")000" "$(<"/sys/class/net/$net/speed")"
is "it counts" "rx_packets tx_packets rx_bytes tx_bytes tx_errors rx_dropped tx_dropped multicast" \
	"$(ethtool -S "$net" | sed -n 's/^ *\([a-z_]*\): [0-9]*$/\1/p' | paste -sd' ')"
before=$(statistic tx_packets)
ok "the peer answers" ping -q -c 3 -i 0.2 -W $patience "$peer4"
ok "what was sent is counted" within counted $((before + 3))
ok "completions are held back" ethtool -C "$net" rx-usecs 200 rx-frames 4
is "for so long" 200 "$(setting -c rx-usecs)"
is "and for so many" 4 "$(setting -c rx-frames)"
ok "the peer answers" ping -q -c 3 -i 0.2 -W $patience "$peer4"
ok "no more than 16 bits are taken" refused "Invalid argument" ethtool -C "$net" rx-usecs 65536
is "and nothing has changed" 200 "$(setting -c rx-usecs)"
ethtool -C "$net" rx-usecs 0 rx-frames 0
if [ "$module" = ours ]; then
	is "ethtool shows the rings" "256 128" "$(setting -g RX) $(setting -g TX)"
	is "and the parameters them" "256 128" \
		"$(paste -d' ' /sys/module/ib_ipoib/parameters/{recv,send}_queue_size)"
	ok "a part of them will do" resized 64 16
	is "and is shown" "64 16" "$(setting -g RX) $(setting -g TX)"
	lab-barrier limited
	ok "large packets go through it" within ping -q -c 5 -i 0.1 -W 5 -s 60000 "$peer4"
	ok "more than there is will not" refused "exceeds maximum\|Invalid argument" ethtool -G "$net" rx 512
	ok "nor none" refused "Invalid argument" ethtool -G "$net" rx 1
	lab-barrier limits
	ok "all of them again" resized 256 128
	lab-barrier unlimited
fi

ok "connected mode by netlink" ip link set "$net" type ipoib mode connected
ok "ip shows it" shows "$net" "mode  *connected umcast  *0000"
is "sysfs, too" connected "$(<"/sys/class/net/$net/mode")"
lab-barrier connected
ok "a request to one peer alone is answered" asks_itself
ok "mode 2 is refused" refused EINVAL link_info "$net" $IPOIB_MODE 2
ok "and changes nothing" shows "$net" "mode  *connected"
lab-barrier asked
ok "datagram mode by netlink" ip link set "$net" type ipoib mode datagram
lab-barrier datagram
ok "a request to one peer alone is answered" asks_itself
ok "any umcast is taken" link_info "$net" $IPOIB_UMCAST 700
ok "as yes" shows "$net" "mode  *datagram umcast  *0001"
is "sysfs says so" 1 "$(<"/sys/class/net/$net/umcast")"
ok "what is no number is taken there" put word "/sys/class/net/$net/umcast"
is "as no" 0 "$(<"/sys/class/net/$net/umcast")"
ok "a child is made with both" ip link add link "$net" name twin type ipoib mode connected umcast 1
ok "and has them" shows twin "mode  *connected umcast  *0001"
ip link del twin
if [ "$bridges" = 1 ]; then
	modprobe bridge
	ip link add name bridge type bridge
	ok "a bridge does not take it" refused "Invalid argument" ip link set "$net" master bridge
	ip link del bridge
fi

# ---- another name, and network namespaces ----
ip link set "$net" name other
ok "debugfs follows the name" test -e $debug/other_mcg -a -e $debug/other_path -a ! -e "$debug/${net}_mcg"
ip link set other name "$net"
ok "and back" test -e "$debug/${net}_mcg" -a -e "$debug/${net}_path" -a ! -e $debug/other_path
ip netns add far
far_up()
{
	ip link set "$net" netns far && ip -n far addr add "$own4/24" dev "$net" && ip -n far link set "$net" up &&
		within says LOWER_UP ip -n far -o link show "$net"
}
lab-barrier named
ok "it works in a network namespace" far_up
lab-barrier far
ok "the peer answers there" within ip netns exec far ping -q -c 1 -W 2 "$peer4"
ok "a child is made there" ip -n far link add link "$net" name twin type ipoib
lab-barrier far-over
ip -n far link del twin
ip netns del far
ok "it comes back when that dies" within test -e "/sys/class/net/$net"
ok "and has addresses again" own_addresses
lab-barrier back
ok "the peer answers" reaches "$peer4"
lab-barrier back-over

# ---- a GUID ----
old=$(<"/sys/class/net/$net/address")
new=${old%:*:*}:be:ef
ok "the address of an interface that is up stays" refused "busy" ip link set "$net" address "$new"
ip link set "$net" down
ok "of the GID only the GUID can change" refused "Invalid argument" \
	ip link set "$net" address "${old:0:12}fe:81${old:17}"
ok "another GUID" ip link set "$net" address "$new"
is "is shown" "$new" "$(<"/sys/class/net/$net/address")"
ip link set "$net" up
# the second port's interface starts later, and has to ask for as much
ip link set "$second" up
ok "the other port's interface has a carrier" within carrier "$second"
ok "the port does not have it: there is no carrier" no_carrier "$net"
ip link set "$net" down
ip link set "$net" address "$old"
ok "with the port's there is one" own_addresses
lab-barrier guid
ok "and the peer answers" reaches "$peer4"
lab-barrier guid-over

# ---- a bond of both ports; node 2's first cable is pulled ----
modprobe bonding max_bonds=0
bond_up()
{
	ip link set "$net" down && ip link set "$second" down &&
		ip link add name bond type bond mode active-backup miimon 50 fail_over_mac active &&
		ip link set "$net" master bond && ip link set "$second" master bond &&
		ip link set bond up && ip addr add "10.82.0.$LAB_NODE/24" dev bond && within both_carriers
}
both_carriers() { carrier "$net" && carrier "$second"; }
active_is() { [ "$(<"/sys/class/net/bond/bonding/active_slave")" = "$1" ]; }
ok "a bond of both ports" bond_up
lab-barrier bonded
ok "the peer's answers" reaches "10.82.0.$peer"
lab-barrier bond-answered
if [ "$LAB_NODE" = 2 ]; then
	within put "$net" /sys/class/net/bond/bonding/active_slave
	lab-vhcactl link node2-0:1 down
	ok "a cable is pulled: there is no carrier" within no_carrier "$net"
	ok "the bond uses the other port" within active_is "$second"
else
	is "node 1's carrier stays" 1 "$(<"/sys/class/net/$net/carrier")"
	ok "its bond as well" carrier bond
fi
lab-barrier pulled
ok "the peer's answers" reaches "10.82.0.$peer"
lab-barrier pulled-answered
[ "$LAB_NODE" != 2 ] || lab-vhcactl link node2-0:1 up
ok "the cable is there again: so is the carrier" within carrier "$net"
# A node that ends takes its subnet manager along.
lab-barrier cable
ip link del bond
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours --ports 2 --subnet opensm --timeout 400
# check: no
# Addresses with conditions: link-local ones with their scope, those of a bond that fails over, and a
# listener at every address, whose device is removed and comes back.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh

# bond4: the addresses in the net of node 2's bond
bond4=10.80.0.$LAB_NODE bond_server4=10.80.0.1

# net_of PORT: the interface of a port: those of IPoIB count them from 0
net_of()
{
	local dir
	for dir in "/sys/class/infiniband/$LAB_DEV/device/net"/*; do
		[ "$(($(<"$dir/dev_port")))" != $(($1 - 1)) ] || { echo "${dir##*/}"; return; }
	done
	return 1
}

has_carrier() { grep -q 1 "/sys/class/net/$1/carrier"; }

# up NET ADDRESS: brings NET up until it has ADDRESS and can reach others
up()
{
	ip addr replace "$2/24" dev "$1" && solicits "$1" && ip link set "$1" up &&
		within has_carrier "$1"
}

link_local() { ip -6 -o addr show dev "$1" scope link -tentative | awk '{ sub("/.*", "", $4); print $4 }'; }
has_link_local() { [ -n "$(link_local "$1")" ]; }

# first_up: the first port's interface has its addresses, and the peer answers at both. All nodes
# meet here.
first_up()
{
	local peer=$((3 - LAB_NODE))
	within net_of 1 && up "$(net_of 1)" "$own4" && within has_link_local "$(net_of 1)" || return 1
	link_local "$(net_of 1)" >"$LAB_OUT/link-local.$LAB_NODE"
	lab-barrier "up-$1"
	reaches "10.78.0.$peer" && reaches "$(<"$LAB_OUT/link-local.$peer")%$(net_of 1)"
}

pings_link_local()
{
	local address
	address=$(<"$LAB_OUT/link-local.1")%$(net_of 1)
	served rping-link-local cm_listens ended "rping -s -a $address -C 20 -V" rping -c -a "$address" -C 20 -V
}

# endless ADDRESS: a client that runs until it is stopped; its output is in $endless
endless=/tmp/endless
endless()
{
	rping -c -a "$1" -v -C 1000000 >$endless 2>&1 &
	pid=$!
	awaited $pid grep -q "ping data" $endless
}

heard() { within grep "$1" $endless; }

# bonded: bonds node 2's interfaces, of which the first sends
bonded()
{
	local one other
	one=$(net_of 1) other=$(net_of 2)
	modprobe bonding max_bonds=0
	ip addr flush dev "$one" && ip link set "$one" down && ip link set "$other" down &&
		ip link add bond0 type bond mode active-backup miimon 100 &&
		ip link set "$one" master bond0 && ip link set "$other" master bond0 &&
		up bond0 "$bond4" && within active_slave "$one" && reaches $bond_server4
}

# active_slave NET: makes the bond send by NET. That is refused while NET has no carrier.
active_slave() { echo "$1" >/sys/class/net/bond0/bonding/active_slave; }
fails_over() { within active_slave "$(net_of 2)"; }

bond_goes() { ip link del bond0 && first_up again; }

# device_again: removes the device, and brings it back
device_again()
{
	local dev
	dev=$(readlink -f "/sys/class/infiniband/$LAB_DEV/device")
	echo "${dev##*/}" >/sys/bus/pci/drivers/vhca/unbind && echo "${dev##*/}" >/sys/bus/pci/drivers/vhca/bind &&
		within active
}
active() { [ "$(port_state "$LAB_DEV")" = "4: ACTIVE" ]; }

plan $((LAB_NODE == 1 ? 7 : 12))
modprobe ib_ipoib && modprobe rdma_ucm
ok "the first ports have addresses" first_up first
ok "rping at a link-local address" pings_link_local

# Node 1 serves at its address in both nets.
if [ "$LAB_NODE" = 1 ]; then
	rping -s -P >"$LAB_OUT/server" 2>&1 &
	server=$!
	ok "a server" cm_listens $server
	up "$(net_of 1)" "$bond4"
fi
lab-barrier served
pid=
if [ "$LAB_NODE" = 2 ]; then
	ok "two interfaces are a bond" bonded
	endless $bond_server4
	ok "it fails over" fails_over
	ok "the connection's id is told" heard RDMA_CM_EVENT_ADDR_CHANGE
	stopped "$pid"
	is "the client ends when it is told to" 0 $?
	ok "the bond goes" bond_goes
else
	lab-barrier up-again
	stopped $server
	is "the server ends when it is told to" 0 $?
fi
lab-barrier bond-gone

# The manager is in node 1, so that it is node 2 that loses its device.
if [ "$LAB_NODE" = 2 ]; then
	rping -s -P >"$LAB_OUT/server" 2>&1 &
	server=$!
	ok "a server at every address" cm_listens $server
	ok "its device goes and comes" device_again
fi
lab-barrier device
ok "the addresses are there again" first_up device
[ "$LAB_NODE" = 2 ] || ok "and the server takes connections by them" rping -c -a 10.78.0.2 -C 10 -V
lab-barrier connected
[ "$LAB_NODE" = 1 ] || { stopped $server; is "the server ends when it is told to" 0 $?; }
ok "no id is left" within no_ids
lab-barrier ended
finish

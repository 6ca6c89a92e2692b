#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours,distro --subnet none --load modules --timeout 900 --device-arg --topology --device-arg /lab/src/tools/testing/selftests/rdma/detour.json
# What a TCP connection over IPoIB survives while it carries data, in both modes: another subnet manager,
# other LIDs, a partition that is taken away and given back, a link that is cut, a cable that is pulled, the
# module and the device that are removed and come back; and that it ends when its peer is killed.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/ipoib_checks.sh
[ "$module" = ours ] && plan 59 || plan 53

stream=/lab/src/tools/testing/selftests/rdma/ipoib_stream.py
# more bytes than the receiver's socket holds: they were sent after the count was read
more=$((8 << 20))
part4=10.79.0.1
device=$(readlink -f "/sys/class/infiniband/$LAB_DEV/device")
device=${device##*/}

# streams NAME ADDRESS: node 2 sends to this address of node 1, and data arrive
streams()
{
	rm -f /tmp/came
	if [ "$LAB_NODE" = 1 ]; then
		python3 $stream serve "$2" /tmp/came >/tmp/stream 2>&1 &
		carrier_pid=$!
		wait_listen 5005 $carrier_pid
		lab-barrier "$1-listens"
		within came 1
	else
		lab-barrier "$1-listens"
		python3 $stream send "$2" >/tmp/stream 2>&1 &
		carrier_pid=$!
	fi
	lab-barrier "$1-streams"
}
came() { [ "$(<"/tmp/came")" -ge "$1" ]; }

# goes_on NAME: the same connection carries data that are sent after everything that has happened before.
# TCP tries again after at most the time for which there was no path, and at most two minutes.
goes_on()
{
	local rc=0
	if [ "$LAB_NODE" = 1 ]; then
		patience=$((patience + 120)) within came $(($(</tmp/came) + more)) || rc=1
	fi
	lab-barrier "$1-goes-on"
	[ $rc = 0 ] || state
	kill -0 "$carrier_pid" && return $rc
	cat /tmp/stream
	return 1
}

# state: what to look at when no data arrives
state()
{
	ss -tino | grep -A 1 :5005
	ip neigh show
	ip -o link show
	cat /sys/kernel/debug/ipoib/*_path
	dmesg | tail -n 20
}

# stream_ends
stream_ends()
{
	kill "$carrier_pid"
	wait "$carrier_pid"
}

# killed_on NODE: the process there is killed; $end is the status with which the other one ends
killed_on()
{
	local pid=$carrier_pid
	if [ "$LAB_NODE" = "$1" ]; then
		kill -9 "$pid"
		wait "$pid" 2>/dev/null
		end=killed
	else
		ended "$pid"
		end=$?
		commented </tmp/stream
	fi
	lab-barrier "killed-on-$1"
}

# ---- the subnet manager ----
active() { [ "$(port_state "$LAB_DEV")" = "4: ACTIVE" ]; }
guid() { tr -d : <"$port/gids/0" | cut -c17-; }
lid_is() { [ "$(($(<"$port/lid")))" = "$1" ] && active; }
managed_by() { [ "$(($(<"$port/sm_lid")))" = "$1" ] && active; }

# partitions [NAME]: all ports are members of the default partition, and of this one
partitions()
{
	echo "Default=0x7fff, ipoib : ALL=full ;" >/tmp/partitions.conf
	[ $# = 0 ] || echo "$1=0x0001, ipoib : ALL=full ;" >>/tmp/partitions.conf
}

manage() { lab-opensm -P /tmp/partitions.conf; }

# manage_as_known: a manager that finds in its files which LIDs the nodes have
manage_as_known()
{
	local k
	mkdir -p /tmp/opensm
	for k in 1 2; do
		printf '0x%s 0x%04x 0x%04x\n\n' "${guids[k]}" "${lids[k]}" "${lids[k]}"
	done >/tmp/opensm/guid2lid
	manage
}
declare -a guids lids

# addressed: the manager is killed, and started again with the LIDs of $lids for the nodes
addressed()
{
	local rc=0
	if [ "$LAB_NODE" = "$manager" ]; then
		manager_killed
		manage_as_known || rc=1
	fi
	within lid_is "${lids[LAB_NODE]}" && within managed_by "${lids[manager]}" || rc=1
	lab-barrier "addressed-${lids[*]}"
	return $rc
}

# replaced: the manager is killed, and one is started in the other node
replaced()
{
	local rc=0
	[ "$LAB_NODE" != "$manager" ] || manager_killed
	lab-barrier "killed-$manager"
	[ "$LAB_NODE" = "$manager" ] || manage_as_known || rc=1
	within managed_by "${lids[3 - manager]}" || rc=1
	lab-barrier "replaced-$manager"
	return $rc
}

# told: the manager reads its configuration again
told() { [ "$LAB_NODE" != "$manager" ] || kill -HUP "$(</run/lab/opensm)"; }

goes_by() { [ "$(hops "${lids[1]}" "${lids[2]}")" = "$1" ]; }

# ---- interfaces ----

# part_up: this node's address in the partition
part_up()
{
	ip addr replace "10.79.0.$LAB_NODE/24" dev "$part" && solicits "$part" &&
		ip link set "$part" up && within carrier "$part"
}

module_anew() { modprobe -r ib_ipoib && modprobe ib_ipoib && interface_again; }
device_anew()
{
	echo "$device" >/sys/bus/pci/drivers/vhca/unbind &&
		[ ! -e "/sys/class/infiniband/$LAB_DEV" ] &&
		echo "$device" >/sys/bus/pci/drivers/vhca/bind && within active && interface_again
}
interface_again() { own_addresses && mode "$one" && within carrier "$net" && reaches "$peer4"; }
pulled()
{
	lab-vhcactl link "node$LAB_NODE-0" down
	within no_carrier "$net" || return 1
	lab-vhcactl link "node$LAB_NODE-0" up
	within carrier "$net"
}

# ---- the test ----
modprobe ib_umad
partitions part
manager=1
[ "$LAB_NODE" != 1 ] || manage
ok "the port becomes ACTIVE" within active
guid >"$LAB_OUT/guid.$LAB_NODE"
know_lids
for k in 1 2; do
	guids[k]=$(<"$LAB_OUT/guid.$k")
	lids[k]=${lid[k]}
done
ok "the interface has its addresses" connections_up
net=$(net_device)
part=$net.8001
next=16

for one in datagram connected; do
	other=$((3 - manager))
	ok "$one mode" mode "$one"
	lab-barrier "$one"
	streams "$one" "$server4"
	ok "data arrive" goes_on "$one-begun"
	ok "the manager is killed, and the other node has one" replaced
	manager=$other other=$((3 - other))
	ok "data go on" goes_on "$one-replaced"
	for k in 1 2; do
		next=$((next + 1))
		lids[k]=$next
		ok "node $k gets another LID" addressed
		ok "data go on" goes_on "$one-addressed-$k"
	done
	lids=("" "${lids[2]}" "${lids[1]}")
	ok "the nodes exchange their LIDs" addressed
	ok "data go on" goes_on "$one-exchanged"
	if [ "$LAB_NODE" = 1 ]; then
		lab-vhcactl link direct down
	fi
	lab-barrier "$one-cut"
	[ "$LAB_NODE" != "$manager" ] ||
		ok "a link is cut: the way leads over another switch" within goes_by 3
	lab-barrier "$one-rerouted"
	ok "data go on" goes_on "$one-rerouted"
	[ "$LAB_NODE" != 1 ] || lab-vhcactl link direct up
	lab-barrier "$one-uncut"
	[ "$LAB_NODE" != "$manager" ] || ok "the link is there again, and used" within goes_by 2
	lab-barrier "$one-short"
	for k in 1 2; do
		ok "node $k's cable is pulled, and put in again" on $k pulled
		ok "data go on" goes_on "$one-pulled-$k"
	done
	# The distribution's module loses QPs when it goes amid connections, and the kernel warns of what
	# it could not destroy.
	if [ "$module" = ours ] || [ $one = datagram ]; then
		for k in 1 2; do
			ok "node $k's module goes and comes back" on $k module_anew
			ok "data go on" goes_on "$one-module-$k"
		done
		ok "node $other's device goes and comes back" on $other device_anew
		ok "data go on" goes_on "$one-device"
	fi
	stream_ends
	lab-barrier "$one-ended"

	ip link add link "$net" name "$part" type ipoib pkey 0x8001 mode "$one"
	ok "an interface in a partition" part_up
	lab-barrier "$one-part"
	streams "$one-part" "$part4"
	ok "data arrive" goes_on "$one-part-begun"
	partitions
	told
	ok "the port is taken out of the partition: there is no carrier" within no_carrier "$part"
	lab-barrier "$one-out"
	partitions part
	told
	ok "it is taken in again: so is the carrier" within carrier "$part"
	lab-barrier "$one-in"
	ok "data go on" goes_on "$one-in"
	killed_on 2
	[ "$LAB_NODE" != 1 ] || is "the sender is killed, and the connection ends" 0 $end
	streams "$one-again" "$part4"
	killed_on 1
	[ "$LAB_NODE" != 2 ] ||
		ok "the receiver is killed, and the sender told" \
			grep -E "Connection reset by peer|Broken pipe" /tmp/stream
	ip link del "$part"
done
ok "the peer answers" reaches "$peer4"
# A node that ends takes its port along.
lab-barrier judged
finish

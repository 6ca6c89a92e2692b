#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours --ports 2 --link eth,ib --timeout 600
# check: no
# long: --core ours,distro
# One HCA with an Ethernet port and an InfiniBand port, both in use.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/roce_checks.sh
ports=/sys/class/infiniband/$LAB_DEV/ports

link_layers() { cat $ports/1/link_layer $ports/2/link_layer | paste -sd' '; }
states() { cat $ports/1/state $ports/2/state | paste -sd' '; }

# ibstat's words of a port
port_of_ibstat() { ibstat "$LAB_DEV" "$1" | tr -d '\t' | paste -sd';'; }

# what ports have management QPs of a type: numbers of ports
ports_with() { rdma resource show qp | sed -nE "s,^link $LAB_DEV/([12]) .* type $1 .*,\1,p" | sort -u | paste -sd' '; }

# numbers of the ports that have a device node of management
nodes_of() { cat /sys/class/infiniband_mad/"$1"*/port | sort | paste -sd' '; }

# A program on each port at the same time; the arguments are the program and its options
on_both_ports()
{
	local name=$1 gid pid one rc=0 peer=
	shift
	gid=$(find_gid "$roce4") || return 1
	[ "$LAB_NODE" = 1 ] || { lab-barrier "$name-listens"; peer=10.77.0.1; }
	"$@" -d "$LAB_DEV" -i 1 -g "$gid" -p 18515 $peer >"$LAB_OUT/$name-1.node$LAB_NODE" 2>&1 &
	one=$!
	"$@" -d "$LAB_DEV" -i 2 -p 18516 $peer >"$LAB_OUT/$name-2.node$LAB_NODE" 2>&1 &
	pid=$!
	if [ "$LAB_NODE" = 1 ]; then
		wait_listen 18515 "$one" && wait_listen 18516 "$pid" || rc=1
		lab-barrier "$name-listens"
	fi
	ended "$one" || rc=1
	ended "$pid" || rc=1
	lab-barrier "$name-done"
	cat "$LAB_OUT/$name"-[12].node"$LAB_NODE"
	return "$rc"
}

# The subnet manager has given the second port alone a LID.
lids() { echo "$(($(<$ports/1/lid))) $(($(<$ports/2/lid) > 0))"; }

refused() { ! "$@"; }

net_down() { ip link set eth0 down && within grep DOWN $ports/1/state; }
net_up() { ip link set eth0 up && within grep ACTIVE $ports/1/state; }

plan 20
modprobe ib_umad
is "an Ethernet port and an InfiniBand port" "Ethernet InfiniBand" "$(link_layers)"
is "both are active" "4: ACTIVE 4: ACTIVE" "$(states)"
is "the InfiniBand port has a LID" "0 1" "$(lids)"
ok "ibstat shows the Ethernet port" grep -E "State: Active;.*Base lid: 0;.*Link layer: Ethernet" \
	<(port_of_ibstat 1)
ok "and the InfiniBand port" grep -E "State: Active;.*Base lid: [1-9].*Link layer: InfiniBand" \
	<(port_of_ibstat 2)
ok "rdma shows the Ethernet port's net device" \
	grep -E "^link $LAB_DEV/1 state ACTIVE physical_state LINK_UP netdev eth0" <(rdma link show "$LAB_DEV/1")
ok "and the InfiniBand port's LID" \
	grep -E "^link $LAB_DEV/2 .*lid [1-9].* state ACTIVE physical_state LINK_UP" <(rdma link show "$LAB_DEV/2")
is "the subnet is managed by the InfiniBand port alone" 2 "$(ports_with SMI)"
is "connections are managed by both" "1 2" "$(ports_with GSI)"
is "a subnet manager can run on the InfiniBand port alone" 2 "$(nodes_of issm)"
ok "the InfiniBand port answers subnet management" smpquery -C "$LAB_DEV" -P 2 -D nodeinfo 0
ok "the Ethernet port does not" refused smpquery -C "$LAB_DEV" -P 1 -D nodeinfo 0
ok "addresses have GIDs on the Ethernet port" roce_up
for program in rc uc; do
	ok "ibv_${program}_pingpong -c on both ports" \
		on_both_ports $program "ibv_${program}_pingpong" -c -n 100 -s 4096
done
ok "ibv_ud_pingpong -c on both ports" on_both_ports ud ibv_ud_pingpong -c -n 100 -s 1000
ok "ibv_rc_pingpong -c on both ports, woken by events" \
	on_both_ports events ibv_rc_pingpong -c -e -n 100 -s 65537
# The InfiniBand port knows nothing of the net device.
lab-barrier talked
ok "the Ethernet port goes down with its net device" net_down
is "the InfiniBand port stays" "1: DOWN 4: ACTIVE" "$(states)"
ok "the Ethernet port comes back with it" net_up
finish

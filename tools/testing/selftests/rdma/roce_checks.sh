# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Checks of RoCE v2 between two guests: sourced behind lib.sh and connections.sh. Node K has the
# addresses 10.77.0.K, which the lab gave it, and fd00:77::K on the net device of its RDMA device.
# Port $roce_port of that is looked at and used.
# shellcheck shell=bash

roce4=10.77.0.$LAB_NODE roce6=fd00:77::$LAB_NODE
server4=10.77.0.1 server6=fd00:77::1
roce_port=1

port_attr() { cat "/sys/class/infiniband/$LAB_DEV/ports/$roce_port/$1"; }

# roce_netdev: the net device that the port stands on
roce_netdev() { port_attr gid_attrs/ndevs/0; }

# as_gid ADDRESS: the GID made of an address, as sysfs writes it; of one of IPv6 that has "::"
as_gid()
{
	local before after gid=() word
	if [[ $1 != *:* ]]; then
		# shellcheck disable=SC2086
		printf '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x\n' ${1//./ }
		return
	fi
	IFS=: read -ra before <<<"${1%%::*}"
	IFS=: read -ra after <<<"${1#*::}"
	for word in "${before[@]}"; do gid+=("$word"); done
	while [ $((${#gid[@]} + ${#after[@]})) -lt 8 ]; do gid+=(0); done
	gid+=("${after[@]}")
	printf -v word '%04x:' "${gid[@]/#/0x}"
	echo "${word%:}"
}

# find_gid ADDRESS: prints at which index of the port's table the address stands, on RoCE v2
find_gid()
{
	local dir=/sys/class/infiniband/$LAB_DEV/ports/$roce_port i
	for i in $(grep -lsx "$(as_gid "$1")" "$dir"/gids/? "$dir"/gids/??); do
		i=${i##*/}
		grep -qsx "RoCE v2" "$dir/gid_attrs/types/$i" && echo "$i" && return 0
	done
	return 1
}

# show_gids: what stands in the port's table, and on which addresses it should stand
show_gids()
{
	local dir=/sys/class/infiniband/$LAB_DEV/ports/$roce_port
	grep -v 0000:0000:0000:0000:0000:0000:0000:0000 "$dir"/gids/*
	grep . "$dir"/gid_attrs/*/* 2>/dev/null
	ip -o addr show
}

# roce_up: the addresses are there and in the table, and the peer answers. All nodes meet here.
roce_up()
{
	local net k
	within roce_netdev || return 1
	net=$(roce_netdev)
	ip addr replace "$roce6/64" dev "$net" nodad || return 1
	within find_gid "$roce4" && within find_gid "$roce6" || { show_gids; return 1; }
	lab-barrier roce-addresses
	for ((k = 1; k <= LAB_NODES; k++)); do
		within ping -q -c 1 -W 20 "10.77.0.$k" && within ping -q -c 1 -W 20 "fd00:77::$k" || return 1
	done
	lab-barrier roce-reached
}

# settings: configfs has a folder for rdma_cm
settings()
{
	modprobe configfs
	mountpoint -q /sys/kernel/config || mount -t configfs configfs /sys/kernel/config || return 1
	[ -d /sys/kernel/config/rdma_cm ]
}

# gids: both addresses of this node have theirs
gids() { within find_gid "$roce4" && within find_gid "$roce6"; }

# rxe_on NET: rdma_rxe stands on a net device
rxe_on()
{
	modprobe -a crc32_generic ib_uverbs rdma_rxe && rdma link add rxe0 type rxe netdev "$1" &&
		rdma link show rxe0/1
}

# roce_mtu BYTES: frames of all nodes
roce_mtu()
{
	ip link set "$(roce_netdev)" mtu "$1" || return 1
	lab-barrier "roce-mtu-$1"
}

# roce_pair NAME FAMILY PROGRAM OPTION...: PROGRAM with the GID of this node's address
roce_pair()
{
	local name=$1 address=$roce4 option=-g index
	[ "$2" = 4 ] || address=$roce6
	shift 2
	case $1 in ib_*) option=-x ;; esac
	# perftest takes the most that its own device has, and two devices may differ
	case $1 in ib_read_* | ib_atomic_*) set -- "$@" -o 16 ;; esac
	index=$(find_gid "$address") || { echo "$address has no GID"; index=255; }
	measured "$name" 18515 "$@" -d "$LAB_DEV" -i "$roce_port" "$option" "$index"
}

roce_pingpongs_plan=12
roce_pingpongs()
{
	local family
	for family in 4 6; do
		ok "ibv_rc_pingpong -c, IPv$family" roce_pair "rc$family" $family ibv_rc_pingpong -c -n 50
		ok "ibv_rc_pingpong -c, IPv$family, 65537 bytes" \
			roce_pair "rc$family-long" $family ibv_rc_pingpong -c -n 20 -s 65537
		ok "ibv_rc_pingpong -c, IPv$family, woken by events" \
			roce_pair "rc$family-events" $family ibv_rc_pingpong -c -e -n 50
		ok "ibv_uc_pingpong -c, IPv$family" roce_pair "uc$family" $family ibv_uc_pingpong -c -n 50
		ok "ibv_ud_pingpong -c, IPv$family" \
			roce_pair "ud$family" $family ibv_ud_pingpong -c -n 50 -s 512
		ok "ibv_ud_pingpong -c, IPv$family, woken by events" \
			roce_pair "ud$family-events" $family ibv_ud_pingpong -c -e -n 50 -s 1000
	done
}

# Jumbo frames hold packets of 4096 bytes. All nodes change together.
roce_jumbo_plan=6
roce_jumbo()
{
	ok "frames of 4500 bytes" roce_mtu 4500
	ok "the port's MTU is 4096" within mtu_is 4096
	ok "ibv_rc_pingpong -c, packets of 4096 bytes" \
		roce_pair rc-4096 4 ibv_rc_pingpong -c -n 20 -s 65537 -m 4096
	ok "ibv_ud_pingpong -c, packets of 4000 bytes" \
		roce_pair ud-4000 6 ibv_ud_pingpong -c -n 20 -s 4000
	ok "frames of 1500 bytes" roce_mtu 1500
	ok "the port's MTU is 1024" within mtu_is 1024
}
# The port follows its net device after a moment.
mtu_is() { [ "$(active_mtu)" = "$1" ]; }
active_mtu() { ibv_devinfo -d "$LAB_DEV" -i 1 | sed -n 's/.*active_mtu:[[:space:]]*\([0-9]*\).*/\1/p'; }

roce_perftest_plan=11
roce_perftest()
{
	local c
	for c in send_bw write_bw read_bw; do
		ok "ib_$c, RC" roce_pair "$c" 4 "ib_$c" -F -n 200 -s 16384
	done
	for c in send_lat write_lat read_lat; do
		ok "ib_$c, RC, IPv6" roce_pair "$c" 6 "ib_$c" -F -n 200 -s 64
	done
	ok "ib_atomic_bw FETCH_AND_ADD" roce_pair atomic_bw 4 ib_atomic_bw -F -A FETCH_AND_ADD -n 200
	ok "ib_atomic_lat CMP_AND_SWAP" roce_pair atomic_lat 4 ib_atomic_lat -F -A CMP_AND_SWAP -n 200
	ok "ib_send_bw, UC" roce_pair send_bw-uc 4 ib_send_bw -F -c UC -n 200 -s 4096
	ok "ib_write_bw, UC" roce_pair write_bw-uc 6 ib_write_bw -F -c UC -n 200 -s 4096
	ok "ib_send_lat, UD" roce_pair send_lat-ud 4 ib_send_lat -F -c UD -n 200 -s 64
}

# Every request that both devices have, in both directions
roce_opcodes_plan=2
roce_opcodes()
{
	local family
	for family in 4 6; do
		ok "every opcode both ways, IPv$family" roce_pair "opcodes$family" $family $programs/opcodes
	done
}

# A net device above the port's has addresses in a VLAN; frames of their GIDs have its tag.
roce_vlan_up()
{
	local net
	net=$(roce_netdev)
	ip link add link "$net" name roce7 type vlan id 7 && ip link set roce7 up &&
		ip addr add "10.79.7.$LAB_NODE/24" dev roce7 &&
		ip addr add "fd00:79::$LAB_NODE/64" dev roce7 nodad &&
		within find_gid "10.79.7.$LAB_NODE" && within find_gid "fd00:79::$LAB_NODE" ||
		return 1
	lab-barrier roce-vlan
	# The first look for a neighbour may come before the other adapter listens to its group, and a QP
	# waits for one look alone.
	within ping -q -c 1 -W 20 "10.79.7.$((3 - LAB_NODE))" &&
		within ping -q -c 1 -W 20 "fd00:79::$((3 - LAB_NODE))" || return 1
	lab-barrier roce-vlan-reached
}

roce_vlan_plan=6
roce_vlan()
{
	local roce4=10.79.7.$LAB_NODE roce6=fd00:79::$LAB_NODE
	ok "addresses in a VLAN have GIDs" roce_vlan_up
	ok "ibv_rc_pingpong -c, in a VLAN" roce_pair vlan-rc 4 ibv_rc_pingpong -c -n 20
	ok "ibv_uc_pingpong -c, in a VLAN, IPv6" roce_pair vlan-uc 6 ibv_uc_pingpong -c -n 20
	ok "ibv_ud_pingpong -c, in a VLAN" roce_pair vlan-ud 4 ibv_ud_pingpong -c -n 20 -s 512
	ok "ibv_ud_pingpong -c, in a VLAN, IPv6" roce_pair vlan-ud6 6 ibv_ud_pingpong -c -n 20 -s 512
	ok "the VLAN goes" ip link del roce7
}

# once COMMAND...: in the first node alone, between two meetings
once()
{
	local rc=0
	lab-barrier roce-before
	[ "$LAB_NODE" != 1 ] || "$@" || rc=$?
	lab-barrier roce-after
	return $rc
}

# One packet of a hundred is lost on its way to or from an HCA. Connections repeat it.
roce_loss_plan=9
roce_loss()
{
	local c
	ok "1 % of the packets of connections get lost" once lab-fault loss all permille=10 opcode=RC
	# whose ends wait for each other before they go: the last acknowledgement may be lost, too
	ok "loss: every opcode both ways" roce_pair loss-opcodes 4 $programs/opcodes -t 17
	for c in "send_bw -s 16384" "write_bw -s 16384" "read_bw -s 16384" "send_lat -s 64" \
		"atomic_bw -A FETCH_AND_ADD"; do
		# shellcheck disable=SC2086
		ok "loss: ib_${c%% *}" roce_pair "loss-${c%% *}" 4 ib_$c -F -n 200
	done
	ok "loss: packets were lost" once sh -c 'lab-vhcactl status | grep "struck [1-9]"'
	ok "loss ends" once lab-fault clear all
}

# roce_ping ADDRESS OPTION...: rping's client checks what comes back
roce_ping()
{
	local address=$1
	shift
	served "rping$*-$address" cm_listens ended "rping -s -a $address -V $*" rping -c -a "$address" -V "$@"
}

roce_rping_plan=3
roce_rping()
{
	ok "there are programs' connections" modprobe rdma_ucm
	ok "rping over IPv4" roce_ping $server4 -C 50
	ok "rping over IPv6, 4096 bytes" roce_ping $server6 -C 20 -S 4096
}

# A net device for VLAN 0 gives frames a tag that says a priority and no VLAN. Node 2 calls from one, and
# counts such frames and those without a tag; the answers, which have none, are for its other address.
roce_priority_up()
{
	local net mac to="ip_proto udp dst_ip 10.79.3.1 dst_port 4791 action pass"
	net=$(roce_netdev)
	if [ "$LAB_NODE" = 1 ]; then
		ip addr add 10.79.3.1/24 dev "$net" || return 1
	else
		mac=$(ip neigh show 10.77.0.1 dev "$net" | sed -n 's/.*lladdr \([0-9a-f:]*\).*/\1/p')
		# shellcheck disable=SC2086
		ip link add link "$net" name roce0 type vlan id 0 egress-qos-map 0:3 && ip link set roce0 up &&
			ip addr add 10.79.3.2/32 dev "$net" && ip addr add 10.79.3.2/24 dev roce0 &&
			ip neigh replace 10.79.3.1 lladdr "$mac" dev roce0 nud permanent &&
			tc qdisc add dev "$net" clsact &&
			tc filter add dev "$net" egress pref 1 protocol 802.1Q flower vlan_id 0 vlan_prio 3 \
				vlan_ethtype ipv4 $to &&
			tc filter add dev "$net" egress pref 2 protocol ip flower $to &&
			within roce_priority_gids || return 1
	fi
	within find_gid "10.79.3.$LAB_NODE" || return 1
	lab-barrier roce-priority
}
roce_priority_gids()
{
	[ "$(grep -lsx "$(as_gid 10.79.3.2)" /sys/class/infiniband/rxe0/ports/1/gids/* | wc -l)" = 2 ]
}

# Frames of all connections had the tag: the first request, too
roce_priority_tags()
{
	local tagged other
	# shellcheck disable=SC2046
	set -- $(tc -s filter show dev "$(roce_netdev)" egress | sed -n 's/.*Sent [0-9]* bytes \([0-9]*\) pkt.*/\1/p')
	tagged=$1 other=$2
	echo "$tagged frames with the tag, $other without"
	[ "$tagged" -ge 20 ] && [ "$other" = 0 ]
}

roce_priority_down()
{
	local net
	net=$(roce_netdev)
	ip addr del "10.79.3.$LAB_NODE/$([ "$LAB_NODE" = 1 ] && echo 24 || echo 32)" dev "$net" || return 1
	[ "$LAB_NODE" = 1 ] || { ip link del roce0 && tc qdisc del dev "$net" clsact; }
}

roce_priority_plan=$((3 + (LAB_NODE == 2)))
roce_priority()
{
	ok "a net device gives frames a priority" roce_priority_up
	ok "rping with a priority" roce_ping 10.79.3.1 -C 20
	[ "$LAB_NODE" = 1 ] || ok "its frames have a tag with that alone" roce_priority_tags
	ok "the priority goes" roce_priority_down
}

# roce_cmtime: 50 connections at a time, with QPs and without
roce_cmtime()
{
	served cmtime cmtime_listens ended "cmtime -b $server4 -c 50" cmtime -b "$roce4" -s $server4 -c 50
}
cmtime_listens() { wait_listen 7471 "$1"; }

# Datagrams are few enough that the segment has room for all of them: a lost one is not sent again.
roce_rxe_perftest_plan=3
roce_rxe_perftest()
{
	ok "ib_send_bw, UD, both ways" roce_pair send_bw-ud 4 ib_send_bw -F -b -c UD -n 100 -s 512
	ok "ib_send_lat, UC" roce_pair send_lat-uc 4 ib_send_lat -F -c UC -n 200 -s 64
	ok "ib_write_lat, UC, IPv6" roce_pair write_lat-uc 6 ib_write_lat -F -c UC -n 200 -s 64
}

# All of it between an HCA's port in the first node and rxe0 in the second.
roce_rxe_plan=$((1 + roce_pingpongs_plan + roce_jumbo_plan + roce_perftest_plan + roce_opcodes_plan +
	roce_rxe_perftest_plan + roce_vlan_plan + roce_loss_plan + roce_rping_plan + roce_priority_plan + 1))
roce_rxe()
{
	[ "$LAB_NODE" = 1 ] || LAB_DEV=rxe0
	ok "addresses have GIDs" roce_up
	roce_pingpongs
	roce_jumbo
	roce_perftest
	roce_rxe_perftest
	roce_opcodes
	roce_vlan
	roce_loss
	roce_rping
	roce_priority
	ok "cmtime" roce_cmtime
}

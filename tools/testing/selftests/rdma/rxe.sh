#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours,distro --hca 0 --timeout 900
# rdma_rxe, compiled from Linux's source against our headers, on our core, and the distribution's on
# its own: the same checks. GIDs follow net devices, and the distribution's programs talk by them.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
here=/lab/src/tools/testing/selftests/rdma
LAB_DEV=rxe0
server4=10.77.0.1 own4=10.77.0.$LAB_NODE

# place ADDRESS: index of its GID
place()
{
	local file=/sys/class/infiniband/rxe0/ports/1/gids words
	words=$(python3 -c 'import ipaddress, sys
packed = ipaddress.ip_address(sys.argv[1]).packed
print((packed if len(packed) == 16 else b"\0" * 10 + b"\xff\xff" + packed).hex(":", 2))' "$1")
	grep -lx "$words" $file/? | sed 's,.*/,,'
}

has_gid() { [ -n "$(place "$1")" ]; }

# addresses_up: eth0 has IPv6 too, and a VLAN; all have GIDs
addresses_up()
{
	local eth
	eth=$(ip -o -4 addr show | awk -v own="$own4/" 'index($4, own) == 1 { print $2 }')
	ip addr replace "$own6/64" dev "$eth" nodad && ip link add link "$eth" name vlan7 type vlan id 7 &&
		ip link set vlan7 up && ip addr add "10.79.7.$LAB_NODE/24" dev vlan7 &&
		rdma link add rxe0 type rxe netdev "$eth" && within has_gid "$own4" &&
		within has_gid "$own6" && within has_gid "10.79.7.$LAB_NODE"
}

# eth PROGRAM OPTION...: it talks by the GID of eth0's IPv4 address, index $gid
talk() { pair "$1-$tap_n" 18515 "$@" -d rxe0 -g "$gid"; }
perf() { pair "$1-$tap_n" 18515 "$@" -d rxe0 -x "$gid" -F; }

plan 28
modprobe -a crc32_generic ib_uverbs rdma_ucm rdma_rxe
case $LAB_CORE:$(modinfo -n rdma_rxe) in
ours:*/updates/* | distro:*/kernel/* | stock:*/kernel/*) where=right ;;
*) where="$LAB_CORE $(modinfo -n rdma_rxe)" ;;
esac
is "rdma_rxe is the one for this core" right "$where"

# The net devices are of one guest alone, and so the guests share the work.
parts="uppers bond"
[ "$LAB_NODE" != 1 ] || parts="addresses mac used"
# shellcheck disable=SC2086
ok "GIDs follow net devices: $parts" python3 $here/rxe_gids.py $parts

ok "rxe0 stands on eth0" addresses_up
ok "its port is active" within sh -c "rdma link show rxe0/1 | grep 'state ACTIVE'"
ok "ibv_devinfo shows RoCE v2" sh -c "ibv_devinfo -v -d rxe0 | tee /dev/stderr | grep -q 'RoCE v2'"
lab-barrier addresses
gid=$(place "$own4")
for program in rc uc ud; do
	ok "ibv_${program}_pingpong" talk "ibv_${program}_pingpong" -c -n 50
done
ok "ibv_rc_pingpong, woken by events" talk ibv_rc_pingpong -c -e -n 50
ok "ibv_srq_pingpong" talk ibv_srq_pingpong -c -n 20
for program in "send_bw -c RC" "send_bw -c UD" "send_bw -c UC" write_bw read_bw send_lat write_lat; do
	# shellcheck disable=SC2086
	ok "ib_$program" perf ib_$program -s 1024 -n 200
done
ok "ib_atomic_bw" perf ib_atomic_bw -n 200

gid=$(place "$own6")
ok "ibv_rc_pingpong over IPv6" talk ibv_rc_pingpong -c -n 50
ok "ibv_ud_pingpong over IPv6" talk ibv_ud_pingpong -c -n 50
gid=$(place "10.79.7.$LAB_NODE")
ok "ibv_rc_pingpong in a VLAN" talk ibv_rc_pingpong -c -n 50

ok "rping" served rping cm_listens ended "rping -s -a $server4 -V -C 50" rping -c -a $server4 -V -C 50
ok "rping over IPv6" served rping6 cm_listens ended "rping -s -a $server6 -V -C 50" \
	rping -c -a $server6 -V -C 50
ok "ucmatose" over4 ucmatose -c 10 -C 5
ok "udaddy" over4 udaddy -C 10
ok "no id is left" no_ids

lab-barrier talked
ok "the device goes" rdma link del rxe0
ok "nothing is left of it" sh -c 'ip link del vlan7 && rmmod rdma_rxe && ! rdma link show | grep rxe0'
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours --subnet opensm --cpus 2 --hca 2 --kernel kcsan --timeout 7200 -- 900
# races.sh SECONDS: everything at once for SECONDS. Threads make, use and destroy objects they share; a
# second HCA is removed under them and comes back; ports are looked at by sysfs, netlink, MADs and the
# subnet administration; kernel consumers are loaded and unloaded; connections are made and ended; IPoIB's
# interface goes down and changes its mode under packets. What is not removed works, and each of them gets
# at least one turn. The kernel reports races.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
[ "$LAB_NODE" = 1 ] && plan 10 || plan 9

seconds=${1:-60}
for second in /sys/class/infiniband/*; do second=${second##*/}; [ "$second" = "$LAB_DEV" ] || break; done

# turns FILE COMMAND...: again and again until the time is over; FILE gets the number of turns that
# succeeded, and the output of the first that did not
turns()
{
	local file=/tmp/turns.$1 n=0
	shift
	while [ "$SECONDS" -lt "$deadline" ]; do
		"$@" >"$file.said" 2>&1 || { echo "after $n: $* failed" >"$file"; return 1; }
		n=$((n + 1))
	done
	echo "$n" >"$file"
}

# had NAME: it took its turns
had() { cat "/tmp/turns.$1"; [ "$(cat "/tmp/turns.$1")" -gt 0 ] 2>/dev/null || { cat "/tmp/turns.$1.said"; return 1; }; }

# again_for WORDS COMMAND...: also when it fails with these words, which is what a program says that lists all
# HCAs, and looks at each of them, when the second has come or gone in between. libibumad does so whichever
# is asked for, and fails with -1.
again_for()
{
	local words=$1 said=/tmp/again.$BASHPID
	until "${@:2}" >"$said" 2>&1; do
		grep -qF "$words" "$said" || { cat "$said"; return 1; }
	done
}

share() { "$programs/shared_storm" "$LAB_DEV" 200 $RANDOM; }

look()
{
	local what
	for what in "resource show "{qp,cq,mr,pd,cm_id,ctx,srq} "dev show" "link show"; do
		# shellcheck disable=SC2086
		again_for "no device has index" rdma -d $what || return 1
	done
	rdma statistic show link "$LAB_DEV/1" &&
		cat /sys/class/infiniband/"$LAB_DEV"/ports/1/{state,lid,rate,gids/0,pkeys/0,hw_counters/*}
}

# The second HCA may be removed amid its checks.
consume() { modprobe rdma_kverbs && modprobe -r rdma_kverbs; }

# The subnet manager has much to do, as HCAs come and go.
ask()
{
	local one
	saquery -t $((patience * 1000)) -C "$LAB_DEV" NR || return 1
	for one in "smpquery -t 60000 -C $LAB_DEV portinfo -D 0" "perfquery -t 60000 -C $LAB_DEV"; do
		# shellcheck disable=SC2086
		again_for "Can't open UMAD port (Operation not permitted)" $one || return 1
	done
}

take_away() { "$programs/srq_removal" "$second" 1 unbind; }

# rping waits for its path for two seconds, and the subnet manager may have more to do.
connect() { again_for "RDMA_CM_EVENT_ROUTE_ERROR, error -110" rping -c -a $server4 -C 20 -V -S 4096; }

# the interface of this node, whose peer asks for answers all the time
change()
{
	local net
	net=$(net_device)
	ip link set "$net" down && sleep 0.2 && echo connected >"/sys/class/net/$net/mode" && ip link set "$net" up &&
		sleep 0.5 && echo datagram >"/sys/class/net/$net/mode" && sleep 0.5
}

packets() { ping -q -f -c 500 -W 1 "10.78.0.$((3 - LAB_NODE))" || true; }

# together SECONDS NAME...: all of them at once in this node, beside those of the other
together()
{
	local name pids=()
	deadline=$((SECONDS + $1))
	shift
	for name in "$@"; do
		turns "$name" "$name" &
		pids+=($!)
	done
	wait "${pids[@]}"
	for name in "$@"; do
		ok "$name" had "$name"
	done
}

ok "ports have addresses" connections_up
if [ "$LAB_NODE" = 1 ]; then
	rping -s -P -a $server4 >/tmp/rping 2>&1 &
	server=$!
	ok "a server" cm_listens $server
fi
lab-barrier begun
if [ "$LAB_NODE" = 1 ]; then
	together "$seconds" share look consume ask take_away
	stopped $server >/dev/null
else
	together "$seconds" share look consume ask take_away connect
fi
lab-barrier connected
# Now the interface goes down under packets, which is what connections could not stand.
if [ "$LAB_NODE" = 1 ]; then
	together $((seconds / 3)) share look packets
else
	together $((seconds / 3)) packets change
fi
lab-barrier over
finish

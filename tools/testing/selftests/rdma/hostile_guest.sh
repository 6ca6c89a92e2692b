#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 3 --core ours --iommu --timeout 600 -- 120 1
# hostile_guest.sh [TIME [SEED]]: for TIME seconds nodes 1 and 2 exchange messages, turn by turn. In every
# other turn node 3 misuses its HCA (rdma_khostile); in those between it is as busy, and leaves the HCA
# alone. The messages arrive as they were sent, and in time.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh

time=${1:-120} seed=${2:-1}
MOST=8		# times as long may a message take, by the medians
MESSAGES=1000	# of a turn, each way
FEWEST=10	# turns
good=0

hostile() { cat "/sys/module/rdma_khostile/parameters/$1"; }
moved() { [ "$(hostile acts)" != "$1" ]; }
device=$(readlink -f "/sys/class/infiniband/$LAB_DEV/device")
slot=${device##*/}
bus=/sys/bus/pci

taken()
{
	modprobe rdma_khostile seed="$seed" && echo "$slot" >$bus/drivers/vhca/unbind &&
		echo rdma_khostile >"$device/driver_override" && echo "$slot" >$bus/drivers_probe &&
		[ -e "$bus/drivers/rdma_khostile/$slot" ]
}

given_back()
{
	echo "$slot" >$bus/drivers/rdma_khostile/unbind && echo >"$device/driver_override" &&
		echo "$slot" >$bus/drivers/vhca/bind && rmmod rdma_khostile
}

active() { [ "$(port_state "$LAB_DEV")" = "4: ACTIVE" ]; }

works() { within active && talk_alone -c -n 100; }

# behave TURN: node 3, as this turn wants it
behave()
{
	local before
	before=$(hostile acts)
	if [ $(($1 % 2)) = 0 ]; then
		echo 1 >/sys/module/rdma_khostile/parameters/mode
	else
		echo 2 >/sys/module/rdma_khostile/parameters/mode
		within moved "$before"
	fi
}

# exchange TURN: nodes 1 and 2; node 2 records the time of each message
exchange()
{
	local rc=0 words=(-d "$LAB_DEV" -p 18600 -c -e -n "$MESSAGES" -s 4096)
	if [ "$LAB_NODE" = 1 ]; then
		ibv_rc_pingpong "${words[@]}" >/tmp/exchange 2>&1 &
		wait_listen 18600 $! || rc=1
		lab-barrier "listens-$1"
		ended $! || rc=1
	else
		lab-barrier "listens-$1"
		ibv_rc_pingpong "${words[@]}" 10.77.0.1 >/tmp/exchange 2>&1 || rc=1
		sed -n 's|.* = \([0-9.]*\) usec/iter$|\1|p' /tmp/exchange >>"/tmp/took.$(($1 % 2))"
	fi
	[ "$rc" = 0 ] || commented </tmp/exchange
	return "$rc"
}

median() { sort -n "$1" | awk '{ n[NR] = $1 } END { print n[int((NR + 1) / 2)] }'; }

# in_time: beside the hostile guest a message takes at most MOST times as long
in_time()
{
	local undisturbed disturbed
	undisturbed=$(median /tmp/took.0) disturbed=$(median /tmp/took.1)
	echo "$turns turns, usec: $undisturbed undisturbed, $disturbed beside it"
	awk -v a="$undisturbed" -v b="$disturbed" -v most=$MOST \
		'BEGIN { exit !(a > 0 && b > 0 && b <= most * a) }'
}

case $LAB_NODE in
1) plan 1 ;;
2) plan 2 ;;
3)
	plan 6
	ok "a driver takes the HCA that does what it likes" taken
	;;
esac
rm -f "$LAB_OUT/over"	# of an earlier run
lab-barrier taken
SECONDS=0
for ((turn = 1; ; turn++)); do
	if [ "$LAB_NODE" = 1 ] && [ "$SECONDS" -ge "$time" ] && [ "$turn" -gt $FEWEST ]; then
		: >"$LAB_OUT/over"
	fi
	lab-barrier "turn-$turn"
	[ ! -e "$LAB_OUT/over" ] || break
	[ "$LAB_NODE" != 3 ] || { behave "$turn" && good=$((good + 1)); }
	lab-barrier "behaves-$turn"
	if [ "$LAB_NODE" != 3 ]; then
		exchange "$turn" && good=$((good + 1))
	else
		lab-barrier "listens-$turn"
	fi
done
turns=$((turn - 1))
case $LAB_NODE in
1 | 2) is "each message arrives as it was sent" "$turns" "$good" ;;
3)
	is "it is hostile in its turns" "$turns" "$good"
	echo 0 >/sys/module/rdma_khostile/parameters/mode
	sessions=$(hostile sessions)
	echo "# seed $seed: $sessions sessions, $(hostile acts) acts"
	ok "often enough" test "$(hostile acts)" -ge $((turns * 100))
	;;
esac
[ "$LAB_NODE" != 2 ] || ok "and in time" in_time
if [ "$LAB_NODE" = 3 ]; then
	is "each session begins as the interface says" 0 "$(hostile stuck)"
	ok "the HCA has its own driver again" given_back
	ok "and works" works
fi
finish

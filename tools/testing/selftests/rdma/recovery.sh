#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 1 --core ours --cpus 2 --hca 2 --subnet opensm --pciehp --timeout 900
# recovery.sh [ROUNDS [KIND...]]: each kind of failure under each kind of load. Programs that use verbs and
# MADs, a connection by address, packets of IPoIB and a kernel consumer have the second HCA of the guest;
# the subnet manager is on the first. When the HCA is lost each program ends by itself, the kernel consumer
# is told, a new device comes, all of it works again, and nothing is left. A failure that only takes time
# has no other effect.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/verbs_load.sh
. /lab/src/tools/testing/selftests/rdma/aer_report.sh

rounds=${1:-1}
kinds=${*:2}
kinds=${kinds:-unbind remove reset aer sleep fatal stuck lies interrupt late pause}
plan $((4 + rounds * $(wc -w <<<"$kinds") * 12 + 4))

# A command that is stuck takes a minute, until the driver gives it up.
patience=300
for victim in /sys/class/infiniband/*; do victim=${victim##*/}; [ "$victim" = "$LAB_DEV" ] || break; done
device=$(readlink -f "/sys/class/infiniband/$victim/device")
slot=${device##*/}
bus=/sys/bus/pci
own=node1-1		# what the daemon calls it
near=10.79.0.1 far=10.79.0.2
declare -a cm
umad='' asks='' ipoib=''

inside() { ip netns exec away "$@"; }
# to be run in the background, where it has the program's process id
become_inside() { exec ip netns exec away "$@"; }
kverbs() { cat "/sys/module/rdma_kverbs/parameters/$1"; }

# ---- the device ---------------------------------------------------------------------------------

which_device() { stat -c %i "/sys/class/infiniband/$victim" 2>/dev/null; }
gone() { [ "$(which_device)" != "$was" ]; }
another_is_active() { gone && [ "$(port_state "$victim")" = "4: ACTIVE" ]; }
interface() { basename "$(realpath -e "$1"/net/*)"; }
far_carrier() { inside grep -q 1 "/sys/class/net/$1/carrier"; }

# has_address DEVICE-PATH ADDRESS: its interface, here
has_address()
{
	local net
	within interface "$1" || return 1
	net=$(interface "$1")
	ip addr add "$2/24" dev "$net" && solicits "$net" && ip link set "$net" up
}

# far_away: the interface of the HCA is in another network namespace, so that packets between here and
# there go over the fabric
far_away()
{
	local net
	within interface "$device" || return 1
	net=$(interface "$device")
	ip link set "$net" netns away && inside ip addr add $far/24 dev "$net" &&
		inside bash -c "$(declare -f solicits); solicits $net" && inside ip link set "$net" up &&
		within far_carrier "$net" && within inside ping -q -c 1 -w 20 $near
}

comes_back() { within another_is_active && far_away; }

# ---- loads: each begins, goes on, and ends by itself ------------------------------------------------

line_count() { [ "$(wc -l <"$1")" -ge "$2" ]; }
grows() { within line_count "$1" $(($(wc -l <"$1") + 2)); }

# One waits for a MAD that is never sent; others, one by one, send requests.
umad_begins()
{
	cat "$(echo "$device"/infiniband_mad/umad* | sed 's|.*/|/dev/infiniband/|')" >/tmp/heard 2>&1 &
	umad=$!
	: >/tmp/asked
	while smpquery -C "$victim" -t 60000 -D nodeinfo 0 >/tmp/asking 2>&1; do echo >>/tmp/asked; done &
	asks=$!
}
umad_goes_on() { kill -0 "$umad" && grows /tmp/asked || { cat /tmp/heard /tmp/asking; return 1; }; }

cm_begins()
{
	: >/tmp/rping
	become_inside rping -s -a $far >/tmp/rping.server 2>&1 &
	cm=($!)
	cm_listens $! || return 1
	become_inside stdbuf -oL rping -c -v -a $far >/tmp/rping 2>&1 &
	cm+=($!)
}
cm_goes_on() { grows /tmp/rping || { cat /tmp/rping.server; tail /tmp/rping; return 1; }; }

ipoib_begins()
{
	: >/tmp/pings
	become_inside stdbuf -oL ping -i 0.02 $near >/tmp/pings 2>&1 &
	ipoib=$!
}
ipoib_goes_on() { grows /tmp/pings; }

begins()
{
	uverbs_begins && umad_begins && cm_begins && ipoib_begins
	for load in uverbs umad cm ipoib; do
		ok "$1: $load" ${load}_goes_on
	done
}

# ---- failures -----------------------------------------------------------------------------------

back_by_reset() { within gone && echo 1 >"$device/reset"; }

by_unbind() { echo "$slot" >$bus/drivers/vhca/unbind && within gone && echo "$slot" >$bus/drivers/vhca/bind; }
by_remove() { echo 1 >"$device/remove" && within gone && echo 1 >$bus/rescan; }
by_unplug() { lab-plug out 1 && within gone && lab-plug in 1; }
by_reset() { echo 1 >"$device/reset"; }
by_aer() { report "$slot" 0x40000 0; }
by_sleep()
{
	modprobe rdma_alone_asleep adapter="$slot" && echo devices >/sys/power/pm_test &&
		echo freeze >/sys/power/state && rmmod rdma_alone_asleep
}
by_fatal() { lab-fault fatal $own && back_by_reset; }
by_stuck() { lab-fault command $own answer=none && back_by_reset; }
by_lies()
{
	lab-fault completion $own seed="$round" count=50 , fault event $own lie=kind && within gone &&
		lab-fault clear $own && echo 1 >"$device/reset"
}

by_interrupt() { lab-fault interrupt $own count=8; }
by_late() { lab-fault command $own delay=500 count=5; }
by_pause() { lab-pause 2000; }

# consumer_met N: the kernel consumer has tried N devices
consumer_met() { [ $(($(kverbs passed) + $(kverbs failed))) -ge $(($1 * checks)) ]; }

# lost KIND, and kept KIND: what becomes of the users of the HCA: six checks
lost()
{
	over "${uverbs[@]}"
	is "$1: programs of verbs end" 0 $?
	over "$umad"
	is "$1: so does who waits for a MAD" 0 $?
	over "${cm[@]}"
	is "$1: and so do both ends of a connection" 0 $?
	# those that begin anew each time find what there is
	stopped_now "$asks" "$ipoib"
	times=$((times + 1))
	ok "$1: the kernel consumer has another device" within consumer_met $((2 + times))
	is "$1: and was told of the end of the first" "$times 0" "$(kverbs removed) $(kverbs failed)"
	ok "$1: the port comes back, and its address" comes_back
}

kept()
{
	local load
	for load in uverbs umad cm ipoib; do
		ok "$1: $load goes on" ${load}_goes_on
	done
	ok "$1: everything has struck" within lab-fault spent $own
	is "$1: the kernel consumer keeps its device" "$times 0" "$(kverbs removed) $(kverbs failed)"
	stopped_now "${uverbs[@]}" "$umad" "$asks" "${cm[@]}" "$ipoib"
}

modprobe -a ib_ipoib rdma_ucm aer_inject
ip netns add away
inside ip link set lo up
ok "the first HCA has an address" has_address "$(readlink -f "/sys/class/infiniband/$LAB_DEV/device")" $near
ok "so has the second, elsewhere" far_away
ok "a kernel consumer meets both" modprobe rdma_kverbs
is "and finds them good" 0 "$(kverbs failed)"
checks=$(($(kverbs passed) / 2)) times=0
before=$(objects)
for ((round = 1; round <= rounds; round++)); do
	for kind in $kinds; do
		was=$(which_device)
		begins "$kind"
		ok "$kind: it happens" "by_$kind"
		case $kind in
		interrupt | late | pause) kept "$kind" ;;
		*) lost "$kind" ;;
		esac
		ok "$kind: nothing is left" within as_it_was
	done
done
begins "at the end"
stopped_now "${uverbs[@]}" "$umad" "$asks" "${cm[@]}" "$ipoib"
finish

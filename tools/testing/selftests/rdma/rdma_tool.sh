#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours --device-arg --caps-off --device-arg smi-gsi
# Every subcommand of iproute2's rdma, as text and as JSON, compared with reviewed answers.
#
# The HCA has no management QPs: the answers would begin with those of the MAD layer.
#
# golden/rdma_tool has the commands, each after "$ ", and their answers.  What differs from one run
# to the next (processes, sequence numbers, values of counters) is replaced by words.
# golden/rdma_tool.distro has what diff finds between them and the answers of the distribution's
# core, with the reasons.
. /lab/src/tools/testing/selftests/rdma/lib.sh
plan 7

golden=/lab/src/tools/testing/selftests/rdma/golden

# Answers: what differs from run to run becomes a word.
normal()
{
	sed -E "s/\<$LAB_DEV\>/DEV/g
		s/\<pid [0-9]+/pid PID/g
		s/\"pid\": [0-9]+/\"pid\": PID/
		s/\<([sr]q-psn) [0-9]+/\1 PSN/g
		s/\"([sr]q-psn)\": [0-9]+/\"\1\": PSN/
		s/\<((tx|rx)_[a-z_]+|[a-z_]+_violations|[a-z_]+_naks_[a-z]+|duplicates|timeouts) [0-9]+/\1 N/g
		s/\"((tx|rx)_[a-z_]+|[a-z_]+_violations|[a-z_]+_naks_[a-z]+|duplicates|timeouts)\": [0-9]+/\"\1\": N/
		s/\<(lkey|rkey|local_dma_lkey|unsafe_global_rkey) 0x[0-9a-f]+/\1 KEY/g
		s/\"(lkey|rkey|local_dma_lkey|unsafe_global_rkey)\": \"[0-9a-f]+\"/\"\1\": KEY/
		s/\<(node_guid|sys_image_guid) [0-9a-f:]+/\1 GUID/g
		s/\"(node_guid|sys_image_guid)\": \"[0-9a-f:]+\"/\"\1\": \"GUID\"/
		s/\<fw [0-9.]+/fw VERSION/
		s/\"fw\": \"[0-9.]+\"/\"fw\": \"VERSION\"/
		s/[ \t]+\$//" | numbered
}

# Numbers of objects as our core gives them.  Its first is 1, for 0 is what an object has that
# could not be tracked; Linux 6.12's is 0, and counts on from there.
numbered()
{
	awk -v by=$((1 - first_number)) 'BEGIN { number = "(pdn|cqn|mrn|ctxn|srqn)(\":)? [0-9]+" } {
		for (rest = $0; match(rest, number); rest = substr(rest, RSTART + RLENGTH)) {
			words = split(substr(rest, 1, RSTART + RLENGTH - 1), word, " ")
			last = word[words]
			printf "%s%d", substr(rest, 1, RSTART + RLENGTH - 1 - length(last)), last + by
		}
		print rest
	}'
}

# say COMMAND...: the command, its answer, and its exit status unless that is 0
say()
{
	local rc=0

	printf '$ %s\n' "$*"
	"$@" 2>&1 || rc=$?
	[ "$rc" = 0 ] || echo "exit status $rc"
}

# both COMMAND...: as text and as JSON
both()
{
	say rdma "$@"
	say rdma -j -p "$@"
}

# Questions while two programs hold objects and wait for their peers.
ask_while_held()
{
	local what d=$LAB_DEV

	both resource show
	say rdma -dd resource show "$d"
	for what in pd cq qp mr ctx srq cm_id; do
		both resource show "$what"
		say rdma -dd resource show "$what"
		say rdma -r resource show "$what"
	done
	say rdma resource show qp link "$d/1"
	say rdma resource show qp link "$d/1" type UD
	say rdma resource show qp link "$d/1" state INIT
	say rdma resource show qp link "$d/1" state RTS
	say rdma resource show qp link "$d/7"
	both resource show mr dev "$d" mrn "$first_number"
	both resource show mr dev "$d" mrn $((98 + first_number))
	say rdma resource show nothing
}

ask_of_devices()
{
	local d=$LAB_DEV

	both system show
	say rdma system show netns
	both dev show
	both -d dev show
	say rdma dev show none
	both link show
	both -d link show
	say rdma link show "$d/1"
	say rdma link show "$d/7"
	both statistic show
	say rdma statistic show link "$d/1"
	say rdma statistic show link "$d/7"
	both statistic mode
	both statistic mode supported
	both statistic qp show
	say rdma statistic qp show link "$d/1"
	both statistic qp mode
	say rdma statistic qp mode link "$d/1"
	say rdma statistic mr show
}

# Events of a device that is unbound from its driver and bound again.
ask_of_monitor()
{
	local pid driver=/sys/bus/pci/drivers/vhca
	local slot

	slot=$(basename "$(readlink "/sys/class/infiniband/$LAB_DEV/device")")
	stdbuf -oL rdma monitor >"$LAB_OUT/told" &
	pid=$!
	printf '$ rdma monitor\n'
	until monitored; do
		kill -0 $pid || return 1
		sleep 0.05
	done
	echo "$slot" >$driver/unbind
	echo "$slot" >$driver/bind
	until [ "$(wc -l <"$LAB_OUT/told")" -ge 2 ]; do
		kill -0 $pid || return 1
		sleep 0.05
	done
	kill $pid
	cat "$LAB_OUT/told"
}

# Devices that belong to one namespace each, and move from one to another.
ask_of_namespaces()
{
	local d=$LAB_DEV

	say rdma system set netns exclusive
	both system show
	ip netns attach init $$
	ip netns add golden
	say rdma dev set "$d" netns golden
	both dev show
	both resource show qp
	say ip netns exec golden rdma dev show
	say ip netns exec golden rdma link show
	say ip netns exec golden rdma system set netns shared
	say rdma system set netns shared
	say ip netns exec golden rdma dev set "$d" netns init
	say ip netns exec golden rdma dev show
	both link show
	ip netns delete golden
	ip netns delete init
	# the kernel takes a namespace down in its own time
	until rdma system set netns shared 2>/dev/null; do
		sleep 0.05
	done
	both system show
}

# Settings that can be changed, and those that cannot.
ask_of_changes()
{
	local d=$LAB_DEV

	say rdma dev set "$d" adaptive-moderation on
	say rdma -d dev show "$d"
	say rdma dev set "$d" adaptive-moderation off
	say rdma dev set "$d" name golden
	both dev show
	say rdma dev set golden name "$d"
	say rdma dev set none name golden
	say rdma dev set "$d" netns none
	say rdma dev set "$d" netns 1
	say rdma dev add golden type SMI parent "$d"
	say rdma dev delete "$d"
	say rdma system set privileged-qkey on
	both system show
	say rdma system set privileged-qkey off
	say rdma link add golden type none netdev lo
	say rdma link delete "$d"
	say rdma statistic set link "$d/1" optional-counters tx_packets
	say rdma statistic unset link "$d/1" optional-counters
	say rdma statistic qp bind link "$d/1" lqpn 99999
	say rdma statistic qp bind link "$d/1" lqpn 99999 cntn 1
	say rdma statistic qp unbind link "$d/1" cntn 1 lqpn 99999
	say rdma statistic qp set link "$d/1" auto type on
	say rdma statistic qp set link "$d/1" auto off
}

# Two programs that wait: one with an SRQ and three RC QPs, one with a UD QP.
ask_of_objects()
{
	local srq ud

	ibv_srq_pingpong -d "$LAB_DEV" -p 18611 -q 3 >/dev/null &
	srq=$!
	wait_listen 18611 $srq
	ibv_ud_pingpong -d "$LAB_DEV" -p 18612 >/dev/null &
	ud=$!
	wait_listen 18612 $ud
	ask_while_held
	# one after the other: the numbers of their QPs are used again in the order they were given up
	kill $srq
	wait $srq 2>/dev/null
	kill $ud
	wait $ud 2>/dev/null
}

# The numbers of the QPs of a program, which are ready to send, in their order
talking() { rdma resource show qp link "$LAB_DEV/1" state RTS | awk '{ print $4 }' | sort -n; }

# Two programs that exchange messages until they are stopped.
talk_on()
{
	ibv_rc_pingpong -e -d "$LAB_DEV" -p 18613 -n 2000000000 >/dev/null &
	server=$!
	wait_listen 18613 "$server"
	ibv_rc_pingpong -e -d "$LAB_DEV" -p 18613 -n 2000000000 127.0.0.1 >/dev/null &
	client=$!
	until [ "$(talking | wc -l)" = 2 ]; do
		kill -0 "$server" "$client" || return 1
		sleep 0.05
	done
}

# Connections, and the counters to which a rule or a request binds them.
ask_of_counters()
{
	local link=$LAB_DEV/1 server client one two
	local -a qps

	say rdma statistic qp set link "$link" auto type,pid on
	both statistic qp mode
	talk_on
	mapfile -t qps < <(talking)
	one=${qps[0]} two=${qps[1]}
	both resource show
	for what in qp mr cq; do
		both resource show "$what"
		say rdma -dd resource show "$what"
	done
	say rdma resource show qp link "$link" lqpn "$two"
	say rdma resource show qp link "$link" rqpn "$two"
	both resource show qp link "$link" state RTS
	both statistic qp show
	say rdma statistic qp show link "$link" qp-type RC
	say rdma statistic qp show link "$link" qp-type UD
	say rdma statistic qp bind link "$link" lqpn "$one"
	say rdma statistic qp set link "$link" auto type on
	say rdma statistic qp set link "$link" auto off
	both statistic qp mode
	say rdma statistic qp bind link "$link" lqpn "$one"
	say rdma statistic qp unbind link "$link" cntn 2 lqpn "$one"
	say rdma statistic qp unbind link "$link" cntn 1 lqpn "$one"
	say rdma statistic qp bind link "$link" lqpn "$one" cntn 99
	say rdma statistic qp bind link "$link" lqpn "$one" cntn 2
	both statistic qp show
	say rdma statistic qp unbind link "$link" cntn 2 lqpn "$two"
	say rdma statistic qp bind link "$link" lqpn "$two"
	say rdma statistic qp show link "$link" cntn 1
	kill "$server" "$client"
	wait "$server" "$client" 2>/dev/null
	both statistic qp show
	both statistic qp mode
}

# expected FILE: $LAB_OUT/NAME.PART for each part of golden/NAME; they stand one behind the other
expected()
{
	awk -v to="$LAB_OUT/$1." '/^==== / { part = $2; printf "" > (to part); next } /^#/ { next }
		{ print > (to part) }' "$golden/$1"
}

# differences PART: between what is expected of our core and what was answered
differences()
{
	diff "$LAB_OUT/rdma_tool.$1" "$LAB_OUT/answers.$1" >"$LAB_OUT/differences.$1"
	diff -u "$LAB_OUT/rdma_tool.distro.$1" "$LAB_OUT/differences.$1"
}

# compare PART: the answers beside those expected
compare()
{
	diff -u "$LAB_OUT/rdma_tool.$1" "$LAB_OUT/answers.$1"
}

# The number of the first object of a kind is the core's.
case $LAB_CORE in
ours) compare=compare first_number=1 other=() ;;
*) compare=differences first_number=0 other=(-n) ;;
esac
expected rdma_tool.distro
expected rdma_tool
for part in devices objects counters changes namespaces monitor; do
	"ask_of_$part" 2>&1 | normal >"$LAB_OUT/answers.$part"
	ok "rdma's answers: $part" $compare $part
done
ok "what must be refused is" python3 -B /lab/src/tools/testing/selftests/rdma/rdma_bad_netlink.py \
	/lab/src/include/uapi/rdma/rdma_netlink.h "${other[@]}"
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours
# Trace points: objects that come and go, the driver's commands, refusals.
. /lab/src/tools/testing/selftests/rdma/lib.sh
plan 13

tracefs=/sys/kernel/tracing
instance=$tracefs/instances/selftest
mkdir $instance

# lines EVENT WORDS...: how many lines of an event have all the words
lines()
{
	local found word

	found=$(grep -F " $1: " "$LAB_OUT/trace")
	shift
	for word; do
		found=$(grep -F -- "$word" <<<"$found")
	done
	grep -c . <<<"$found"
}

# born_and_gone TYPE NUMBER: a program has made NUMBER of them, and destroyed as many
born_and_gone()
{
	is "$1: made as often as ended" "$2 $2" \
		"$(lines rdma_object_create "comm=ibv_srq_pingpon" "type=$1 ") $(lines rdma_object_destroy "comm=ibv_srq_pingpon" "type=$1 " "err=0")"
}

ok "there are the trace points that are documented" \
	ls $instance/events/rdma_core/{rdma_reject,rdma_object_create,rdma_object_destroy} $instance/events/vhca/vhca_command
echo 1 >$instance/events/rdma_core/enable
echo 1 >$instance/events/vhca/enable

ibv_srq_pingpong -d "$LAB_DEV" -p 18621 -q 3 >/dev/null &
pid=$!
wait_listen 18621 $pid
numbers=$(rdma resource show qp link "$LAB_DEV" | sed -n 's/.* lqpn \([0-9]*\) .*comm ibv_srq_pingpon.*/\1/p' | sort)
kill $pid
wait $pid 2>/dev/null
ibv_rc_pingpong -d "$LAB_DEV" -r 70000 >/dev/null 2>&1
echo 0 >$instance/events/enable
cp $instance/trace "$LAB_OUT/trace"

born_and_gone context 1
born_and_gone PD 1
born_and_gone MR 1
born_and_gone CQ 1
born_and_gone SRQ 1
born_and_gone QP 3
is "the numbers are those of rdma resource" "$numbers" \
	"$(sed -n 's/.* rdma_object_create: .*comm=ibv_srq_pingpon.* type=QP id=\([0-9]*\) .*/\1/p' "$LAB_OUT/trace" | sort)"
is "none of them belongs to a module" 0 \
	"$(grep -F " rdma_object_create: comm=ibv_srq_pingpon" "$LAB_OUT/trace" | grep -cvF "module=- ")"
ok "commands are seen, with what they took" grep -E " vhca_command: device=[0-9a-f:.]+ command=[A-Z_]*CREATE_QP err=0 status=0 field=- ns=[1-9]" "$LAB_OUT/trace"
is "a refusal has its program and reason" 1 "$(lines rdma_reject comm=ibv_rc_pingpong "device=$LAB_DEV" err=-22 "reason=max_recv_wr 70000")"
rmdir $instance
before=$(grep -c vhca_command $tracefs/trace)
talk_alone -n 10
is "switched off, they say nothing" "$before" "$(grep -c vhca_command $tracefs/trace)"
ok "perf and others find their formats" grep -q 'field:u64 ns' $tracefs/events/vhca/vhca_command/format
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours,distro
# check: --core ours
# Counters and objects as sysfs and iproute2's rdma show them, on both cores.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
plan 22

hw_counters() { echo "/sys/class/infiniband/$LAB_DEV/ports/1/hw_counters"; }
counter() { cat "$(hw_counters)/$1"; }

# shown NAME: the same as iproute2's rdma has it. All that it shows is of one moment.
shown() { grep -oE "\b$1 [0-9]+" <<<"$statistic" | cut -d' ' -f2; }
show() { statistic=$(rdma statistic show link "$LAB_DEV/1"); }

# missing: how many packets were sent and have not arrived. A multicast to oneself, which comes back by no
# link, stays one of them, and so does a packet that was under way when the link went down: other tests in
# this boot may have left some.
missing() { show && echo $(($(shown tx_packets) - $(shown rx_packets))); }

# The core asks the subnet manager for its capabilities at any time: when the counters are read its request
# may not be answered yet, or it may send one after the file was read.
balanced()
{
	local before after
	before=$(missing) && talk_alone -c -n 100 >/tmp/talked && after=$(missing) || return 1
	echo "$before packets were missing, $after are"
	[ "$after" = "$before" ]
}
agrees() { show && [ "$(shown tx_packets)" -gt 0 ] && [ "$(shown tx_packets)" = "$(counter tx_packets)" ]; }

# listed WHAT WORDS...: the rdma tool has a line for an object of PROGRAM that has the words
listed()
{
	local what=$1 word lines
	shift
	lines=$(rdma resource show "$what" link "$LAB_DEV" 2>/dev/null || rdma resource show "$what" dev "$LAB_DEV")
	for word; do
		lines=$(grep -F -- "$word" <<<"$lines") || return 1
	done
	echo "$lines"
}

without_a_link()
{
	local rc=0
	lab-vhcactl link node1-0:1 down && within state_is "1: DOWN" && as_in_linux down || rc=1
	lab-vhcactl link node1-0:1 up && within state_is "4: ACTIVE" || rc=1
	return $rc
}

ok "sysfs shows the port as Linux 6.12 does" as_in_linux up
ok "and a port without a link" without_a_link

d=$LAB_DEV
before=$(counter tx_packets)
ok "a program talks to itself" talk_alone -c -n 100
ok "packets are counted" [ "$(counter tx_packets)" -ge $((before + 200)) ]
ok "as many come as go" within balanced
ok "rdma statistic says the same" within agrees

ok "values are read again after 10 ms, in ticks" [ $(($(counter lifespan) / 10)) -eq 1 ]
ok "which can be changed" sh -c "echo 0 >$(hw_counters)/lifespan"
is "to what was written" 0 "$(counter lifespan)"
ok "but not to an age" sh -c "! echo 10001 >$(hw_counters)/lifespan 2>/dev/null && grep -qx 0 $(hw_counters)/lifespan"

# What QPs that are bound to counters have counted stays a part of the port's sums, also once they are
# destroyed
ok "a rule binds QPs to counters" rdma statistic qp set link "$d/1" auto type on
before=$(counter tx_packets)
ok "a program talks, counted by it" talk_alone -c -n 100
ok "the port has these packets, too" [ "$(counter tx_packets)" -ge $((before + 200)) ]
ok "and sees as many come" within balanced
ok "the rule ends" rdma statistic qp set link "$d/1" auto off

ibv_srq_pingpong -d "$d" -p 18601 -q 3 >/dev/null &
pid=$!
wait_listen 18601 $pid
ok "rdma resource lists its PD" listed pd "comm ibv_srq_pingpon"
ok "its region" listed mr "comm ibv_srq_pingpon" "mrlen 4096"
ok "its CQ" listed cq "comm ibv_srq_pingpon"
ok "its SRQ" listed srq "comm ibv_srq_pingpon" "type BASIC"
is "its QPs" 3 "$(listed qp "comm ibv_srq_pingpon" "type RC" | wc -l)"
ok "its context" listed ctx "comm ibv_srq_pingpon"
kill $pid
wait $pid || true
ok "and nothing when it has gone" sh -c "! rdma resource show qp link $d | grep ibv_srq"
finish

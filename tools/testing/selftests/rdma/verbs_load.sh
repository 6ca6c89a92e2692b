# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A load of verbs that has an HCA, and what becomes of programs whose HCA goes: sourced behind lib.sh and
# subnet.sh. $victim is the HCA, and $own what the daemon calls it.
# shellcheck shell=bash

# the programs of this load
declare -a uverbs

pingpong() { exec ibv_rc_pingpong -d "$victim" -p 18601 -e -n 1000000000 "$@" >/tmp/pingpong.$# 2>&1; }
pingpong_qp()
{
	rdma resource show qp link "$victim/1" |
		sed -n 's/.* lqpn \([0-9]*\) .*state RTS.*comm ibv_rc_pingpong.*/\1/p' | sed -n '1p' | grep .
}
sent() { lab-vhcactl qps "$own" | awk -v qp="$(printf 0x%06x "$1")" '$1 == qp { print $(NF - 2) }'; }
sent_more() { [ "$(sent "$1")" -gt "$2" ]; }
uverbs_begins()
{
	pingpong &
	uverbs=($!)
	wait_listen 18601 $! || return 1
	pingpong 127.0.0.1 &
	uverbs+=($!)
}
uverbs_goes_on()
{
	local qp
	within pingpong_qp || { cat /tmp/pingpong.*; return 1; }
	qp=$(pingpong_qp)
	within sent_more "$qp" "$(sent "$qp")"
}

# over PID...: they end by themselves
over()
{
	local pid rc=0
	for pid; do
		ended "$pid" || [ $? != 137 ] || rc=1
	done
	return $rc
}

# stopped_now PID...: they are killed
stopped_now()
{
	kill -9 "$@"
	wait "$@"
} 2>/dev/null

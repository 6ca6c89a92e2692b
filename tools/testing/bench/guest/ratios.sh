#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# ratios.sh rates|latencies: what bench/run starts in both guests: rdma_rxe on the distribution's
# modules and the emulated HCA on ours take turns in the same guests; every program's output stays
# in $LAB_OUT as WHAT.ROUND.METRIC.nodeK for the host to read.
# ratios.sh memory: what loading the stack takes.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/bench/guest/devices.sh

# rates WHAT ROUND: run the same programs, sizes and numbers of messages on the device that is up.
rates()
{
	local few=3000
	measured "$1.$2.write_bw" 18515 ib_write_bw -d "$LAB_DEV" -F --report_gbits -s 65536 -n $few ||
		die "ib_write_bw failed on $1"
	[ "$1" = rxe ] || measured "$1.$2.write_cold" 18515 ib_write_bw -d "$LAB_DEV" -F --report_gbits -s 67108864 -n 20 -t 1 ||
		die "ib_write_bw of 64 MiB failed on $1"
	measured "$1.$2.write_rate" 18515 ib_write_bw -d "$LAB_DEV" -F --report_gbits -s 64 -n $((few * 10)) ||
		die "ib_write_bw -s 64 failed on $1"
	measured "$1.$2.send_lat_e" 18515 ib_send_lat -d "$LAB_DEV" -F -e -s 64 -n $((few / 3)) ||
		die "ib_send_lat -e failed on $1"
}

# latencies WHAT ROUND: enough messages that 300 of them are slower than 99 %.
latencies()
{
	local pings=30000
	measured "$1.$2.write_lat" 18515 ib_write_lat -d "$LAB_DEV" -F -s 64 -n $pings ||
		die "ib_write_lat failed on $1"
	measured "$1.$2.send_lat" 18515 ib_send_lat -d "$LAB_DEV" -F -s 64 -n $pings ||
		die "ib_send_lat failed on $1"
}

memory()
{
	local before i
	rm -f "$LAB_OUT/memory_kb.node$LAB_NODE"
	for i in 1 2 3; do
		before=$(kernel_kb)
		ours_up
		echo $(($(kernel_kb) - before)) >>"$LAB_OUT/memory_kb.node$LAB_NODE"
		ours_down
	done
}

[ "$1" != memory ] || {
	memory
	exit
}
for step in rxe:1 ours:1 ours:2 rxe:2 ours:3 ours:4 rxe:3 ours:5; do
	"${step%:*}_up"
	lab-barrier "$step-up"
	"$1" "${step%:*}" "${step#*:}" >/dev/null
	lab-barrier "$step-measured"
	"${step%:*}_down"
done
[ "$1" != rates ] || memory

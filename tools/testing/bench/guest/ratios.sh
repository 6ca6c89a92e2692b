#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# What bench/run starts in both guests: rdma_rxe on the distribution's modules and the
# emulated HCA on ours take turns in the same guests; every program's output stays in
# $LAB_OUT as WHAT.ROUND.METRIC.nodeK for the host to read.
. /lab/src/tools/testing/selftests/rdma/lib.sh

die() { echo "bench: $*" >&2; exit 1; }

rxe_up()
{
	local eth
	eth=$(ip -o route get 10.77.0.9 | sed -n 's/.* dev \([^ ]*\).*/\1/p')
	lab-core stock || die "no stock modules"
	modprobe crc32_generic && modprobe rdma_rxe && modprobe ib_uverbs || die "rdma_rxe does not load"
	rdma link add rxe0 type rxe netdev "$eth" || die "no rxe0 on $eth"
	LAB_DEV=rxe0
}

rxe_down()
{
	rdma link delete rxe0 && modprobe -r rdma_rxe ib_uverbs || die "rdma_rxe does not unload"
	! lsmod | grep -q '^ib_core' || die "ib_core of the distribution stays loaded"
}

ours_up()
{
	lab-core ours && lab-load auto || die "our modules do not load"
	LAB_DEV=$(ls /sys/class/infiniband)
}

ours_down()
{
	modprobe -r vhca ib_uverbs || die "our modules do not unload"
	! lsmod | grep -q '^ib_core' || die "our ib_core stays loaded"
}

# measure WHAT ROUND: the same programs and sizes on whatever is up
measure()
{
	local few=300
	[ "$1" = rxe ] || few=5000
	pair "$1.$2.write_bw" 18515 ib_write_bw -d "$LAB_DEV" -F --report_gbits -s 65536 -n $few ||
		die "ib_write_bw failed on $1"
	pair "$1.$2.send_lat" 18515 ib_send_lat -d "$LAB_DEV" -F -s 64 -n 1000 ||
		die "ib_send_lat failed on $1"
}

# Memory that the loaded stack holds with one idle device: what the free memory
# of the machine falls by.  Caches are dropped on both sides of the comparison.
free_kb()
{
	sync
	echo 3 >/proc/sys/vm/drop_caches
	awk '$1 == "MemFree:" { print $2 }' /proc/meminfo
}

memory()
{
	local before after i
	for i in 1 2 3; do
		before=$(free_kb)
		ours_up
		after=$(free_kb)
		echo $((before - after)) >>"$LAB_OUT/memory_kb.node$LAB_NODE"
		ours_down
	done
}

for step in rxe:1 ours:1 ours:2 rxe:2 ours:3 ours:4 rxe:3 ours:5; do
	"${step%:*}_up"
	lab-barrier "$step-up"
	measure "${step%:*}" "${step#*:}" >/dev/null
	lab-barrier "$step-measured"
	"${step%:*}_down"
done
memory

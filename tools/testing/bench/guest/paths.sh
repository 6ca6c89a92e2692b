#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# paths.sh ROUNDS QUERIES: what bench/subnet starts in two guests: eight threads of node 2's kernel ask
# opensm in node 1 for QUERIES paths, ROUNDS times and once before. $LAB_OUT/paths gets a line for each
# time: queries answered, failed, called back twice, nanoseconds, and the kernel's memory in kB.
set -e
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/bench/guest/devices.sh

know_lids
[ "$LAB_NODE" != 1 ] || cat "$port/gids/0" >"$LAB_OUT/gid.node1"
lab-barrier known
if [ "$LAB_NODE" = 2 ]; then
	parameters=/sys/module/rdma_kpaths/parameters
	modprobe rdma_kpaths
	echo "${lid[1]}" >$parameters/peer_lid
	echo "0x$(cut -d: -f5-8 "$LAB_OUT/gid.node1" | tr -d :)" >$parameters/peer_id
	: >"$LAB_OUT/paths"
	for ((i = 0; i <= $1; i++)); do
		echo "$2" >$parameters/run
		echo "$(<$parameters/answered) $(<$parameters/failed) $(<$parameters/wrong) $(<$parameters/ns)" \
			"$(kernel_kb)" >>"$LAB_OUT/paths"
	done
	cat "$LAB_OUT/paths"
	rmmod rdma_kpaths
fi
lab-barrier asked

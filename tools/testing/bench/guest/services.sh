#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# services.sh RUNS: what bench/run starts in two guests that are pinned to their processors: the
# latency of RC and of UD in turn, RUNS times each; the programs' output stays in $LAB_OUT
# as SERVICE.N.node2.
. /lab/src/tools/testing/selftests/rdma/lib.sh

for n in $(seq "$1"); do
	for service in RC UD; do
		measured "$service.$n" 18515 ib_send_lat -d "$LAB_DEV" -F -c "$service" -s 64 -n 5000 >/dev/null || {
			echo "services.sh: ib_send_lat -c $service failed" >&2
			exit 1
		}
	done
done
# A picture of what was measured, while the ports of both are still there. Without one the page says why.
lab-barrier measured
[ "$LAB_NODE" != 1 ] || lab-vhcactl draw svg >"$LAB_OUT/fabric.svg"
lab-barrier drawn

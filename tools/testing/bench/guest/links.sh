#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# links.sh RUNS: what bench/ethernet starts in two guests that are pinned to their processors: the Ethernet
# port of an HCA and its InfiniBand port in turn, RUNS times each, with packets of the same size; the
# programs' output stays in $LAB_OUT as LINK.N.METRIC.node2.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/roce_checks.sh
. /lab/src/tools/testing/bench/guest/devices.sh

# of LINK N METRIC PROGRAM OPTION...
of()
{
	local port="-i 2"
	[ "$1" = ib ] || port="-i 1 -x $gid"
	# shellcheck disable=SC2086
	measured "$1.$2.$3" 18515 "${@:4}" -d "$LAB_DEV" $port -F >/dev/null || die "$4 failed on $1"
}

roce_up || die "addresses have no GIDs"
gid=$(find_gid "$roce4") || die "$roce4 has no GID"
for n in $(seq "$1"); do
	for link in eth ib; do
		of $link "$n" write_bw ib_write_bw --report_gbits -s 65536 -m 4096 -n 20000
		of $link "$n" send_lat ib_send_lat -s 64 -n 5000
	done
done

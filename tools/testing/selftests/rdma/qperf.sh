#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours --packages qperf
# check: no
# long: --core ours,distro
# qperf's tests of what an adapter has done, not only how fast: atomics whose results are verified,
# and every service, woken by events.
. /lab/src/tools/testing/selftests/rdma/lib.sh

verified="ver_rc_compare_swap ver_rc_fetch_add"
others="rc_bw rc_lat rc_bi_bw rc_rdma_read_bw rc_rdma_read_lat rc_rdma_write_bw rc_rdma_write_lat
	rc_rdma_write_poll_lat uc_bw uc_lat uc_rdma_write_bw uc_rdma_write_poll_lat ud_bw ud_lat"
[ "$LAB_CORE" = ours ] || others=

# a test has a result, in words that it prints only if nothing was wrong
measured()
{
	qperf -i "$LAB_DEV:1" -t 1 -to $patience "$@" >/tmp/qperf.out 2>&1 || { cat /tmp/qperf.out; return 1; }
	cat /tmp/qperf.out
	! grep -iE 'mismatch|fail|error' /tmp/qperf.out && grep -qE '= +[0-9.]+ ' /tmp/qperf.out
}

if [ "$LAB_NODE" = 1 ]; then
	plan 1
	qperf &
	server=$!
	wait_listen 19765 $server
	lab-barrier qperf-listens
	lab-barrier qperf-done
	rc=0
	ended $server || rc=$?
	is "the server ends when it is told" 0 $rc
	finish
fi

plan $(($(wc -w <<<"$verified $verified $others") + 1))
lab-barrier qperf-listens
for name in $verified $others; do
	ok "$name" measured 10.77.0.1 "$name"
done
for name in $verified; do
	ok "$name, polling" measured -cp1 10.77.0.1 "$name"
done
ok "quit" qperf 10.77.0.1 quit
lab-barrier qperf-done
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours,distro --subnet opensm --timeout 600 --packages "qperf fio libfabric-bin"
# Programs of other packages that connect by address: qperf, fio, libfabric's fi_pingpong.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh

tests="rc_bw rc_lat rc_rdma_read_bw rc_rdma_read_lat rc_rdma_write_bw rc_rdma_write_lat rc_compare_swap_mr
	rc_fetch_add_mr ver_rc_compare_swap ver_rc_fetch_add"

# qperf_all: each test has a result, in words that it prints only if nothing was wrong
qperf_all()
{
	local name rc=0
	for name in $tests; do
		qperf -cm1 -t 1 -to $patience $server4 "$name" >/tmp/qperf.out 2>&1 || rc=1
		cat /tmp/qperf.out
		! grep -iE 'mismatch|fail|error' /tmp/qperf.out && grep -qE '= +[0-9.]+ ' /tmp/qperf.out || rc=1
	done
	qperf $server4 quit || rc=1
	return $rc
}
qperf_listens() { wait_listen 19765 "$1"; }

# There is no test of fio's --verb=send: its client asks for no retries when the receiver is not ready, and
# leaves the server half a second to get ready.
fio_client()
{
	fio --name=client --ioengine=rdma --hostname=$server4 --port=7900 --verb="$1" --bs=64k --size=16m \
		--iodepth=4 --iodepth_batch_complete=1 --rw=write
}
fio_server="fio --name=server --ioengine=rdma --port=7900 --bs=64k --size=16m --iodepth=4 --rw=read"
# The process that listens is a child of fio's, which says so.
fio_listens() { said "$1" "waiting for connection"; }

fi_listens() { wait_listen 47592 "$1"; }

plan 7
ok "ports have addresses" connections_up
ok "qperf -cm1" served qperf qperf_listens ended qperf qperf_all
for verb in write read; do
	ok "fio, $verb" served "fio-$verb" fio_listens ended "$fio_server" fio_client $verb
done
for kind in msg dgram; do
	ok "fi_pingpong, $kind" served "fi-$kind" fi_listens ended \
		"fi_pingpong -p verbs -e $kind -I 100 -S 1024 -c" \
		fi_pingpong -p verbs -e $kind -I 100 -S 1024 -c $server4
done
ok "no id is left" no_ids
finish

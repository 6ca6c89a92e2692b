#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours --subnet opensm --timeout 600
# check: no
# long: --core ours,distro
# perftest with connections by address (-R), of every kind of request.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh

# by_address NAME PROGRAM OPTION...
by_address() { perftest_served "$@" -d "$LAB_DEV"; }

plan 13
ok "ports have addresses" connections_up
for program in send_bw write_bw read_bw; do
	ok "ib_$program -R" by_address "$program" "ib_$program" -n 200 -s 16384
done
ok "ib_atomic_bw -R" by_address atomic_bw ib_atomic_bw -n 200
for program in send_lat write_lat read_lat; do
	ok "ib_$program -R" by_address "$program" "ib_$program" -n 200 -s 64
done
ok "ib_atomic_lat -R" by_address atomic_lat ib_atomic_lat -n 200
ok "ib_send_bw -R, datagrams" by_address ud_bw ib_send_bw -c UD -n 200 -s 1024
ok "ib_send_lat -R, datagrams" by_address ud_lat ib_send_lat -c UD -n 200 -s 64
ok "ib_write_bw -R with four QPs" by_address qps ib_write_bw -q 4 -n 100 -s 4096
ok "no id is left" no_ids
finish

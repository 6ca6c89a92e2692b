#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# packets.sh: what bench/run has captured: a few messages of programs that it compares.
. /lab/src/tools/testing/selftests/rdma/lib.sh

for program in ib_write_lat ib_send_lat; do
	pair "$program" 18515 "$program" -d "$LAB_DEV" -F -s 64 -n 5 >/dev/null || exit
done

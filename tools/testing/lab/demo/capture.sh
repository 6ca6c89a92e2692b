#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A few messages of each kind, with the fabric captured.
. /lab/src/tools/testing/selftests/rdma/lib.sh

rc=0
pair send 18515 ibv_rc_pingpong -d "$LAB_DEV" -c -n 3 -s 64 || rc=1
pair write 18515 ib_write_lat -d "$LAB_DEV" -F -n 5 -s 64 || rc=1
pair read 18515 ib_read_lat -d "$LAB_DEV" -F -n 5 -s 8192 || rc=1
exit $rc

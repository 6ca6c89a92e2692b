#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A few messages of each kind on each service, with the fabric captured.
. /lab/src/tools/testing/selftests/rdma/lib.sh

# Node 1 joins a group, node 2 sends to it.
multicast()
{
	local group="ff12:601b::a c001" got rc=0
	coproc mc { $programs/multicast "$LAB_DEV"; }
	[ "$LAB_NODE" != 1 ] || { echo "attach 0 $group" >&"${mc[1]}" && read -r got <&"${mc[0]}" && [ "$got" = 0 ]; } || rc=1
	lab-barrier multicast-joined
	[ "$LAB_NODE" != 2 ] || { echo "send 0 $group 1234 3" >&"${mc[1]}" && read -r got <&"${mc[0]}" && [ "$got" = 3 ]; } || rc=1
	lab-barrier multicast-sent
	[ "$LAB_NODE" != 1 ] || { echo receive >&"${mc[1]}" && read -r got <&"${mc[0]}" && [ "$got" = "3 0 0 0 wrong 0" ]; } || rc=1
	return $rc
}

rc=0
pair send 18515 ibv_rc_pingpong -d "$LAB_DEV" -c -n 3 -s 64 || rc=1
pair write 18515 ib_write_lat -d "$LAB_DEV" -F -n 5 -s 64 || rc=1
pair read 18515 ib_read_lat -d "$LAB_DEV" -F -n 5 -s 8192 || rc=1
pair uc 18515 ibv_uc_pingpong -d "$LAB_DEV" -c -n 3 -s 2500 || rc=1
pair uc-write 18515 ib_write_lat -d "$LAB_DEV" -F -c UC -n 5 -s 64 || rc=1
pair ud 18515 ibv_ud_pingpong -d "$LAB_DEV" -c -n 3 -s 64 || rc=1
pair ud-grh 18515 ibv_ud_pingpong -d "$LAB_DEV" -c -g 0 -n 3 -s 64 || rc=1
multicast || rc=1
exit $rc

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours
# A device that refuses a program's requests, answers late, or loses interrupts: the
# program learns why, or merely waits; when it has ended the device has nothing of it left.
. /lab/src/tools/testing/selftests/rdma/lib.sh
plan 9

# refused COMMAND NAME-IN-REASON: a program whose device refuses it this command
refused()
{
	local rc=0
	lab-fault command node1-0 "opcode=$1" status=NO_RESOURCE
	rdma-why ibv_rc_pingpong -d "$LAB_DEV" >"$LAB_OUT/why" 2>&1 || rc=$?
	is "refused $1: the program fails" 1 "$rc"
	ok "refused $1: and can learn why" \
		grep -F "$LAB_DEV: ENOMEM (Cannot allocate memory): device refused $1: limit reached" "$LAB_OUT/why"
}

refused CREATE_CQ
refused CREATE_MKEY
refused CREATE_QP
ok "the device has nothing left of them, only what MADs take" lab-vhcactl objects node1-0 pds=1 mkeys=1 cqs=1 qps=2

lab-fault command node1-0 opcode=MODIFY_QP delay=500 count=2 , fault interrupt node1-0 vector=1
ok "late answers and a lost interrupt cost time alone" talk_alone -e -n 50
ok "all faults have struck" lab-fault spent node1-0
finish

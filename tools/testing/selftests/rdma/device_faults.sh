#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours
# A device that refuses a program's requests, answers late, or loses interrupts: the program gets the
# reason, or merely waits; when it has ended nothing of it is left in the device. A device that keeps
# something is given up.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
plan 11

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

# kept_key: the device refuses to destroy the keys of a program that ends
device=$(readlink -f "/sys/class/infiniband/$LAB_DEV/device")
which_device() { stat -c %i "/sys/class/infiniband/$LAB_DEV" 2>/dev/null; }
gone() { [ "$(which_device)" != "$was" ]; }
active() { [ "$(port_state "$LAB_DEV")" = "4: ACTIVE" ]; }
kept_key()
{
	local was pid
	was=$(which_device)
	ibv_rc_pingpong -d "$LAB_DEV" -p 18600 >/tmp/kept 2>&1 &
	pid=$!
	wait_listen 18600 $pid || return 1
	lab-fault command node1-0 opcode=DESTROY_MKEY status=BUSY count=1000
	kill -9 $pid
	wait $pid || true
	within gone && dmesg | grep "device failed: it keeps an object that has to end"
}
again()
{
	lab-fault clear node1-0 && echo 1 >"$device/reset" && within active && talk_alone -n 50 &&
		lab-vhcactl objects node1-0 pds=1 mkeys=1 cqs=1 qps=2
}

refused CREATE_CQ
refused CREATE_MKEY
refused CREATE_QP
ok "the device has nothing left of them, only what MADs take" lab-vhcactl objects node1-0 pds=1 mkeys=1 cqs=1 qps=2

lab-fault command node1-0 opcode=MODIFY_QP delay=500 count=2 , fault interrupt node1-0 vector=1
ok "late answers and a lost interrupt cost time alone" talk_alone -e -n 50
ok "all faults have struck" lab-fault spent node1-0

ok "a device that keeps what has to end is given up" kept_key
ok "and as good as new after a reset" again
finish

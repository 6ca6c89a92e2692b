#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours
# The reason of a refused request can be read, and nothing is written to the kernel log.
. /lab/src/tools/testing/selftests/rdma/lib.sh
plan 19

too_long=(ibv_rc_pingpong -d "$LAB_DEV" -r 70000)
reason='max_recv_wr 70000 > device limit 65536'

# A program that exits with its file open, after a request that no device knows.
cat >"$LAB_OUT/leaver.py" <<'PROGRAM'
import os, struct
fd = os.open("/dev/infiniband/uverbs0", os.O_RDWR)
try:
    os.write(fd, struct.pack("<IHH", 99, 2, 0))
except OSError:
    os._exit(5)
PROGRAM
leaver=(python3 "$LAB_OUT/leaver.py")
left=" $LAB_DEV: .*: write: .*command 99"

# why ARGUMENTS: rdma-why ARGUMENTS, into $LAB_OUT/why; sets rc
why()
{
	rc=0
	rdma-why "$@" >"$LAB_OUT/why" 2>&1 || rc=$?
}

before=$(dmesg | wc -l)
# new lines of the kernel log about our modules and devices
said() { dmesg | tail -n +$((before + 1)) | grep -E 'vhca|infiniband|ib_core|uverbs|rdma'; }
why "${too_long[@]}"
is "the command's exit status is kept" 1 "$rc"
ok "the trace point names the attribute" grep -F "$LAB_DEV: EINVAL (Invalid argument): $reason" "$LAB_OUT/why"
is "no trace instance is left" "" "$(ls /sys/kernel/tracing/instances)"

why --fdinfo "${leaver[@]}"
is "the open file does, too" "5 1" "$rc $(grep -c "$left" "$LAB_OUT/why")"
why sh -c "${too_long[*]}; exit 7"
is "descendants are watched, the shell's status is kept" "7 1" "$rc $(grep -cF "$reason" "$LAB_OUT/why")"

rc=0
setpriv --reuid 65534 --regid 65534 --clear-groups rdma-why "${leaver[@]}" >"$LAB_OUT/why" 2>&1 || rc=$?
is "users without privilege learn it" "5 1" "$rc $(grep -c "$left" "$LAB_OUT/why")"

why ibv_devinfo -v -d "$LAB_DEV"
is "what libibverbs probes is no refusal" "0 rdma-why: nothing was refused" "$rc $(grep -A 9 rdma-why: "$LAB_OUT/why")"
why sh -c 'kill -9 $$'
is "death by a signal is passed on" 137 "$rc"
why /nonexistent
is "so is a command that cannot be run" 127 "$rc"

# VHCA_WHY_NO_READS of the ABI is 10; 0 stands for no reason, and 99 for none that is known.
why --vendor-err 10
is "the vendor_err of a completion is explained" \
	"0 the QP may have no READs and atomics under way: max_rd_atomic is 0" "$rc $(<"$LAB_OUT/why")"
for one in 0 99; do
	why --vendor-err $one
	is "vendor_err $one is none" "1 rdma-why: no vendor_err of vhca: $one" "$rc $(<"$LAB_OUT/why")"
done

why rdma dev set "$LAB_DEV" name a/b
ok "netlink sends the reason back" grep -x 'Error: "a/b" cannot be the name of a device.' "$LAB_OUT/why"
ok "and the trace point has it" grep -F 'EINVAL (Invalid argument): "a/b" cannot' "$LAB_OUT/why"
# every value of every command, wrong in every way; each file's own reasons are the measure
rc=0
rdma-why python3 -B /lab/src/tools/testing/selftests/rdma/uapi_walk.py "$LAB_DEV" "$LAB_OUT/told" \
	>"$LAB_OUT/walk" 2>"$LAB_OUT/why" || rc=$?
sed -n '/^not ok\|^# /s/^/# /p' "$LAB_OUT/walk"
is "what is wrong with a request is told" "0 0" "$rc $(grep -c '^not ok' "$LAB_OUT/walk")"
sed -n 's/^  [^ ]*\[[0-9]*\] [^ ]*: \([A-Z]*\) ([^)]*): /\1 /p' "$LAB_OUT/why" >"$LAB_OUT/explained"
ok "all of it by rdma-why, too" diff "$LAB_OUT/told" "$LAB_OUT/explained"
ok "that is not little" [ "$(wc -l <"$LAB_OUT/explained")" -ge 1000 ]
# On a busy host the kernel logs other lines, such as this, which are not the stack's.
echo "<4>hrtimer: interrupt took 18077549 ns" >/dev/kmsg
is "the stack says nothing in the kernel log" "" "$(said)"
echo "<4>vhca 0000:01:00.0: planted" >/dev/kmsg
is "where it would be noticed" 1 "$(said | grep -c planted)"
finish

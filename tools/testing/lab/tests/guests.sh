#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Tests three guests: output, arguments, barriers, exit status; and a kernel report.
# long
. "$(dirname "$0")/lib.sh"

script three <<'S'
echo "hello $LAB_NODE of $LAB_NODES: $1, $(hostname)"
# Node 1 goes last: the others must find its file behind the barrier.
[ "$LAB_NODE" != 1 ] || { ping -c 1 -W 10 10.77.0.3 >/dev/null && echo late >"$LAB_OUT/late"; }
lab-barrier first
cat "$LAB_OUT/late"
lab-barrier again
lab-barrier again
[ "$LAB_NODE" != 2 ] || exit 4
[ "$LAB_NODE" != 3 ] || exit 7
# No other node can come to this barrier any more.
lab-barrier never
echo "barrier said $?"
S
"$lab" run --core stock --nodes 3 --timeout 120 --out "$work/out" "$work/three" "a b" >"$work/log" 2>&1
expect "the worst status, a skip counting less than a failure" 7 $?
for k in 1 2 3; do
	expect_text "node $k's output is prefixed" "^n$k\| hello $k of 3: a b, node$k\$" "$work/log"
	expect_text "node $k passes the barrier after node 1" "^n$k\| late\$" "$work/log"
	expect_text "node $k's console is kept" 'Linux version' "$work/out/console.n$k"
done
expect_text "a barrier that cannot be reached fails" '^n1\| barrier said 1$' "$work/log"
expect_text "and names who is missing" '^n1\| lab-barrier never: node[23] has ended' "$work/log"

script crash <<'S'
[ "$LAB_NODE" = 2 ] || exit 0
echo 1 >/proc/sys/kernel/sysrq
echo c >/proc/sysrq-trigger
S
"$lab" run --core stock --nodes 2 --timeout 120 --out "$work/out" "$work/crash" >"$work/log" 2>&1
expect "a kernel report fails the run" 125 $?
expect_text "and is named with its console" \
	"kernel report on node2: .*: see .*/console.n2" "$work/log"
expect_text "which is also said at once, since a guest may hang then" \
	"node2's kernel has something to report: " "$work/log"

# New output counts as progress; repeated output does not. Node 1 works only towards the end of the silence,
# which must be noticed.
script slow <<'S'
[ "$LAB_NODE" = 1 ] || { echo begun; lab-barrier both; }
for ((i = 0; i < 3; i++)); do sleep 30; echo "step $i"; done
again() { echo "<4>still here" >/dev/kmsg; echo begun; }
exec {silence}<> <(:)	# a sleep without a program, which would begin late on a busy host
for ((i = 0; i < 6; i++)); do again; read -r -t 10 -u "$silence"; done
while :; do again; for ((j = 0; j < 200000; j++)); do :; done; done
S
"$lab" run --core distro --nodes 2 --timeout 75 --out "$work/out" "$work/slow" >"$work/log" 2>&1
expect "a run from which nothing new is heard is ended" 124 $?
expect_text "but not before" '^n1\| step 2$' "$work/log"
expect_text "and says so" 'node1 node2 still ran, and nothing new was heard for 75 s' "$work/log"
expect_text "and where each node was" 'node1 is at no barrier; its last line: begun' "$work/log"
expect_text "and who waited for others" 'node2 waits at barrier both; its last line: begun' "$work/log"
expect_text "and which of its processors works" 'node1: thread .* worked for [0-9.]+ s of the last [0-9.]+' "$work/log"
expect_text "and for whom" 'node1: CPU: 0 .*Comm: slow' "$work/log"
expect_text "and shows what each of its tasks waits for" 'task:agent ' "$work/out/console.n1"
expect_text "and keeps what the adapters were at" '^\$ vhcactl qps node2-0' "$work/out/stuck"
exit $bad

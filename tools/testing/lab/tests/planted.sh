#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A fault of every kind, planted in guests of the debug kernel: its checker reports it, the lab
# knows the report, and the run fails. (What vhcad's sanitizers say: daemon_ends.sh.)
# long
. "$(dirname "$0")/lib.sh"

script plant <<'S'
# lockdep is off after its first report, and after what the kernel takes for corruption
kinds="warn ubsan sysfs kobject lockdep slab kasan leak"
[ "$LAB_NODE" = 1 ] || { kinds=key; : >/run/lab/no-leaks; }
for kind in $kinds; do
	# the report stands behind what a program has written
	[ "$kind" != sysfs ] || printf unfinished >/dev/console
	modprobe lab_plant kind=$kind && rmmod lab_plant || exit 9
done
S
"$lab" run --kernel debug --nodes 2 --hca 0 --load none --timeout 600 --out "$work/out" "$work/plant" >"$work/log" 2>&1
expect "the run fails by the kernel's reports" 120 $?
python3 -c '
import json, sys
for node, lines in json.load(open(sys.argv[1]))["reports"].items():
    for line in lines:
        print(f"{node}: {line}")' "$work/out/run.json" >"$work/reports"

while IFS='|' read -r name pattern; do
	expect_text "$name is reported" "$pattern" "$work/reports"
done <<'L'
an assertion|^node1: .*WARNING: CPU: .*plant_warn
a shift that is too far|^node1: .*UBSAN: shift-out-of-bounds
a name that is taken, behind an unfinished line|^node1: unfinished.*cannot create duplicate filename
a kobject that is initialised twice|^node1: .*tried to init an initialized object
locks in either order|^node1: .*WARNING: possible circular locking dependency
an object in a cache that goes|^node1: .*BUG lab_plant \(.*Objects remaining
an access behind the end|^node1: .*BUG: KASAN: slab-out-of-bounds in plant_kasan
a leak|^node1: .*kmemleak: [0-9]+ new suspected memory leaks
a lock that nobody initialised|^node2: .*INFO: trying to register non-static key
L
# Its module has gone, so the backtrace names nothing of it.
expect_text "what has leaked is described" 'unreferenced object .* \(size 128\)' "$work/out/kmemleak.n1"
expect "nothing else is reported where a lock alone is wrong" 1 "$(grep -c '^node2: ' "$work/reports")"
for k in 1 2; do
	expect_text "node $k says that lockdep has turned itself off" "^n$k\| lab-sweep: lockdep has turned itself off" "$work/log"
done
exit $bad

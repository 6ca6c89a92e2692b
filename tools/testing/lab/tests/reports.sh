#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Which lines of a console and of the daemon's output count as reports.
. "$(dirname "$0")/lib.sh"

judge() { (cd tools/testing/lab/host && python3 -c '
import sys, reports
judge = {"kernel": reports.kernel_report, "sanitizer": reports.sanitizer_report}[sys.argv[1]]
print("report" if judge(sys.argv[2]) else "ordinary")' "$@"); }

while IFS='|' read -r verdict kind line; do
	expect "$kind: $line" "$verdict" "$(judge "$kind" "$line")"
done <<'L'
report|kernel|[   12.345678] BUG: KASAN: slab-use-after-free in vhca_poll+0x10/0x20 [vhca]
report|kernel|[    1.000000] WARNING: CPU: 0 PID: 12 at kernel/foo.c:10 bar+0x1/0x2
report|kernel|[    1.000000][  T123] UBSAN: shift-out-of-bounds in x.c:1:2
report|kernel|[    1.000000] Oops: general protection fault, probably for non-canonical address
report|kernel|[    1.000000] WARNING: possible circular locking dependency detected
report|kernel|[    1.000000] INFO: task modprobe:77 blocked for more than 120 seconds.
report|kernel|[    1.000000] Kernel panic - not syncing: Fatal exception
report|kernel|[    1.000000] refcount_t: underflow; use-after-free.
report|kernel|[    1.000000] kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)
ordinary|kernel|[    1.000000] vhca 0000:01:00.0: device version 1.0
ordinary|kernel|WARNING: said by a program on the console
ordinary|kernel|[    1.000000] DEBUG: nothing
ordinary|kernel|[    1.000000] vhca: loading out-of-tree module taints kernel.
report|sanitizer|==12==ERROR: AddressSanitizer: heap-use-after-free on address 0x1
report|sanitizer|engine/rc.c:10:3: runtime error: left shift of 1 by 31 places
ordinary|sanitizer|12:00:00 ready: 2 adapters
L
exit $bad

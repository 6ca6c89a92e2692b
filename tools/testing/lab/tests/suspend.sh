#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A machine is suspended to memory (S3), where the adapter loses its power, and wakes up: on our core and on the
# distribution's.
# long
. "$(dirname "$0")/lib.sh"

"$lab" tools >"$work/log" 2>&1
make -s -C tools/vhcad build/san/vhcad all >>"$work/log" 2>&1
expect "the daemon is built: $(tail -n 5 "$work/log" | tr '\n' ';')" 0 $?
for core in ours distro; do
	out=$work/$core
	mkdir "$out"
	passes "$core: modules" "$lab" trees "$core"
	passes "$core: a guest with all in its memory" timeout -k 5 900 tools/testing/lab/tests/suspend.py \
		"$("$lab" path guest-root)" "$("$lab" path qemu-root)" "$core" "$out"
	tr -d '\r' <"$out/results" | grep -E '^(not )?ok - ' | sed "s/ - / - $core: /"
	tr -d '\r' <"$out/results" | grep -Ev '^((not )?ok - |the end)'
	expect "$core: it has come to its end" "the end" "$(tr -d '\r' <"$out/results" | tail -n 1)"
	! grep -q '^not ok' "$out/results" || bad=1
	PYTHONPATH=tools/testing/lab/host python3 -B -c 'import reports, sys
for line in open(sys.argv[1], errors="replace"): reports.kernel_report(line) and print(line, end="")' \
		"$out/console" >"$work/reports"
	expect "$core: and its kernel has nothing to report" "" "$(<"$work/reports")"
done
exit $bad

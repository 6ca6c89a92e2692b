#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Nothing outlives the lab, whether it ends by kill -9, SIGTERM or Ctrl-C.  While it runs
# with --pin, guests stay on their processors, and the daemon's threads that serve them.
# long
. "$(dirname "$0")/lib.sh"

script forever <<'S'
echo up
sleep 1000
S

# The lab and its guests name the run's own folder on their command lines.
left() {
	local process
	for process in /proc/[0-9]*; do
		tr '\0' ' ' <"$process/cmdline" | grep -F "$work/out"
	done 2>/dev/null | wc -l
}

# The processors that the threads of node K may use, and the one that it is given.
keeps_to() {
	local process
	for process in /proc/[0-9]*; do
		[[ $(tr '\0' ' ' <"$process/cmdline") == *"-name node$1 "*"$work/out"* ]] &&
			sed -n 's/^Cpus_allowed_list:\s*//p' "$process"/task/*/status
	done 2>/dev/null | sort -u
}
# The same of the daemon's threads that serve node K.
served_on() {
	local process task
	for process in /proc/[0-9]*; do
		[[ $(tr '\0' ' ' <"$process/cmdline") == *"vhcad "*"$work/out"* ]] || continue
		for task in "$process"/task/*; do
			[ "$(cat "$task/comm")" != "node$1-0" ] || sed -n 's/^Cpus_allowed_list:\s*//p' "$task/status"
		done
	done 2>/dev/null | sort -u
}
given() { python3 -c "import os; cpus = sorted(os.sched_getaffinity(0)); print(cpus[($1 - 1) % len(cpus)])"; }

for signal in KILL TERM INT; do
	rm -rf "$work/out" "$work/log"
	# A background job ignores SIGINT, but the lab under a user's Ctrl-C does not.
	python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$lab" run --core ours --load none --nodes 2 --pin --timeout 120 --out "$work/out" \
		"$work/forever" >"$work/log" 2>&1 &
	pid=$!
	until [ "$(grep -c ' up$' "$work/log")" = 2 ]; do
		kill -0 $pid 2>/dev/null || break
		sleep 0.1
	done
	expect "SIG$signal: the guests run" 1 "$(($(left) >= 2))"
	for k in 1 2; do expect "SIG$signal: node $k keeps to its processor" "$(given $k)" "$(keeps_to $k)"; done
	for k in 1 2; do expect "SIG$signal: node $k is served there" "$(given $k)" "$(served_on $k)"; done
	kill -$signal $pid
	wait $pid 2>/dev/null
	status=$?
	expect "SIG$signal: status" $((128 + $(kill -l $signal))) $status
	# The kernel takes a while to end a name space's processes and to free the guests' memory.
	for ((i = 0; i < 1000 && $(left) > 0; i++)); do sleep 0.1; done
	expect "SIG$signal: no process is left" 0 "$(left)"
	expect "SIG$signal: no mount is left" 0 "$(grep -c "$("$lab" path kdir | sed 's|/kdir/.*||')/\.run" /proc/mounts)"
done
exit $bad

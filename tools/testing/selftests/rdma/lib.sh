# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Helpers of the guest tests: sourced, not run.  A test says `plan N` first and
# then `ok`/`is` its checks; the shell's exit status follows from them.  Output is TAP.
# shellcheck shell=bash

tap_n=0 tap_bad=0 tap_plan=0
export LC_ALL=C
# Seconds until the test gives up a wait for what comes soon or not at all, and reports what it has waited
# for. They are many, since a busy host takes its time.
patience=120
# where selftests/rdma/Makefile puts the programs
programs=/lab/src/build/selftests

# The shell itself does what every check needs, since starting a program takes a quarter of a second
# in the debug kernel.

# The lab's agent writes answers to this pipe, which stays open so that none is lost.
[ -p "/run/lab/answer.shell$$" ] || mkfifo "/run/lab/answer.shell$$"
exec {lab_answers}<>"/run/lab/answer.shell$$"

# as the program of this name; one at a time
lab-barrier()
{
	local status text
	printf 'shell%s barrier %s\n' $$ "${1// /_}" >/run/lab/requests
	read -r status text <&"$lab_answers"
	[ -z "$text" ] || base64 -d <<<"$text"
	return "$status"
}

# moment: passes; nothing is ever written to where it listens
exec {lab_silence}<> <(:)
moment() { read -r -t 0.05 -u "$lab_silence" || true; }

# commented: what it reads, with a mark before each line
commented()
{
	local line
	while IFS= read -r line || [ -n "$line" ]; do printf '# %s\n' "$line"; done
}

plan() { tap_plan=$1; echo "TAP version 13"; echo "1..$1"; }

# ok NAME COMMAND...: a check that passes when COMMAND succeeds; its output is shown.
# COMMAND runs in a subshell: it can neither wait for children nor set variables.
ok()
{
	local name=$1 rc=0
	shift
	tap_n=$((tap_n + 1))
	"$@" 2>&1 | commented
	rc=${PIPESTATUS[0]}
	if [ "$rc" -eq 0 ]; then
		echo "ok $tap_n - $name"
	else
		echo "not ok $tap_n - $name (exit status $rc: $*)"
		tap_bad=$((tap_bad + 1))
	fi
}

# is NAME EXPECTED ACTUAL
is()
{
	tap_n=$((tap_n + 1))
	if [ "$2" = "$3" ]; then
		echo "ok $tap_n - $1"
	else
		echo "not ok $tap_n - $1: expected '$2', got '$3'"
		tap_bad=$((tap_bad + 1))
	fi
}

# finish: exit status of the test; a missing check is a failure too.
finish()
{
	if [ "$tap_n" -ne "$tap_plan" ]; then
		echo "Bail out! $tap_n checks ran, $tap_plan were planned"
		exit 1
	fi
	exit $((tap_bad > 0))
}

# listens PORT: whether a process listens on TCP PORT. It starts no program: ss has the kernel look for a
# module each time where it has none, which takes seconds in the debug kernel.
listens()
{
	local port table _ at state
	printf -v port ':%04X' "$1"
	for table in /proc/net/tcp /proc/net/tcp6; do
		[ -r "$table" ] || continue
		while read -r _ at _ state _; do
			[ "$state" != 0A ] || [ "${at%"$port"}" = "$at" ] || return 0
		done <"$table"
	done
	return 1
}

# alive PID: it runs. kill -0 also finds one that has ended, as long as its parent has not waited for it,
# and bash has been seen not to do so before a test's patience was at its end.
alive()
{
	local stat
	{ read -r stat <"/proc/$1/stat"; } 2>/dev/null && [[ ${stat##*) } != [ZX]* ]]
}

# wait_listen PORT PID: until PID listens on TCP PORT; fails when PID ends first.
wait_listen()
{
	until listens "$1"; do
		alive "$2" || return 1
		moment
	done
}

# rdma_group: $job is a new control group, with the rdma controller
rdma_group()
{
	local root=/sys/fs/cgroup
	mountpoint -q $root || mount -t cgroup2 none $root
	echo +rdma >$root/cgroup.subtree_control
	job=$root/job
	mkdir $job
}

# in_group COMMAND...: in that group
in_group() { sh -c "echo 0 >$job/cgroup.procs && exec \"\$@\"" in_group "$@"; }

# monitored: a process listens to the RDMA netlink group of events
monitored() { awk '$2 == 20 && $4 == "00000008" { found = 1 } END { exit !found }' /proc/net/netlink; }

# ended PID [SECONDS]: waits for PID, but not longer than this ($patience); its exit status
ended()
{
	local deadline=$((SECONDS + ${2:-patience}))
	while alive "$1"; do
		[ "$SECONDS" -lt "$deadline" ] || {
			echo "it goes on, and is killed"
			kill -9 "$1"
			break
		}
		moment
	done
	wait "$1"
}

# pair NAME PORT COMMAND...: COMMAND is the server on node 1; the other nodes but
# node 2 take no part; node 2 runs it with node 1's address added.  The program's
# output goes to $LAB_OUT/NAME.nodeK and to the log.  A server may wait without end for what a
# client that has failed does not send: it has $patience after the client's end.
pair()
{
	local name=$1 port=$2 rc=0 pid
	shift 2
	case $LAB_NODE in
	1)
		"$@" >"$LAB_OUT/$name.node1" 2>&1 &
		pid=$!
		wait_listen "$port" "$pid" || true
		lab-barrier "$name-listens"
		lab-barrier "$name-asked"
		ended "$pid" || rc=$?
		;;
	2)
		lab-barrier "$name-listens"
		"$@" 10.77.0.1 >"$LAB_OUT/$name.node2" 2>&1 || rc=$?
		lab-barrier "$name-asked"
		;;
	*)
		lab-barrier "$name-listens"
		lab-barrier "$name-asked"
		lab-barrier "$name-done"
		return 0
		;;
	esac
	printf '%s\n' "$(<"$LAB_OUT/$name.node$LAB_NODE")"
	lab-barrier "$name-done"
	return "$rc"
}

# measured NAME PORT COMMAND...: as pair, with a program of perftest whose figures will be read. Before it
# prints, perftest measures the processor's clock. When the host gives the processor to somebody else just
# then, it says that what it measured does not fit ("Correlation coefficient") and prints zeros. For
# this reason alone it runs again, twice at most.
measured()
{
	local run rc
	for run in first second third; do
		rc=0
		pair "$@" || rc=$?
		grep -qs '^Correlation coefficient' "$LAB_OUT/$1".node[12] || return "$rc"
		# nobody writes these files again before all have read them
		lab-barrier "$1-read"
		echo "$1: perftest could not measure the processor's clock, $run time" >&2
	done
	return 1
}

# talk_alone OPTION...: ibv_rc_pingpong with both sides in this guest
talk_alone()
{
	ibv_rc_pingpong -d "$LAB_DEV" -p 18600 "$@" >"$LAB_OUT/talk" 2>&1 &
	wait_listen 18600 $! && ibv_rc_pingpong -d "$LAB_DEV" -p 18600 "$@" 127.0.0.1 && wait $!
}

# port_state DEVICE [PORT]: "4: ACTIVE" and the like
port_state() { cat "/sys/class/infiniband/$1/ports/${2:-1}/state"; }

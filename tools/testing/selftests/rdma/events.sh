#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours,distro --ports 2
# check: --core ours
# Every asynchronous event, on both cores.
. /lab/src/tools/testing/selftests/rdma/lib.sh
# The value that a port gets must differ from the one on the core before.
case $LAB_CORE in
ours) plan 14 && n=7 ;;
*) plan 13 && n=8 ;;
esac

# watched NAME EVENT COMMAND...: COMMAND changes the device, and ibv_asyncwatch prints EVENT
watched()
{
	local name=$1 event=$2 line=
	shift 2
	lab-vhcactl "$@" >/dev/null
	IFS= read -r -t $patience line <&"${watch[0]}" || line="nothing"
	is "$name" "  event_type $event, port 1" "$line"
}

h=node1-0
ok "events of queues" $programs/async_events "$LAB_DEV"
ok "what queues can be asked for" $programs/queue_features "$LAB_DEV"

coproc watch { stdbuf -oL ibv_asyncwatch -d "$LAB_DEV"; }
IFS= read -r -t $patience line <&"${watch[0]}" || true
is "ibv_asyncwatch waits" "$LAB_DEV: async event FD" "${line% *}"
watched "the link goes down" "IBV_EVENT_PORT_ERR (10)" link $h:1 down
watched "and up" "IBV_EVENT_PORT_ACTIVE (9)" link $h:1 up
watched "another LID" "IBV_EVENT_LID_CHANGE (11)" port $h:1 lid=7$n
is "sysfs has it" "$(printf 0x%x 7$n)" "$(cat "/sys/class/infiniband/$LAB_DEV/ports/1/lid")"
watched "another partition" "IBV_EVENT_PKEY_CHANGE (12)" port $h:1 pkey1=0x812$n
is "sysfs has it, too" 0x812$n "$(cat "/sys/class/infiniband/$LAB_DEV/ports/1/pkeys/1")"
watched "another subnet manager" "IBV_EVENT_SM_CHANGE (13)" port $h:1 sm_lid=8$n
watched "clients have to register again" "IBV_EVENT_CLIENT_REREGISTER (17)" port $h:1 reregister=1
# Linux 6.12 sends no event for a changed GID of an InfiniBand port
[ "$LAB_CORE" = distro ] || watched "another GID" "IBV_EVENT_GID_CHANGE (18)" port $h:1 gid1=fe80::123$n
kill "$watch_PID"
ok "all of it works with the new LID" talk_alone -c

# migrated: takes the program's path down when the program asks for it
migrated()
{
	local line pid
	coproc move { $programs/migration "$LAB_DEV"; }
	# the shell forgets what move_PID was when the program has ended
	pid=$move_PID
	exec {answer}>&"${move[1]}"
	while IFS= read -r line; do
		echo "$line"
		[ "$line" != "# take port 1 down" ] || { lab-vhcactl link $h:1 down && echo gone >&"$answer"; }
	done <&"${move[0]}"
	wait "$pid"
}
ok "connections move to alternate paths" migrated
lab-vhcactl link $h:1 up >/dev/null
finish

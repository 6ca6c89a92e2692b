# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Asynchronous events: sourced by the tests that cause them on different cores.
# shellcheck shell=bash

events_plan=$((4 + 9 + 1))

# watched NAME EVENT COMMAND...: the device is changed, and ibv_asyncwatch says so
watched()
{
	local name=$1 event=$2 line=
	shift 2
	lab-vhcactl "$@" >/dev/null
	IFS= read -r -t 60 line <&"${watch[0]}" || line="nothing"
	is "$name" "  event_type $event, port 1" "$line"
}

# events CORE
events()
{
	local here=/lab/src/tools/testing/selftests/rdma line h=node1-0

	ok "the program builds" gcc -O1 -Wall -Wextra -Werror -o /tmp/async_events $here/async_events.c -libverbs
	ok "events of queues" /tmp/async_events "$LAB_DEV"
	ok "the other program builds" gcc -O1 -Wall -Wextra -Werror -o /tmp/queue_features $here/queue_features.c -libverbs
	ok "what queues can be asked for" /tmp/queue_features "$LAB_DEV"

	coproc watch { stdbuf -oL ibv_asyncwatch -d "$LAB_DEV"; }
	IFS= read -r -t 60 line <&"${watch[0]}" || true
	is "ibv_asyncwatch waits" "$LAB_DEV: async event FD" "${line% *}"
	watched "the link goes down" "IBV_EVENT_PORT_ERR (10)" link $h down
	watched "and up" "IBV_EVENT_PORT_ACTIVE (9)" link $h up
	watched "another LID" "IBV_EVENT_LID_CHANGE (11)" port $h lid=77
	is "sysfs has it" 0x4d "$(cat "/sys/class/infiniband/$LAB_DEV/ports/1/lid")"
	watched "another partition" "IBV_EVENT_PKEY_CHANGE (12)" port $h pkey1=0x8123
	is "sysfs has it, too" 0x8123 "$(cat "/sys/class/infiniband/$LAB_DEV/ports/1/pkeys/1")"
	watched "another subnet manager" "IBV_EVENT_SM_CHANGE (13)" port $h sm_lid=88
	watched "clients have to register again" "IBV_EVENT_CLIENT_REREGISTER (17)" port $h reregister=1
	# Linux 6.12 tells nobody of another GID of an InfiniBand port
	[ "$1" = distro ] || watched "another GID" "IBV_EVENT_GID_CHANGE (18)" port $h gid1=fe80::1234
	kill "$watch_PID"
	ok "all of it works with the new LID" talk_alone -c
}

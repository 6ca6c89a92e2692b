#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours
# Posting and polling never enter the kernel: the number of system calls does
# not depend on the number of messages.
. /lab/src/tools/testing/selftests/rdma/lib.sh
plan 3

calls()	# calls MESSAGES: system calls of one polling pingpong
{
	pair "strace-$1" 18515 strace -f -c -S name -o "$LAB_OUT/strace.$LAB_NODE.$1" \
		ibv_rc_pingpong -d "$LAB_DEV" -n "$1" -s 64 >&2 || return 1
	awk '$NF == "total" { print $4; exit }' "$LAB_OUT/strace.$LAB_NODE.$1"
}

few=$(calls 100); few_rc=$?
many=$(calls 3100); many_rc=$?
is "both runs end well" "0 0" "$few_rc $many_rc"
ok "strace counted something (few: $few, many: $many)" [ "${few:-0}" -gt 50 ]
ok "3,000 more messages cost fewer than 30 more calls" [ $((many - few)) -lt 30 ]
finish

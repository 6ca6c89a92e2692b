#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 3 --core ours
# check: no
# long: --core ours,distro
# Multicast between three guests: nodes 1 and 2 attach queue pairs, node 3 only sends.
. /lab/src/tools/testing/selftests/rdma/lib.sh
plan 16

# The program's answer to a line; only the nodes that have the program ask.
ask()
{
	echo "$*" >&"${mc[1]}"
	IFS= read -r answer <&"${mc[0]}"
}

# on NODES NAME EXPECTED LINE...: a check on the nodes whose numbers NODES contains; all nodes
# wait for its end.
step=0
on()
{
	local nodes=$1 name=$2 expected=$3
	shift 3
	if [[ $nodes = *$LAB_NODE* ]]; then
		ask "$@"
		is "$name" "$expected" "$answer"
	else
		is "$name: elsewhere" 1 1
	fi
	step=$((step + 1))
	lab-barrier "multicast-$step"
}

a=ff12:601b::a b=ff12:601b::b

coproc mc { $programs/multicast "$LAB_DEV"; }

on 12 "attach to a group" 0 attach 0 $a c001
on 12 "again: no second membership" 0 attach 0 $a c001
on 1 "another QP, and another group" 0 attach 1 $a c001
on 1 "a QP of its own group" 0 attach 2 $b c002
on 123 "not a multicast GID" EINVAL attach 3 fe80::1 c001
on 123 "not a UD QP" EINVAL attach-rc $a c001
on 3 "send without being attached" 20 send 0 $a c001 1234 20
on 12 "one copy each, in order" "20 $([ "$LAB_NODE" = 1 ] && echo 20 || echo 0) 0 0 wrong 0" receive
on 3 "the sender was no member" "0 0 0 0 wrong 0" receive
on 1 "a member sends" 5 send 0 $a c001 1234 5
on 12 "and hears itself" "5 $([ "$LAB_NODE" = 1 ] && echo 5 || echo 0) 0 0 wrong 0" receive
on 2 "wrong Q_Key" 3 send 0 $a c001 4321 3
on 12 "goes to nobody" "0 0 0 0 wrong 0" receive
on 2 "detach" 0 detach 0 $a c001
on 3 "send to both groups" 2 send 0 $a c001 1234 2
on 12 "who has left hears nothing" "$([ "$LAB_NODE" = 1 ] && echo "2 2" || echo "0 0") 0 0 wrong 0" receive
finish

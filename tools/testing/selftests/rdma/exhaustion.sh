#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours --device-arg --limit --device-arg uars=24,pds=30,cqs=40,qps=50,srqs=20,mkeys=60,xrcds=10,mcgs=15
# check: no
# Every limit of a device with few objects is reached and left again, ten times: of the device, of a control
# group, and of both by processes that are killed while they have all objects. None of them is lost.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh

TIMES=10 PROCESSES=40 FILES=5
own=node1-0
kinds="protection domains,CQs,SRQs,QPs,regions,windows,XRC domains,contexts"
plan 26

# limits ERRNO KINDS [COMMAND...]: a check of each kind, by the program that COMMAND runs
limits()
{
	local errno=$1 kinds=$2 kind
	shift 2
	"$@" $programs/exhaust "$LAB_DEV" "$errno" >"$LAB_OUT/limits" 2>&1
	commented <"$LAB_OUT/limits"
	while read -r kind; do
		ok "$kind are refused with $errno, and there are as many again" \
			grep -q "^ok .* - all $kind, $TIMES times" "$LAB_OUT/limits"
	done < <(tr ',' '\n' <<<"$kinds")
}

# killed: a process has all objects, others get none, and it is killed
killed()
{
	local line pid rc=0
	rm -f /tmp/full
	mkfifo /tmp/full
	$programs/exhaust "$LAB_DEV" hold >/tmp/full &
	pid=$!
	IFS= read -r -t $patience line </tmp/full
	[ "$line" = full ] || { echo "it says '$line'"; rc=1; }
	! $programs/exhaust "$LAB_DEV" ENOMEM || { echo "there is more"; rc=1; }
	kill -9 $pid
	wait $pid
	within as_it_was && return $rc
}

ten_times()
{
	local i
	for ((i = 0; i < TIMES; i++)); do "$@" || return 1; done
}

rdma_group
before=$(objects)
commented <<<"$before"
limits ENOMEM "$kinds,groups"
ok "nothing is left" within as_it_was

echo "$LAB_DEV hca_handle=3 hca_object=12" >$job/rdma.max
# objects of a process that joins a group are not charged to it
limits EAGAIN "$kinds" in_group
ok "nothing is left, either" within as_it_was
is "nor charged" "$LAB_DEV hca_handle=0 hca_object=0" "$(sed -n "s/^\($LAB_DEV .*[^ ]\) *$/\1/p" $job/rdma.current)"
# Linux 6.12 does not free the limits of a group that is removed: they have to be lifted first.
echo "$LAB_DEV hca_handle=max hca_object=max" >$job/rdma.max
rmdir $job

ok "who has all is killed, $TIMES times" ten_times killed
opened=$($programs/exhaust "$LAB_DEV" opens $PROCESSES $FILES 2>&1)
rc=$?
commented <<<"$opened"
is "$PROCESSES processes open until they are refused" 0 $rc
ok "with ENOMEM" grep -q '^[1-9][0-9]* ENOMEM$' <<<"$opened"
again=$($programs/exhaust "$LAB_DEV" opens $PROCESSES $FILES 2>/dev/null)
is "and get as many again" "$(grep ENOMEM <<<"$opened")" "$again"
ok "nothing is left of all that" within as_it_was
ok "the device serves programs" talk_alone -e -n 50
finish

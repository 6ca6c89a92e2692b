#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 1 --core ours --cpus 2 --timeout 7200 -- 300 1
# hostile_device.sh [TIME [SEED]]: for TIME seconds a device lies in its answers, events and completions, by
# chance, while a program writes and makes objects, and a kernel consumer has receives that wait. The
# driver may give the device up, and says so once; a reset makes it good each time. The kernel has
# nothing to report.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh

time=${1:-300} seed=${2:-1}
ROUNDS=5	# between two looks at the time
SELDOM=60	# lies end one device in so many, and one at least; in most rounds they strike programs alone
own=node1-0
plan 5

kverbs() { cat "/sys/module/rdma_kverbs/parameters/$1"; }

# turns: rounds of lies until the time is over; the number of rounds, and how often it was given up
turns()
{
	local done=0 up=0 end=$((SECONDS + time)) said=/tmp/rounds
	while [ "$SECONDS" -lt "$end" ]; do
		"$programs/rounds" "$LAB_DEV" $own $ROUNDS lies "$seed" >$said || { cat $said; return 1; }
		done=$((done + ROUNDS)) seed=$((seed + 1))
		up=$((up + $(sed -n 's/^# given up \([0-9]*\) times/\1/p' $said)))
	done
	echo "$done" "$up" >/tmp/turns
	echo "$done rounds, given up $up times"
}

# said_once: once for each device that was given up, a few of which were while they were reset
said_once()
{
	local said
	said=$(grep -c 'device failed: ' /tmp/kmsg)
	sed -n 's/.*device failed: \(.*\) (status.*/\1/p' /tmp/kmsg | sort | uniq -c
	echo "said $said times"
	[ "$said" -ge "$up" ] && [ "$said" -le "$rounds" ] && [ "$up" -ge $((rounds / SELDOM + 1)) ]
}

cat /dev/kmsg >/tmp/kmsg &
log=$!
ok "a kernel consumer" modprobe rdma_kverbs
before=$(objects)
ok "the device lies" turns
read -r rounds up </tmp/turns
is "the kernel consumer was told each time, and found each device good" "$rounds 0" \
	"$(kverbs removed) $(kverbs failed)"
kill $log
ok "the driver says that it gives a device up, and once" said_once
ok "nothing is left" within as_it_was
finish

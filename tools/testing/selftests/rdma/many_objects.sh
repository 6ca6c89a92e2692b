#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 1 --core ours --mem 2048 --timeout 1200
# A process with 100,000 objects of an ordinary device is killed, and 500 processes open it 10,000
# times, which is more than it has doorbell areas. Nothing is left of them.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh

PROCESSES=500 FILES=20
patience=900
plan 8

nothing_left() { lab-vhcactl objects node1-0 pds=1 mkeys=1 cqs=1 srqs=0 xrcds=0 qps=2; }

opened() { sed -n 's/^\([0-9]*\) ENOMEM$/\1/p' "$LAB_OUT/opens.$1"; }

ok "nothing is there but what MADs take" nothing_left
mkfifo /tmp/full
$programs/exhaust "$LAB_DEV" many >/tmp/full &
pid=$!
IFS= read -r -t $patience line </tmp/full
is "a process has 100,000 objects" full "$line"
rdma resource show | commented
{ kill -9 $pid; wait $pid; } 2>/dev/null
ok "it is killed, and they are gone" within nothing_left

for i in 1 2; do
	$programs/exhaust "$LAB_DEV" opens $PROCESSES $FILES >"$LAB_OUT/opens.$i" 2>&1
	is "$PROCESSES processes try to open it $((PROCESSES * FILES)) times" 0 $?
	commented <"$LAB_OUT/opens.$i"
done
is "as often as there are areas, and each time as often" "$(opened 1)" "$(opened 2)"
ok "all others are refused with ENOMEM" test "$(opened 1)" -ge 1000
ok "and nothing is left" within nothing_left
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours --cpus 2 --timeout 600
# long: --kernel debug --timeout 7200 -- 10000
# objects_storm.sh [STEPS]: four threads create, change and destroy objects at random, first each
# its own, STEPS in all (1,000), then all the same ones, STEPS steps each; then the device goes, or is reset, while events
# of SRQs are under way. No object is left.
. /lab/src/tools/testing/selftests/rdma/lib.sh
steps=${1:-1000}
plan 8

nothing_left() { lab-vhcactl objects node1-0 pds=1 mkeys=1 cqs=1 srqs=0 qps=2 mcgs=0; }

ok "objects of each thread" $programs/objects_storm "$LAB_DEV" "$steps" 1
# The interrupt's thread, of priority 50, has to wait: events are handled when their object was destroyed.
ok "and others, which events have to wait for" chrt -f 60 $programs/objects_storm "$LAB_DEV" 1000 77
ok "on objects that all threads share" $programs/shared_storm "$LAB_DEV" "$steps" 5
ok "the device has nothing left of them, only what MADs take" nothing_left
ok "the device goes amid events, and comes again" $programs/srq_removal "$LAB_DEV" 10 unbind
ok "and has nothing left either" nothing_left
ok "it is reset amid events" $programs/srq_removal "$LAB_DEV" 10 reset
ok "which leaves nothing" nothing_left
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 1 --core ours --cpus 2 --timeout 7200 -- 1000
# rounds.sh TIMES [KIND...]: TIMES times each a device is unbound, is reset, has a fatal error, and a program
# is killed, while the program writes by a QP and makes and destroys objects, and a kernel consumer has
# receives that wait. Each program ends, the consumer is told each time and finds the next device good, and
# nothing is left.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh

times=$1
kinds=${*:2}
kinds=${kinds:-kill unbind reset fatal}
own=node1-0
plan $((1 + $(wc -w <<<"$kinds") * 3 + 1))

kverbs() { cat "/sys/module/rdma_kverbs/parameters/$1"; }

ok "a kernel consumer" modprobe rdma_kverbs
before=$(objects) went=0
for kind in $kinds; do
	ok "$kind: each program ends, and the next one works" "$programs/rounds" "$LAB_DEV" $own "$times" "$kind"
	[ "$kind" = kill ] || went=$((went + times))
	is "$kind: the kernel consumer was told each time, and found each device good" "$went 0" \
		"$(kverbs removed) $(kverbs failed)"
	ok "$kind: nothing is left" within as_it_was
done
ok "the consumer goes" rmmod rdma_kverbs
finish

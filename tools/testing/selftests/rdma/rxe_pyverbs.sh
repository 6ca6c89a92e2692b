#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 1 --core ours,distro --hca 0 --mem 2048 --timeout 900
# All of rdma-core's own tests on rdma_rxe: those that pass on the distribution's core pass on ours, and
# the verdicts of both are printed side by side.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/roce_checks.sh
LAB_DEV=rxe0
verdicts=$LAB_OUT/verdicts
of_ours=$LAB_OUT/../ours/verdicts

# run_all: $verdicts gets "TEST pass|fail|skip" of all, in the order of their names
run_all()
{
	/lab/src/tools/testing/selftests/rdma/pyverbs_tap.py --apart rxe0 2>"$LAB_OUT/tests" | sort >"$verdicts"
}

# This one fills a CQ and makes it too small at once, which has to fail. rdma_rxe sends by a work item: what
# it has not sent by then completes in the small CQ, and the test waits in vain.
racing=tests.test_cq.CQTest.test_resize_cq

# passed FILE: names of tests that passed
passed() { sed -n 's/ pass$//p' "$1" | grep -vx $racing; }

side_by_side()
{
	printf '%-72s %-8s %s\n' "" "6.12's" ours
	join -a 1 -a 2 -e absent -o 0,1.2,2.2 "$verdicts" "$of_ours" |
		while read -r name theirs ours; do printf '%-72s %-8s %s\n' "$name" "$theirs" "$ours"; done
	diff <(passed "$verdicts") <(passed "$of_ours")
}

[ "$LAB_CORE" = distro ] && plan 4 || plan 3
modprobe -a crc32_generic ib_uverbs rdma_ucm rdma_rxe
case $LAB_CORE:$(modinfo -n rdma_rxe) in
ours:*/updates/* | distro:*/kernel/*) where=right ;;
*) where="$LAB_CORE $(modinfo -n rdma_rxe)" ;;
esac
is "rdma_rxe is the one for this core" right "$where"
echo 16 >/proc/sys/vm/nr_hugepages
ip link add own0 address 02:00:00:00:79:01 type dummy && ip link set own0 up &&
	ip addr add 10.79.0.1/24 dev own0 && rxe_on own0 && within find_gid 10.79.0.1
run_all
ok "rdma-core's own tests have run" test "$(grep -c . "$verdicts")" -gt 300
ok "many passed" test "$(passed "$verdicts" | wc -l)" -ge 80
[ "$LAB_CORE" != distro ] || ok "the same pass on both cores" side_by_side
rdma link del rxe0
ip link del own0
finish

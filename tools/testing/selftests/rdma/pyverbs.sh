#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours,distro --mem 2048
# check: --core ours
# own boot: it takes as long as those that would share it
# pyverbs.sh [TIMES]: all of rdma-core's own tests on one adapter, on both cores, TIMES times or
# until a run fails.
echo 16 >/proc/sys/vm/nr_hugepages
for ((i = 1; i <= ${1:-1}; i++)); do
	[ "${1:-1}" = 1 ] || echo "# $i of $1, after $SECONDS s"
	/lab/src/tools/testing/selftests/rdma/pyverbs_tap.py --least 100 "$LAB_DEV" || exit
done

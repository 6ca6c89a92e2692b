#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 1 --core ours --cpus 2 --kernel debug --timeout 3600 -- 20000
# mmap_storm.sh STEPS: pages get offsets by which they are mapped and lose them, STEPS times in each of
# two threads, short of memory for the tree of offsets; two others guess offsets and map them.
. /lab/src/tools/testing/selftests/rdma/lib.sh
plan 5
failslab=/sys/kernel/debug/failslab

# Only nodes of trees are refused, and only to the threads that ask for that.  For such a node
# xarrays ask twice: at once, and then without their lock by a caller that may wait.
refuse_nodes()
{
	echo 1 >/sys/kernel/slab/radix_tree_node/failslab
	echo Y >$failslab/cache-filter
	echo Y >$failslab/task-filter
	echo N >$failslab/ignore-gfp-wait
	echo 0 >$failslab/verbose
	echo 1000000000 >$failslab/times
	echo 40 >$failslab/probability
}

refused() { echo $((1000000000 - $(cat $failslab/times))); }

ok "a device whose pages can be mapped" modprobe rdma_ufake
ok "memory is refused" refuse_nodes
ok "pages are mapped while they come and go" $programs/mmap_storm ufake0 "$1"
echo 0 >$failslab/probability
echo "# $(refused) nodes were refused"
ok "and when there is no memory for their offsets" [ "$(refused)" -gt 1000 ]
ok "the device goes" modprobe -r rdma_ufake
finish

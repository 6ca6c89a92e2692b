#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours,distro --mem 2048
# All of rdma-core's own tests on one adapter, on both cores.
echo 16 >/proc/sys/vm/nr_hugepages
exec /lab/src/tools/testing/selftests/rdma/pyverbs_tap.py --least 100 "$LAB_DEV"

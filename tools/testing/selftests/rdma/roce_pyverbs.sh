#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 1 --core ours,distro --link eth --mem 2048 --timeout 600
# All of rdma-core's own tests on one adapter with an Ethernet port, on both cores; those of librdmacm
# have the address of its net device.
echo 16 >/proc/sys/vm/nr_hugepages
modprobe rdma_ucm
exec /lab/src/tools/testing/selftests/rdma/pyverbs_tap.py --least 100 "$LAB_DEV"

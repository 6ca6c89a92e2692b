#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 1 --core ours --cpus 2 --hca 2 --subnet opensm --pciehp --irq msi --timeout 900 -- 2 unplug
# recovery.sh: an HCA is taken out of the running machine, and put back, under each kind of load.
exec /lab/src/tools/testing/selftests/rdma/recovery.sh "$@"

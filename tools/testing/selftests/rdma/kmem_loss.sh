#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours --device-arg --loss --device-arg 10
# Kernel consumers that register memory, over a fabric that loses one packet of a hundred.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/kmem_checks.sh

# packets that arrived nowhere, whoever sent them
lost() { lab-vhcactl counters | grep -o 'drops [0-9]*' | awk '{ n += $2 } END { print n + 0 }'; }

plan $((kmem_plan + 1))
kmem_checks loss 0
ok "packets were lost" test "$(lost)" -gt 5
finish

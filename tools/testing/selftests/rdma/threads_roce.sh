#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours --hca 2 --link eth --device-arg --threads --device-arg 2
# threads.sh on Ethernet ports. Each has the GID that its net device's MAC address makes.
exec /lab/src/tools/testing/selftests/rdma/threads.sh 0

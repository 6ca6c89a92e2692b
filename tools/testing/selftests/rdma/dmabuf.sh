#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours
# Regions over parts of a DMA buffer, on our core.
set -e
gcc -O1 -Wall -Wextra -Werror -o /tmp/dmabuf /lab/src/tools/testing/selftests/rdma/dmabuf.c -libverbs
exec /tmp/dmabuf "$LAB_DEV"

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours --cpus 2
# Completion queues and a shared receive queue are resized while messages pass.
set -e
gcc -O1 -Wall -Wextra -Werror -o /tmp/resize \
	/lab/src/tools/testing/selftests/rdma/resize.c -libverbs -lpthread
exec /tmp/resize "$LAB_DEV"

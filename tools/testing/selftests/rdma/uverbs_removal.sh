#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours
# The device goes while a program uses it, and comes back.
set -e
gcc -O1 -Wall -Wextra -Werror -o /tmp/uverbs_removal \
	/lab/src/tools/testing/selftests/rdma/uverbs_removal.c -libverbs -lpthread
exec /tmp/uverbs_removal "$LAB_DEV"

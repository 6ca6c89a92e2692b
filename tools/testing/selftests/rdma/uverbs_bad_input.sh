#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours
# Requests that must be refused: errno, reason, nothing left behind.
set -e
here=/lab/src/tools/testing/selftests/rdma
gcc -O1 -Wall -Wextra -Werror -o /tmp/uverbs_bad_input $here/uverbs_bad_*.c -libverbs -lpthread
exec /tmp/uverbs_bad_input "$@" "$LAB_DEV"

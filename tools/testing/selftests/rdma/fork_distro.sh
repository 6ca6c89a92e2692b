#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core distro --cpus 2
# A process forks while its memory is registered and its receives are posted,
# on the distribution's core with our driver.
set -e
gcc -O1 -Wall -Wextra -Werror -o /tmp/fork /lab/src/tools/testing/selftests/rdma/fork.c -libverbs
exec /tmp/fork "$LAB_DEV"

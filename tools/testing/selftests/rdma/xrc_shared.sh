#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours --cpus 2
# Two processes share an XRC domain and a target, and one dies, on our core.
. /lab/src/tools/testing/selftests/rdma/lib.sh
here=/lab/src/tools/testing/selftests/rdma
plan 3
ok "the program builds" gcc -O1 -Wall -Wextra -Werror -o /tmp/xrc_shared $here/xrc_shared.c -libverbs
ok "shared domain and target" /tmp/xrc_shared "$LAB_DEV"
ok "the device has nothing left of them" lab-vhcactl objects node1-0 xrcds=0 srqs=0 qps=0 cqs=0 pds=0
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours --irq msi
# An adapter with one MSI vector instead of MSI-X: commands and completions share it.
. /lab/src/tools/testing/selftests/rdma/lib.sh
plan 4

is "one vector" 1 "$(grep -c vhca /proc/interrupts)"
is "of MSI" 0 "$(grep vhca /proc/interrupts | grep -c MSIX)"
pair events 18515 ibv_rc_pingpong -d "$LAB_DEV" -c -e -n 200
is "completion events arrive" 0 $?
ok "through it" sh -c "awk '/vhca/ { exit !(\$2 > 100) }' /proc/interrupts"
finish

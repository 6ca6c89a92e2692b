#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours,distro --cpus 2
# check: --core ours
# Data inside of requests, and requests that reach for memory they have no right to, on both cores.
. /lab/src/tools/testing/selftests/rdma/lib.sh
plan 4

objects() { rdma resource show | sed 's/ \(ctx\|cm_id\) [0-9]*//g'; }

before=$(objects)
ok "inline data of every length" $programs/inline_sizes "$LAB_DEV"
ok "requests that reach for the wrong memory" $programs/memory_faults "$LAB_DEV"
is "no object is left" "$before" "$(objects)"
ok "nor a key in the device" sh -c "! lab-vhcactl keys node1-0 | grep -E ' (list|mw[12]) '"
finish

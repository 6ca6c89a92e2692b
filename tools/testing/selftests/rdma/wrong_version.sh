#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours --load none --device-arg --device-version --device-arg 9.3
# A device of another major version: the driver names both versions and leaves it alone.
. /lab/src/tools/testing/selftests/rdma/lib.sh
plan 4

ok "the driver loads" modprobe vhca
ok "it names the device's version" sh -c "dmesg | grep -E 'vhca.*\b9\.3\b'"
ok "and its own" sh -c "dmesg | grep -E 'vhca.*\b9\.3\b.*\b1\.[0-9]+\b|vhca.*\b1\.[0-9]+\b.*\b9\.3\b'"
is "no RDMA device appears" "" "$(ls /sys/class/infiniband 2>/dev/null)"
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours --packages pciutils
# sysfs, the registers and the programs that read them agree on the adapter's PCI Express link.
. /lab/src/tools/testing/selftests/rdma/lib.sh
plan 6

device=/sys/class/infiniband/$LAB_DEV/device
is "speed" "32.0 GT/s PCIe" "$(cat "$device/current_link_speed")"
is "width" 16 "$(cat "$device/current_link_width")"
is "speed at the most" "32.0 GT/s PCIe" "$(cat "$device/max_link_speed")"
is "width at the most" 16 "$(cat "$device/max_link_width")"
slot=$(readlink -f "$device")
ok "lspci says so" sh -c "lspci -vv -s ${slot##*/} | grep -E 'LnkSta:.*Speed 32GT/s.*Width x16'"
is "no link before it holds it up" "" "$(dmesg | grep 'available PCIe bandwidth')"
finish

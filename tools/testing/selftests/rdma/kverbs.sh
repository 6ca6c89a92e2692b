#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours,distro
# check: --core ours
# Kernel consumers: data, inline, full queues, errors, resets; and what they see when the device
# fails, is reset or is taken away.
. /lab/src/tools/testing/selftests/rdma/lib.sh
plan 16

kverbs() { cat "/sys/module/rdma_kverbs/parameters/$1"; }

# until_is PARAMETER VALUE: the lab's time-out is the limit
until_is()
{
	until [ "$(kverbs "$1")" = "$2" ]; do sleep 0.05; done
}

# rounds N: until N rounds of checks are over, however they ended
rounds()
{
	until [ $(($(kverbs passed) + $(kverbs failed))) -ge $(($1 * checks)) ]; do sleep 0.05; done
}

dev=$(readlink -f "/sys/class/infiniband/$LAB_DEV/device")

# logged: lines of the module's ibdev_dbg() in the log, with driver, bus device and device; it may
# have run before, on another core
logged() { dmesg | grep -c " vhca ${dev##*/} $LAB_DEV: checks of kernel verbs begin" || true; }
before=$(logged)
debug_lines() { echo $(($(logged) - before)); }

ok "the module meets the device" modprobe rdma_kverbs
is "all checks hold" 0 "$(kverbs failed)"
checks=$(kverbs passed)
ok "there were checks" test "$checks" -gt 40
is "a debug line is not logged until it is switched on" 0 "$(debug_lines)"
# a kernel without dynamic debugging has no such lines
lines=0
if [ -e /proc/dynamic_debug/control ]; then
	echo "module rdma_kverbs +p" >/proc/dynamic_debug/control
	lines=1
fi

lab-fault fatal node1-0
until_is removed 1
is "receives are flushed when the device fails" 8 "$(kverbs flushed)"
# the module was the first to be told
vanished() { while ls /sys/class/infiniband/* >/dev/null 2>&1; do moment; done; }
ok "the device is gone" vanished

echo 1 >"$dev/reset"
rounds 2
is "a reset brings it back" 0 "$(kverbs failed)"
is "a debug line that is switched on names the device" "$lines" "$(debug_lines)"
[ ! -e /proc/dynamic_debug/control ] || echo "module rdma_kverbs -p" >/proc/dynamic_debug/control

echo 1 >"$dev/reset"
rounds 3
is "receives are flushed when a working device is reset" 16 "$(kverbs flushed)"
is "and it is back" 0 "$(kverbs failed)"

echo "${dev##*/}" >/sys/bus/pci/drivers/vhca/unbind
is "receives are flushed when it is unbound" 24 "$(kverbs flushed)"
echo "${dev##*/}" >/sys/bus/pci/drivers/vhca/bind
rounds 4
is "and it is back" "$((4 * checks)) 0" "$(kverbs passed) $(kverbs failed)"

ok "the driver is removed under its consumer" rmmod vhca
is "which notices" "4 32" "$(kverbs removed) $(kverbs flushed)"
ok "and loaded again" modprobe vhca
rounds 5
is "all checks hold again" "$((5 * checks)) 0" "$(kverbs passed) $(kverbs failed)"
finish

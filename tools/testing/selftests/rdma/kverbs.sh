#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours,distro
# Kernel consumers: data, inline, full queues, errors, resets; and what they see when the device
# fails, is reset or is taken away.
. /lab/src/tools/testing/selftests/rdma/lib.sh
plan 14

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

ok "the module meets the device" modprobe rdma_kverbs
is "all checks hold" 0 "$(kverbs failed)"
checks=$(kverbs passed)
ok "there were checks" test "$checks" -gt 40

lab-fault fatal node1-0
until_is removed 1
is "receives are flushed when the device fails" 8 "$(kverbs flushed)"
# the module was the first to be told
vanished() { while ls /sys/class/infiniband/* >/dev/null 2>&1; do moment; done; }
ok "the device is gone" vanished

echo 1 >"$dev/reset"
rounds 2
is "a reset brings it back" 0 "$(kverbs failed)"

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

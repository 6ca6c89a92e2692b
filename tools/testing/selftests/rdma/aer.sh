#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours --pciehp
# Errors of the adapter that the root port reports. A correctable or non-fatal one changes nothing; after a
# fatal one the slot is reset, and the adapter comes back, even if it had been reset before.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/aer_report.sh
plan 11

dev=$(readlink -f "/sys/class/infiniband/$LAB_DEV/device")
slot=${dev##*/}
kverbs() { cat "/sys/module/rdma_kverbs/parameters/$1"; }

# rounds N: waits until N rounds of checks are over, whatever their results
rounds()
{
	until [ $(($(kverbs passed) + $(kverbs failed))) -ge $(($1 * checks)) ]; do moment; done
}

# recovered N: waits until the kernel has logged N recoveries
recovered()
{
	until [ "$(dmesg | grep -c 'device recovery')" -ge "$1" ]; do sleep 0.1; done
	dmesg | sed -n 's/.*: \(device recovery\)/\1/p' | tail -n 1
}

ok "errors can be reported" modprobe aer_inject
ok "a consumer meets the device" modprobe rdma_kverbs
checks=$(kverbs passed)

report "$slot" 0 0x1
report "$slot" 0x4000 0
is "an error that is not fatal is over" "device recovery successful" "$(recovered 1)"
is "and nobody has noticed" "0 $checks" "$(kverbs removed) $(kverbs passed)"

report "$slot" 0x40000 0
is "a fatal one is recovered from" "device recovery successful" "$(recovered 2)"
rounds 2
is "the consumer has lost the device" "1 8" "$(kverbs removed) $(kverbs flushed)"
is "and found it again" "$((2 * checks)) 0" "$(kverbs passed) $(kverbs failed)"

echo 1 >"$dev/reset"
rounds 3
report "$slot" 0x40000 0
is "so it is after a reset of the function" "device recovery successful" "$(recovered 3)"
rounds 4
is "with all that belongs to it" "3 $((4 * checks)) 0" "$(kverbs removed) $(kverbs passed) $(kverbs failed)"
rmmod rdma_kverbs
until [ "$(port_state "$LAB_DEV")" = "4: ACTIVE" ]; do moment; done
ok "programs find it, too" talk_alone -e -n 50
ok "and it can be unloaded" rmmod vhca
finish

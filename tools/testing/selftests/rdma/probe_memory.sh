#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 1 --core ours --kernel debug --cpus 2 --iommu --timeout 7200 -- 10
# probe_memory.sh [APART]: a device is bound, reset and unbound without memory, once at places where it takes
# some, the first APART of them and others further and further apart: the driver's, those of the core's
# registration, and of each module that hears of the device. It is there afterwards or nothing is, it always
# goes, and it works when there is memory. The kernel itself makes the files of an interrupt in /proc without
# a look at whether it could, and WARNs when it removes one that is not there: those have memory.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh

slot=$(basename "$(readlink -f "/sys/class/infiniband/$LAB_DEV/device")")
# a device gets another number each time
objects() { rdma resource show | sed 's|^[0-9]*: ||'; ls /sys/class/net /sys/kernel/debug/ipoib /dev/infiniband; }
as_before() { [ "$(objects)" = "$before" ] || { objects; return 1; }; }

# has_memory FUNCTION: what this function of the kernel takes, it gets
has_memory()
{
	local start end kind
	read -r start end < <(awk -v name="$1" 'start && $1 != start { print start, $1; exit }
		$3 == name { start = $1 }' /proc/kallsyms)
	for kind in failslab fail_page_alloc; do
		cd "/sys/kernel/debug/$kind" && echo 32 >stacktrace-depth && echo "0x$start" >reject-start &&
			echo "0x$end" >reject-end || return 1
	done
}

plan 4
mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug
# Of IPoIB's receives, which are all alike, there are two.
ok "modules that hear of it" sh -c "modprobe -a ib_umad rdma_ucm && modprobe ib_ipoib recv_queue_size=2"
within net_device
before=$(objects)
ok "files of interrupts have memory" has_memory register_irq_proc
ok "it is there, or nothing is" python3 -B "${0%.sh}.py" "$slot" "$LAB_DEV" "$patience" "${1:-10}"
ok "and in the end as it was" within as_before
finish

# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Sourced by the scripts that compare rdma_rxe on the distribution's modules with the emulated HCA
# on ours, one after the other in the same guest. LAB_DEV is the device that is up.
# shellcheck shell=bash

die() { echo "${0##*/}: $*" >&2; exit 1; }

rxe_up()
{
	local eth
	eth=$(ip -o route get 10.77.0.9 | sed -n 's/.* dev \([^ ]*\).*/\1/p')
	lab-core stock || die "no stock modules"
	modprobe crc32_generic && modprobe rdma_rxe && modprobe ib_uverbs || die "rdma_rxe does not load"
	rdma link add rxe0 type rxe netdev "$eth" || die "no rxe0 on $eth"
	LAB_DEV=rxe0
}

rxe_down()
{
	rdma link delete rxe0 || die "rxe0 cannot be deleted"
	lab-unload || die "modules stay loaded"
}

ours_up()
{
	lab-core ours && lab-load auto || die "our modules do not load"
	LAB_DEV=$(ls /sys/class/infiniband)
}

ours_down() { lab-unload || die "modules stay loaded"; }

# manager_ends: the modules are in use as long as the subnet's manager runs
manager_ends()
{
	local pid
	[ "$LAB_NODE" = 1 ] || return 0
	pid=$(</run/lab/opensm)
	kill "$pid" || die "opensm has ended before"
	while kill -0 "$pid" 2>/dev/null; do moment; done
}

# rxe_gid: index of rxe0's GID that is the guest's IPv4 address.
rxe_gid()
{
	grep -l '0000:0000:0000:0000:0000:ffff:' /sys/class/infiniband/rxe0/ports/1/gids/* |
		sed -n '1s|.*/||p'
}

# Kernel memory that can be attributed: module text and data, vmalloc, unreclaimable slab,
# per-CPU memory and stacks.  Free memory is no measure, since it changes by megabytes on its own.
# The pages that the driver has from the DMA API for its rings are not included.
kernel_kb()
{
	sync
	echo 3 >/proc/sys/vm/drop_caches
	awk '$1 ~ /^(SUnreclaim|VmallocUsed|Percpu|KernelStack|PageTables):$/ { sum += $2 }
	     END { print sum }' /proc/meminfo
}

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# What make demo runs in both guests: rdma_rxe first, then our stack, the same programs.
# They start with the stock module tree and nothing loaded.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/bench/guest/devices.sh

bad=0

# step TITLE COMMAND...
step()
{
	local title=$1
	shift
	echo "== $title"
	"$@" 2>&1 || {
		echo "FAILED: $title (exit status $?: $*)"
		bad=1
	}
}

# measure LABEL BW-MESSAGES LAT-MESSAGES
measure()
{
	local label=$1 bw=$2 lat=$3 program rc=0
	for program in ib_write_bw ib_read_bw ib_send_bw; do
		measured "$label.$program" 18515 "$program" -d "$LAB_DEV" -F --report_gbits -s 65536 -n "$bw" ||
			rc=1
	done
	for program in ib_write_lat ib_send_lat; do
		measured "$label.$program" 18515 "$program" -d "$LAB_DEV" -F -s 64 -n "$lat" || rc=1
	done
	return $rc
}

# The kernel marks what was not built with it by an O.
modules()
{
	local module
	for module in ib_core ib_uverbs vhca; do
		echo "$module: $(modinfo -n "$module")"
		grep -q O "/sys/module/$module/taint" || return 1
	done
}

active() { rdma link && rdma link show "$LAB_DEV/1" | grep -q 'state ACTIVE'; }

step "the distribution's rdma_rxe over virtio-net" rxe_up
step "rdma_rxe: ibv_rc_pingpong -c" \
	pair rxe.pingpong 18515 ibv_rc_pingpong -d rxe0 -g "$(rxe_gid)" -c -n 50
step "rdma_rxe: perftest's ib_{write,read,send}_bw and ib_{write,send}_lat" measure rxe 100 200
step "rdma_rxe is unloaded" rxe_down

step "our modules are loaded by modprobe, in Linux $(uname -r)" ours_up
step "ours were chosen over the distribution's" modules
step "rdma link" active
step "ibv_devinfo -v" ibv_devinfo -v -d "$LAB_DEV"
step "ibv_rc_pingpong -c: data is checked" pair ours.pingpong 18515 ibv_rc_pingpong -d "$LAB_DEV" -c
step "perftest's ib_{write,read,send}_bw and ib_{write,send}_lat" measure ours 5000 5000
exit $bad

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# storage.sh [profile]: what bench/storage starts in two guests: the kernel's NVMe, iSCSI and NFS by rdma_rxe on
# the distribution's modules, by the emulated HCA on ours, and over TCP on virtio-net, which take turns.
# Disks forget what is written, files of NFS lie in memory. What fio prints stays in $LAB_OUT as
# PROTOCOL.WHAT.ROUND.METRIC.json, and as PROTOCOL.WHAT.verify.json what it says of data with checksums
# that were written to a disk in memory, read back and compared. With "profile" the emulated HCA and TCP
# alone, for longer, and as PROTOCOL.WHAT.METRIC.nodeN.profile what both processors were at meanwhile.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/storage.sh
. /lab/src/tools/testing/bench/guest/devices.sh

profile=${1:-}
SECONDS_EACH=3
[ -z "$profile" ] || SECONDS_EACH=10
tcp4=10.77.0.1
declare -A block=([nvme]=128k [iscsi]=128k [nfs]=1M [disk]=128k [file]=1M)

meet() { lab-barrier "$1" || die "the other guest has ended: $1"; }

# timed NAME FILE OPTION...
timed() { fio_run "$1" "$2" --size=64M --time_based --runtime=$SECONDS_EACH "${@:3}"; }

# write, read_back, latency, measure WHAT ROUND FILE PROTOCOL
write() { timed "$4.$1.$2.write" "$3" --rw=write --bs="${block[$4]}" --iodepth=8; }
read_back() { timed "$4.$1.$2.read" "$3" --rw=read --bs="${block[$4]}" --iodepth=8; }
latency() { timed "$4.$1.$2.latency" "$3" --rw=randread --bs=4k --iodepth=1; }
measure() { write "$@" && read_back "$@" && latency "$@"; }

# verify WHAT ROUND FILE PROTOCOL: once for each of them
verify()
{
	fio_run "$4.$1.verify" "$3" --size=32M --rw=randwrite --bsrange=4k-256k --iodepth=8 \
		--verify=crc32c --verify_fatal=1
}

# watched NAME COMMAND...: what this guest's processor is at meanwhile, when that is asked for
watched()
{
	local recorder status control said
	[ -n "$profile" ] || { "${@:2}"; return; }
	rm -f /tmp/control /tmp/said && mkfifo /tmp/control /tmp/said
	# for both directions, so that nothing waits for a perf that does not start
	exec {control}<>/tmp/control {said}<>/tmp/said
	perf record -q -a -e cpu-clock -F 499 -o /tmp/perf.data --delay=-1 --control=fifo:/tmp/control,/tmp/said &
	recorder=$!
	echo enable >&"$control"
	read -r -t "$patience" <&"$said" || { echo "perf says nothing"; return 1; }
	exec {control}>&- {said}>&-
	"${@:2}"
	status=$?
	kill $recorder && wait $recorder
	perf report -i /tmp/perf.data --stdio --no-children --fields overhead,dso,sym --percent-limit 0.05 \
		>"$LAB_OUT/$1.node$LAB_NODE.profile" && return $status
}

# used PROTOCOL WHAT ROUND TRANSPORT ADDRESS DISK WORK: node 1 serves, node 2 does the work
used()
{
	local protocol=$1 what=$2 round=$3 work=$7 at file
	at="$1 by $2, round $3, $7"
	set -- "$4" "$5" "$6"
	[ "$LAB_NODE" != 1 ] || "${protocol}_served" "$@" || die "no target: $at"
	meet "$at: served"
	if [ "$LAB_NODE" = 2 ]; then
		"${protocol}_client_up" && "${protocol}_begins" "$@" && file=$("${protocol}_file") || die "no disk: $at"
		watched "$protocol.$what.$work" "$work" "$what" "$round" "$file" "$protocol" || die "fio fails: $at"
		meet "$at: done"
		"${protocol}_ends" "$@" && "${protocol}_client_down" || die "it does not end: $at"
	else
		watched "$protocol.$what.$work" meet "$at: done"
	fi
	meet "$at: used"
	[ "$LAB_NODE" != 1 ] || "${protocol}_over" "$@" || die "the target stays: $at"
	within qps_are 0 || die "QPs stay: $at"
	meet "$at: over"
}

# all WHAT ROUND TRANSPORT ADDRESS
all()
{
	local protocol
	for protocol in nvme iscsi nfs; do
		[ "$2" != 1 ] || used $protocol "$@" lab verify
		used $protocol "$@" fast measure
	done
}

# profiled WHAT TRANSPORT ADDRESS
profiled()
{
	local protocol
	for protocol in nvme iscsi nfs; do
		used $protocol "$1" 1 "$2" "$3" fast write
		used $protocol "$1" 1 "$2" "$3" fast latency
	done
}

if [ -n "$profile" ]; then
	[ "$LAB_NODE" != 1 ] || disk fast 1024 0 || die "no disk"
	ours_up
	connections_up >/dev/null || die "ports have no addresses"
	profiled ours rdma "$server4"
	profiled tcp tcp $tcp4
	manager_ends
	ours_down
	exit
fi

if [ "$LAB_NODE" = 1 ]; then
	disk lab 64 && disk fast 1024 0 || die "no disks"
	mkdir /tmp/limit && mount -t tmpfs tmpfs /tmp/limit || die "no file system"
	measure local 1 /dev/fast disk && measure local 1 /tmp/limit/file file || die "no local figures"
	umount /tmp/limit
fi
tcp=0
for step in rxe:1 ours:1,2 rxe:2 ours:3,4 rxe:3 ours:5; do
	what=${step%:*}
	"${what}_up"
	if [ "$what" = rxe ]; then
		modprobe rdma_ucm || die "no stock rdma_ucm"
		server=$tcp4
	else
		connections_up >/dev/null || die "ports have no addresses"
		server=$server4
		tcp=$((tcp + 1))
		all tcp $tcp tcp $tcp4
	fi
	for round in $(tr , ' ' <<<"${step#*:}"); do all "$what" "$round" rdma "$server"; done
	[ "$what" = rxe ] || manager_ends
	"${what}_down"
done

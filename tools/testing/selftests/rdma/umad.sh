#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours,distro
# User MADs: requests, namespaces, trace points; and, on our core, the device's removal while files
# are open. i386.sh has the requests of programs of 32 bits.
. /lab/src/tools/testing/selftests/rdma/lib.sh
d=$LAB_DEV
mad=/sys/class/infiniband_mad
events=/sys/kernel/tracing/events/ib_umad
trace=/sys/kernel/tracing/trace
modprobe ib_umad

# the distribution's core gives no reasons, and its readers do not learn that the device is gone
unreasoned=() more=1
[ "$LAB_CORE" = ours ] || unreasoned=(-n) more=0
plan $((9 + more))

is "the ABI has version 5" 5 "$(<$mad/abi_version)"
umad=$(grep -lx "$d" $mad/umad*/ibdev)
umad=${umad%/ibdev} umad=${umad##*/}
issm=issm${umad#umad}
is "the first port's umad" "$d 1" "$(<"$mad/$umad/ibdev") $(<"$mad/$umad/port")"
is "and its issm" "$d 1" "$(<"$mad/$issm/ibdev") $(<"$mad/$issm/port")"
is "their nodes are root's" "crw------- root crw------- root" \
	"$(stat -c '%A %U' "/dev/infiniband/$umad" "/dev/infiniband/$issm" | paste -sd' ')"

mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
echo 1 >$events/enable
ok "requests" "$programs/umad_requests" "${unreasoned[@]}" "$d"
echo 0 >$events/enable
for one in ib_umad_write ib_umad_read_recv ib_umad_read_send; do
	ok "trace point $one" grep -q -m1 "$one: " $trace
done

until rdma system set netns exclusive 2>/dev/null; do moment; done
ok "a device of another namespace cannot be opened" \
	sh -c "! unshare -n sh -c ': <>/dev/infiniband/$umad' && : <>/dev/infiniband/$umad && ! unshare -n sh -c ': <>/dev/infiniband/$issm'"
rdma system set netns shared

[ "$more" = 0 ] || ok "the device goes while files are open" "$programs/umad_removal" "$d"
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# control.sh [flat | NAME...]: what bench/control starts in a guest that counts instructions; the
# figures land in $LAB_OUT/control. NAMEs are lines of control.c, or frwr.
set -e
gcc -O2 -Wall -Wextra -Werror -o /tmp/control /lab/src/tools/testing/bench/guest/control.c -libverbs
: >"$LAB_OUT/control"
[ "$*" = frwr ] || /tmp/control "$@" >"$LAB_OUT/control"
case " ${*:-frwr} " in *" frwr "*)
	modprobe rdma_kfrwr
	ns=$(cat /sys/module/rdma_kfrwr/parameters/ns)
	[ "$ns" -gt 0 ]
	# an instruction takes two nanoseconds of the guest's time
	echo "frwr $((ns / 2 / $(cat /sys/module/rdma_kfrwr/parameters/cycles)))" >>"$LAB_OUT/control"
	rmmod rdma_kfrwr
	;;
esac
cat "$LAB_OUT/control"

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 1 --core ours --kernel debug --cpus 2 --append "dma_debug=off nokaslr" --timeout 1500
# The fuzzer of the user API for a while: it runs, it gets around in ib_uverbs, it finds nothing.
. /lab/src/tools/testing/selftests/rdma/lib.sh

PROGRAMS=400 PLACES=1250

# covers MODULE LEAST: so many places of a module were reached
covers()
{
	local words found
	read -ra words <"$LAB_OUT/line"
	for ((i = 0; i < ${#words[@]}; i++)); do
		[ "${words[i]}" != "$1" ] || found=${words[i + 1]%/*}
	done
	echo "$1: ${found:-none} places, at least $2 are expected"
	[ "${found:-0}" -ge "$2" ]
}

plan 3
ok "$PROGRAMS programs, and no report of the kernel" \
	/lab/src/tools/testing/fuzz/guest --seed 1 --programs $PROGRAMS
ok "they reach ib_uverbs" covers ib_uverbs $PLACES
ok "the device still serves programs" ibv_devinfo
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 1 --core ours --kernel debug --cpus 2 --ports 2 --link ib,eth --subnet opensm --append "dma_debug=off nokaslr" --timeout 3600
# The fuzzer of the user API for a while: it runs, it gets around in ib_uverbs, it finds nothing.
. /lab/src/tools/testing/selftests/rdma/lib.sh

PROGRAMS=400 PLACES=1250 FILES=7 MADS=10

# covers MODULE LEAST: at least LEAST places of a module were reached
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

# accepted LEAST PREFIX...: at least LEAST commands whose names begin with a PREFIX have succeeded
accepted()
{
	local least=$1 prefix found
	for prefix in "${@:2}"; do
		found=$(awk -v prefix="$prefix" 'index($1, prefix) == 1 && $3' "$LAB_OUT/answers" | wc -l)
		echo "$prefix: $found commands, at least $least are expected"
		[ "$found" -ge "$least" ] || return 1
	done
}

# sent LEAST: so many MADs. With a header that the file does not take, hardly any would be.
sent()
{
	awk -v least="$1" '$1 == "sys:put_mad" { print $3 " of " $2 " MADs, at least " least " are expected"; n = $3 }
		END { exit n < least }' "$LAB_OUT/answers"
}

plan 9
ok "$PROGRAMS programs, and no report of the kernel" \
	/lab/src/tools/testing/fuzz/guest --managed --seed 1 --programs $PROGRAMS
ok "they reach ib_uverbs" covers ib_uverbs $PLACES
ok "they use files of sysfs" accepted $FILES sysfs:D/
ok "and of configfs" accepted 3 sysfs:C
ok "groups that allow few objects, and other namespaces" accepted 1 sys:cgroup sys:netns
ok "they connect" accepted 1 ucma:ACCEPT ucma:DISCONNECT ucma:REJECT ucma:JOIN_
ok "they send MADs" sent $MADS
ok "they use the interface of IPoIB" accepted 1 sys:net sysfs:N/mode
ok "the device still serves programs" ibv_devinfo
finish

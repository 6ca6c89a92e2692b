#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 1 --core ours --kernel debug --cpus 2 --ports 2 --link ib,eth --append "dma_debug=off nokaslr" --timeout 7200
# The fuzzer of the user API on a device that is removed and comes back: first its programs for that, among
# them munmap() beside pages that are revoked, repeatedly; then random ones, with faults of the device.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/fuzz_answers.sh

fuzz=/lab/src/tools/testing/fuzz TIMES=40 PROGRAMS=60

# again: the seeds of removals, and no others, until they have run TIMES times in all
again()
{
	mkdir /tmp/again
	cp "$fuzz/corpus/removal" /tmp/again/
	"$fuzz/guest" --removal --replay /tmp/again --times $TIMES
}

plan 6
ok "$TIMES programs that unmap beside removals, and no report of the kernel" again
ok "$PROGRAMS programs made of them and of others, and no report either" \
	"$fuzz/guest" --seed 28 --removal --programs $PROGRAMS
ok "the device has gone often" succeeded remove 10
ok "while pages were unmapped" succeeded unmap 4
ok "and has had faults" succeeded fault 3
ok "the device still serves programs" ibv_devinfo
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 1 --core ours --kernel debug --cpus 2 --hca 0 --append "dma_debug=off nokaslr" --timeout 7200
# The fuzzer of the user API on devices whose drivers cannot separate open files from them: one without hardware,
# and one of rdma_rxe. Both are removed again and again.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/fuzz_answers.sh

fuzz=/lab/src/tools/testing/fuzz PROGRAMS=60 FEW=20

# without KIND: neither the device nor the net device that the fuzzer has made for it
without() { modprobe -r "rdma_$1" && ip link del fuzz0; }

plan 8
ok "rdma_rxe: $FEW programs, and no report of the kernel" \
	"$fuzz/guest" --device rxe --removal --seed 28 --programs $FEW
ok "it has gone often" succeeded remove 5
ok "beside opens" succeeded reopen 100
ok "it goes" without rxe
ok "rdma_ufake: $PROGRAMS programs, and no report" \
	"$fuzz/guest" --device ufake --removal --seed 28 --programs $PROGRAMS
ok "it has gone often" succeeded remove 10
ok "beside opens" succeeded reopen 100
ok "it goes" without ufake
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 1 --core ours --cpus 2 --kernel debug --timeout 3600 -- 60000
# rereg_storm.sh STEPS: a driver that has no way to change an MR replaces it, STEPS times in each of
# two threads, while two others end MRs under the same handles. Nothing is left of it.
. /lab/src/tools/testing/selftests/rdma/lib.sh
plan 4

objects() { rdma resource show ufake0 | sed 's/^[^:]*: ufake0: //; s/ *$//'; }

ok "a device that replaces MRs" modprobe rdma_ufake
ok "MRs are replaced while they are ended" $programs/rereg_storm ufake0 "$1"
is "none of their objects is left" "pd 0 cq 0 qp 0 cm_id 0 mr 0 ctx 0 srq 0" "$(objects)"
ok "the device goes" modprobe -r rdma_ufake
finish

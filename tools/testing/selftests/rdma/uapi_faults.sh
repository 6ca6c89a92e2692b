#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours --cpus 2 --timeout 600
# long: --kernel debug --timeout 3000
# Memory of requests that cannot be read or written, or only late: what fails leaves nothing behind,
# to which the debug kernel's checkers look.
# rdma_ufake answers the commands that vhca leaves to programs.
modprobe rdma_ufake
exec python3 -B /lab/src/tools/testing/selftests/rdma/uapi_faults.py "$LAB_DEV" ufake0

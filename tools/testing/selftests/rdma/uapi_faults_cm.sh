#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours --subnet opensm --cpus 2 --timeout 600
# long: --kernel debug --timeout 3000
# As uapi_faults, with requests to the connection manager and to a umad.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
connections_up >/dev/null || exit 1
modprobe ib_umad
exec python3 -B /lab/src/tools/testing/selftests/rdma/uapi_faults_cm.py "$LAB_DEV" "$own4"

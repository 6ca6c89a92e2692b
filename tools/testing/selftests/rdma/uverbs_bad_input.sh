#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours,distro
# Requests that must be refused: errno, reason, nothing left behind. On the distribution's core
# those of reasons.sh, too: our errnos are those of Linux 6.12.
here=/lab/src/tools/testing/selftests/rdma
bad_input=/lab/src/build/selftests/uverbs_bad_input
[ "$LAB_CORE" != ours ] || exec $bad_input "$LAB_DEV"
rc=0
$bad_input -n "$LAB_DEV" || rc=1
python3 -B $here/uapi_walk.py -n "$LAB_DEV" || rc=1
exit $rc

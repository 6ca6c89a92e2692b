#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core distro
# The same requests on the distribution's core, and those of reasons.sh: our errnos are those of
# Linux 6.12.
here=/lab/src/tools/testing/selftests/rdma
rc=0
bash $here/uverbs_bad_input.sh -n || rc=1
python3 -B $here/uapi_walk.py -n "$LAB_DEV" || rc=1
exit $rc

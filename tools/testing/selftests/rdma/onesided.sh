#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours --mem 1280
# check: no
# long: --core ours,distro
# The distribution's programs with atomics and huge pages.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/programs.sh
plan $onesided_programs_plan
onesided_programs
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours,distro --mem 1280
# The distribution's programs with atomics and huge pages, on both cores.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/programs.sh
plan $onesided_programs_plan
onesided_programs
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours,distro
# check: --core ours
# The distribution's RC programs between two guests, on both cores.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/programs.sh
plan $rc_programs_plan
rc_programs
finish

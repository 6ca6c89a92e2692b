#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours,distro
# check: --core ours
# The distribution's programs with extended reliable connections, on both cores.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/programs.sh
plan $xrc_programs_plan
xrc_programs
finish

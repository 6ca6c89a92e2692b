#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours
# check: no
# long: --core ours,distro
# The distribution's programs on datagrams, unreliable connections and shared receives.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/programs.sh
plan $datagram_programs_plan
datagram_programs
finish

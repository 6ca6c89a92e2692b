#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core distro
# The checks of kverbs.sh on the distribution's core.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/kverbs_checks.sh
plan $kverbs_plan
kverbs_checks
finish

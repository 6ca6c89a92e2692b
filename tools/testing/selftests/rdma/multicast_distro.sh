#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 3 --core distro
# Multicast between three guests, on the distribution's core with our driver.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/multicast_checks.sh
plan $multicast_plan
multicast
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 1 --core distro --kernel debug --append "lsm=selinux kmemleak=off" --packages secilc
# long/pkey_policy on the distribution's core, in a guest of its own
. /lab/src/tools/testing/selftests/rdma/pkey_policy.sh

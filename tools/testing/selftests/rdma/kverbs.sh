#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours
# Kernel consumers: data, inline, full queues, errors, resets; and what they see when the device
# fails, is reset or is taken away.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/kverbs_checks.sh
plan $kverbs_plan
kverbs_checks
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core distro --device-arg --caps-off --device-arg smi-gsi
# check: no
# What every subcommand of iproute2's rdma says on the distribution's core. The device must be a new
# one: an old one gives QPs other numbers.
exec bash /lab/src/tools/testing/selftests/rdma/rdma_tool.sh

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core distro --packages qperf
# qperf's verified tests on the distribution's core.
exec bash /lab/src/tools/testing/selftests/rdma/qperf.sh verified

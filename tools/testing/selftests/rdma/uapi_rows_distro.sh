#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core distro
# And what the distribution's core, Linux 6.12, answers.
exec bash /lab/src/tools/testing/selftests/rdma/uapi_rows.sh

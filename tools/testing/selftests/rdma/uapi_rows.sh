#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours,distro
# What our core answers to every command of the user API, and what Linux 6.12 does, which is the
# distribution's; counts/interfaces compares them.
exec python3 -B /lab/src/tools/testing/selftests/rdma/uapi_rows.py "$LAB_OUT/answers"

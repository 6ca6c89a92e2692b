#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours
# What our core answers to every command of the user API; counts/interfaces compares it.
exec python3 -B /lab/src/tools/testing/selftests/rdma/uapi_rows.py "$LAB_OUT/answers"

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours
# Netlink requests that must be refused, from a program that makes them byte by byte.
exec python3 -B /lab/src/tools/testing/selftests/rdma/rdma_bad_netlink.py /lab/src/include/uapi/rdma/rdma_netlink.h

#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""ls_timeout.py MILLISECONDS: for so long the kernel is to wait for the local service's paths
(RDMA_NL_LS_OP_SET_TIMEOUT), which no program of the distribution tells it. Exits with 1 if it is
refused."""

import os
import socket
import struct
import sys

NETLINK_RDMA = 20
RDMA_NL_LS, SET_TIMEOUT = 4, 1
LS_NLA_TYPE_TIMEOUT = 2
REQUEST, ACK = 1, 4
ERROR = 2

with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_RDMA) as nl:
    nl.bind((0, 0))
    attr = struct.pack("<HHI", 8, LS_NLA_TYPE_TIMEOUT, int(sys.argv[1]))
    nl.send(struct.pack("<IHHII", 16 + len(attr), RDMA_NL_LS << 10 | SET_TIMEOUT, REQUEST | ACK, 1, 0) + attr)
    kind, = struct.unpack_from("<4xH", answer := nl.recv(4096))
    error, = struct.unpack_from("<i", answer, 16)
    if kind != ERROR or error:
        sys.exit(f"it is refused: {os.strerror(-error)}")

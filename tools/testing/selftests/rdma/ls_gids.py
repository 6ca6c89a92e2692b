#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""ls_gids.py ADDRESS GID: tells the kernel, when it asks (RDMA_NL_LS_OP_IP_RESOLVE), that this IPv4 address
has this GID. No program of the distribution does that. Prints "listening", and each address that it was asked
for. Paths it does not know, and says so."""

import socket
import struct
import sys

NETLINK_RDMA, SOL_NETLINK, ADD_MEMBERSHIP = 20, 270, 1
RDMA_NL_GROUP_LS = 3
RDMA_NL_LS, RESOLVE, IP_RESOLVE = 4, 0, 2
ERROR = 0x100
LS_NLA_TYPE_DGID, LS_NLA_TYPE_IPV4 = 4, 9
NLA_TYPE = 0x1fff           # without the flag that an attribute must be understood
HEADER = 16

address, gid = sys.argv[1], socket.inet_pton(socket.AF_INET6, sys.argv[2])
with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_RDMA) as nl:
    nl.bind((0, 0))
    nl.setsockopt(SOL_NETLINK, ADD_MEMBERSHIP, RDMA_NL_GROUP_LS)
    print("listening", flush=True)
    while True:
        question = nl.recv(4096)
        _, kind, _, number, _ = struct.unpack_from("<IHHII", question)
        attr, flags = b"", ERROR
        if kind == RDMA_NL_LS << 10 | IP_RESOLVE:
            length, what = struct.unpack_from("<HH", question, HEADER + 4)
            if what & NLA_TYPE == LS_NLA_TYPE_IPV4:
                asked = socket.inet_ntoa(question[HEADER + 8:HEADER + 4 + length])
                print("asked for", asked, flush=True)
                if asked == address:
                    attr, flags = struct.pack("<HH", 4 + len(gid), LS_NLA_TYPE_DGID) + gid, 0
        elif kind != RDMA_NL_LS << 10 | RESOLVE:
            continue
        nl.send(struct.pack("<IHHII", HEADER + len(attr), kind, flags, number, 0) + attr)

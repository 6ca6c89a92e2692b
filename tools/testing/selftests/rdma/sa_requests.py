#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Requests to the subnet's administration that none of the distribution's programs sends:

    sa_requests.py MANAGER register|unregister NAME     a service of this port's
    sa_requests.py MANAGER subscribe|unsubscribe TRAP   to the reports of a trap
    sa_requests.py MANAGER paths FROM,FROM... TO,TO...  from each GID to each, by one request

MANAGER is the LID of the port where it is; the port that sends is umad0's. Prints the LIDs that
paths lead to; exits with 1 and the status if the manager refuses."""

import fcntl
import os
import select
import socket
import struct
import sys

REGISTER_AGENT2 = 0xc0281b04
GSI_QKEY = 0x80010000
CLASS, CLASS_VERSION = 3, 2
SET, GET_MULTI, DELETE = 0x02, 0x14, 0x15
INFORM_INFO, SERVICE_RECORD, PATH_RECORD, MULTI_PATH_RECORD = 0x03, 0x31, 0x35, 0x3a
RMPP_DATA, RMPP_ACTIVE = 1, 1
SERVICE_ID = 0x1000000000000123
# component masks
SERVICE_RID = 0x7           # ID, GID and P_Key
SERVICE_ALL = SERVICE_RID | 0x10 | 0x40    # lease and name, too
MULTI_PATH = 1 << 6 | 1 << 19 | 1 << 20    # how many paths, sources and destinations


def request(manager, method, attribute, mask, data, rmpp=False):
    """The manager's answer: (status, bytes between records, records)."""
    umad = os.open("/dev/infiniband/umad0", os.O_RDWR)
    agent = bytearray(struct.pack("<IIBBHIQQIB3x", 0, 1, CLASS, CLASS_VERSION,
                                  0, 0, 0, 0, 0, 1))
    fcntl.ioctl(umad, REGISTER_AGENT2, agent)
    number, = struct.unpack_from("<I", agent)
    header = struct.pack("<IIIII", number, 0, 5000, 3, 0)
    header += struct.pack(">IIHBB", 1, GSI_QKEY, manager, 0, 0) + bytes(32)
    mad = struct.pack(">BBBBHHQHHI", 1, CLASS, CLASS_VERSION, method, 0, 0, 1, attribute, 0, 0)
    mad += struct.pack(">BBBBII", 1, RMPP_DATA, RMPP_ACTIVE, 0, 0, 0) if rmpp else bytes(12)
    mad += struct.pack(">QHHQ", 0, 0, 0, mask) + data.ljust(200, b"\0")
    os.write(umad, header + mad)
    if not select.select([umad], [], [], 30)[0]:
        raise SystemExit("neither an answer nor the end of the time for one")
    answer = os.read(umad, 65536)
    error, = struct.unpack_from("<I", answer, 4)
    if error:
        raise SystemExit("no answer: " + os.strerror(error))
    mad = answer[64:]
    status, = struct.unpack_from(">H", mad, 4)
    offset, = struct.unpack_from(">H", mad, 44)
    os.close(umad)
    return status, 8 * offset, mad[56:]


def text(path):
    with open("/sys/class/" + path, encoding="ascii") as file:
        return file.read().strip()


def own_gid():
    device, port = text("infiniband_mad/umad0/ibdev"), text("infiniband_mad/umad0/port")
    return socket.inet_pton(socket.AF_INET6, text(f"infiniband/{device}/ports/{port}/gids/0"))


def service(manager, method, name):
    data = struct.pack(">Q16sHHI16s64s", SERVICE_ID, own_gid(), 0xffff, 0, 0xffffffff, b"",
                       name.encode())
    mask = SERVICE_ALL if method == SET else SERVICE_RID
    return request(manager, method, SERVICE_RECORD, mask, data)


def inform(manager, begin, trap):
    """Of every port; by QP 1; the node's type does not matter."""
    data = struct.pack(">16sHHHBBHHIBBH", b"", 0xffff, 0, 0, 1, begin, 0xffff, trap,
                       1 << 8 | 19, 0, 0xff, 0xffff)
    return request(manager, SET, INFORM_INFO, 0, data)


def paths(manager, sources, destinations):
    gids = [socket.inet_pton(socket.AF_INET6, gid) for gid in sources + destinations]
    data = struct.pack(">IBBHHBBBBBBB7s", 0, 0, 0x7f, 0, 0, 0, 0, 0, 0, 0,
                       len(sources), len(destinations), b"") + b"".join(gids)
    return request(manager, GET_MULTI, MULTI_PATH_RECORD, MULTI_PATH, data, rmpp=True)


def main():
    manager, what, *words = sys.argv[1:]
    manager = int(manager)
    if what in ("register", "unregister"):
        answer = service(manager, SET if what == "register" else DELETE, words[0])
    elif what in ("subscribe", "unsubscribe"):
        answer = inform(manager, what == "subscribe", int(words[0]))
    else:
        answer = paths(manager, *(word.split(",") for word in words))
    status, size, records = answer
    if status:
        raise SystemExit(f"the manager refuses with status {status:#06x}")
    if what == "paths":
        found = [struct.unpack_from(">H", records, at + 40)[0]
                 for at in range(0, len(records) - size + 1, size)]
        print("paths to", *sorted(found))


main()

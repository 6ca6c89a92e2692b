#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""uapi_rows.py FILE: ask the kernel for every row of uapi-commands.tsv that /dev/infiniband/uverbs0
and the RDMA netlink socket serve, with requests that lack what they need, and write the answers
to FILE: family, name, one errno a request. tools/testing/counts compares what two kernels say."""

import ctypes
import fcntl
import os
import socket
import struct
import sys

COUNTS = "/lab/src/tools/testing/counts"
sys.path.insert(0, COUNTS)
import uapi  # noqa: E402

IOCTL = 0xc0181b01          # RDMA_VERBS_IOCTL
MANDATORY = 1               # UVERBS_ATTR_F_MANDATORY
EXTENDED = 0x80000000       # IB_USER_VERBS_CMD_FLAG_EXTENDED
NETLINK_RDMA = 20
REQUEST, ACK, DUMP = 1, 4, 0x300
ERROR, DONE = 2, 3


def attempt(call, *args):
    try:
        call(*args)
    except OSError as error:
        return error.errno
    return 0


def write_answers(fd, numbers, name):
    """A request of a header alone, one of zeros, and one that is longer than any, with room for
    a response where nothing can be written."""
    number = numbers.value["IB_USER_VERBS_" + name]
    answers = []
    for size in (0, 64, 1024):
        if name.startswith("EX_"):
            request = struct.pack("<IHH", number | EXTENDED, size // 8, 0) + \
                struct.pack("<QHHI", 0, 0, 0, 0) + bytes(size)
        else:
            request = struct.pack("<IHH", number, (size + 8) // 4, size // 4) + bytes(size)
        answers.append(attempt(os.write, fd, request))
    return answers


def ioctl(fd, obj, method, attrs):
    """attrs: [(number, length, data)]"""
    request = struct.pack("<HHHHQII", 24 + 16 * len(attrs), obj, method, len(attrs), 0, 0, 0)
    for number, length, data in attrs:
        request += struct.pack("<HHHHQ", number, length, MANDATORY, 0, data)
    return attempt(fcntl.ioctl, fd, IOCTL, bytearray(request))


def ioctl_answers(fd, numbers, name):
    value = numbers.value
    device = value["UVERBS_OBJECT_DEVICE"]
    if name.startswith("UVERBS_OBJECT_"):
        # how many handles of the type are there?
        total, handles = ctypes.create_string_buffer(8), ctypes.create_string_buffer(256)
        attrs = [(value["UVERBS_ATTR_INFO_OBJECT_ID"], 8, value[name]),
                 (value["UVERBS_ATTR_INFO_TOTAL_HANDLES"], 4, ctypes.addressof(total)),
                 (value["UVERBS_ATTR_INFO_HANDLES_LIST"], 256, ctypes.addressof(handles))]
        return [ioctl(fd, device, value["UVERBS_METHOD_INFO_HANDLES"], attrs),
                ioctl(fd, value[name], 19, [])]
    if name.startswith("UVERBS_METHOD_"):
        return [ioctl(fd, value[numbers.object_of(name)], value[name], [])]
    method = numbers.method_of(name) or "UVERBS_METHOD_GET_CONTEXT"
    obj = value[numbers.object_of(method)]
    return [ioctl(fd, obj, value[method], [(value[name], length, data)])
            for length, data in ((3, 0), (0, 1 << 30), (8, 0), (60000, 8))]


def makes_context(numbers, name):
    """A file that has a context refuses GET_CONTEXT for that alone."""
    return name.startswith("UVERBS_ATTR_") and \
        (numbers.method_of(name) or "UVERBS_METHOD_GET_CONTEXT") == "UVERBS_METHOD_GET_CONTEXT"


def netlink_answer(client, op, flags):
    """The errno of the acknowledgement, or that with which a list ends."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_RDMA) as sock:
        sock.settimeout(30)
        sock.send(struct.pack("<IHHII", 16, client << 10 | op, REQUEST | ACK | flags, 1, 0))
        while True:
            reply = sock.recv(65536)
            at = 0
            while at < len(reply):
                length, kind = struct.unpack_from("<IH", reply, at)
                if kind in (ERROR, DONE):
                    return -struct.unpack_from("<i", reply, at + 16)[0]
                at += (length + 3) & ~3


def netlink_answers(numbers, name):
    client = numbers.value[uapi.nl_client(name)]
    return [netlink_answer(client, numbers.value[name], flags) for flags in (0, DUMP)]


def open_file():
    return os.open("/dev/infiniband/uverbs0", os.O_RDWR | os.O_CLOEXEC)


def open_context():
    """A uverbs file with a context."""
    fd = open_file()
    response = ctypes.create_string_buffer(512)
    driver = struct.pack("<QQ", 0, 0)
    request = struct.pack("<IHHQ", 0, (16 + len(driver)) // 4, 64, ctypes.addressof(response)) + driver
    os.write(fd, request)
    return fd


def main():
    numbers = uapi.Numbers("/lab/src/include/uapi")
    rows = [row for row in uapi.rows(COUNTS + "/uapi-commands.tsv") if row[0] in ("write", "ioctl", "netlink")]
    print("TAP version 13\n1..2")
    with open(sys.argv[1], "w", encoding="ascii") as file:
        for family, name in rows:
            if family == "netlink":
                answers = netlink_answers(numbers, name)
            else:
                # a file of its own: what one request leaves is not the next one's
                fd = open_file() if makes_context(numbers, name) else open_context()
                ask = write_answers if family == "write" else ioctl_answers
                answers = ask(fd, numbers, name)
                os.close(fd)
            file.write(f"{family} {name} {' '.join(map(str, answers))}\n")
    print(f"ok 1 - {len(rows)} rows have an answer")
    os.close(open_context())
    print("ok 2 - the device still gives contexts")


main()

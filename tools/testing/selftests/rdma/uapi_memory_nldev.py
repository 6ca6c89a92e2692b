#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""uapi_memory_nldev.py DEVICE: the kernel lacks memory, once, at each place where a request to RDMA's netlink
takes some (uapi_lack): those that read, for one object and for all there are, and the one that
renames the device. TAP on stdout."""

import ctypes
import errno
import json
import os
import socket
import struct
import subprocess
import sys

from uapi_requests import area, errno_of, libc
from uapi_spoilt import READ, Piece, Request, Tap, Walk

NETLINK_RDMA, NLDEV = 20, 5
NLM_F_REQUEST, NLM_F_ACK, NLM_F_DUMP = 1, 4, 0x300
NLMSG_ERROR, NLMSG_DONE = 2, 3
GET, SET, PORT_GET, SYS_GET, RES_GET, GET_CHARDEV, STAT_GET = 1, 2, 5, 6, 9, 15, 17    # RDMA_NLDEV_CMD_*
RES_DUMPS = {"QPs": 10, "ids": 11, "CQs": 12, "MRs": 13, "PDs": 14, "contexts": 22, "SRQs": 23}
DEV_INDEX, DEV_NAME, PORT_INDEX, CHARDEV_TYPE = 1, 2, 3, 69     # RDMA_NLDEV_ATTR_*
ROOM = 65536
tap = Tap()


def attr(number, data):
    return struct.pack("=HH", 4 + len(data), number) + data + bytes(-len(data) % 4)


def number(kind, value):
    return attr(kind, struct.pack("=I", value))


def index_of(name):
    answer = subprocess.run(["rdma", "-j", "dev", "show"], stdout=subprocess.PIPE, check=True).stdout
    return next((one["ifindex"] for one in json.loads(answer) if one["ifname"] == name), None)


class Netlink(Walk):
    """A socket for each request, whose answer is read to its end."""

    def __init__(self, device):
        super().__init__(tap)
        self.device, self.index = device, index_of(device)
        self.room = ctypes.create_string_buffer(ROOM)
        self.socket = None

    def answer(self):
        """Its errno. Without memory for it there may be none."""
        while True:
            got = libc.recv(self.socket.fileno(), self.room, ROOM, socket.MSG_DONTWAIT)
            if got < 0:
                err = errno_of(got)
                return errno.ENOMEM if err == errno.EAGAIN else err
            at = 0
            while at + 16 <= got:
                length, kind = struct.unpack_from("=IH", self.room, at)
                if kind in (NLMSG_ERROR, NLMSG_DONE):
                    return -struct.unpack_from("=i", self.room, at + 16)[0]
                at += (length + 3) & ~3

    def ask(self, data, how):
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_RDMA)
        fd = self.socket.fileno()
        area.reset()
        request = Request(self, lambda address: errno_of(libc.send(fd, ctypes.c_void_p(address), len(data), 0)) or
                          self.answer(), [Piece("request", area.put(data), len(data), READ)])
        err = self.spoiler.send(request, None, 0, how)
        self.socket.close()
        self.asked += 1
        return err

    def walk(self, name, command, body, flags=NLM_F_ACK, settle=lambda err: None, also=()):
        """settle(err) says what is wrong after it, and undoes it."""
        self.spoiler.also = also
        data = struct.pack("=IHHII", 16 + len(body), NLDEV << 10 | command, NLM_F_REQUEST | flags, 1, 0) + body

        def ask(_number, _cut, how):
            err = self.ask(data, how)
            wrong = settle(err)
            if wrong:
                self.faults.append(f"answered {err}: {wrong}")
            return err

        good = ask(0, 0, None)
        if good:
            self.faults.append(f"the good request is refused: {errno.errorcode[good]}")
        self.spoil_each([], good, ask)
        self.report(name)

    def renamed(self, err):
        """After a request for another name, whose answer may have been lacking."""
        old, new = index_of(self.device), index_of("another")
        if new is not None:
            subprocess.run(["rdma", "dev", "set", "another", "name", self.device], check=True)
        if (old is None) == (new is None) or new is None and not err:
            return f"devices of the old and the new name: {old}, {new}"
        return None

    def everything(self):
        device = number(DEV_INDEX, self.index)
        port = device + number(PORT_INDEX, 1)
        self.walk("GET", GET, device)
        self.walk("GET of all", GET, b"", NLM_F_DUMP)
        self.walk("PORT_GET", PORT_GET, port)
        self.walk("PORT_GET of all", PORT_GET, device, NLM_F_DUMP)
        self.walk("SYS_GET", SYS_GET, b"")
        self.walk("GET_CHARDEV", GET_CHARDEV, device + attr(CHARDEV_TYPE, b"uverbs\0"))
        self.walk("RES_GET", RES_GET, device)
        self.walk("RES_GET of all", RES_GET, b"", NLM_F_DUMP)
        for name, command in RES_DUMPS.items():
            self.walk(f"RES_GET of {name}", command, device, NLM_F_DUMP)
        # When the query of the device fails, EINVAL is reported, as by 6.12.
        self.walk("STAT_GET", STAT_GET, port, also=(errno.EINVAL,))
        self.walk("SET", SET, device + attr(DEV_NAME, b"another\0"), settle=self.renamed)


def main():
    Walk.lacking = True
    print("TAP version 13")
    descriptors = len(os.listdir("/proc/self/fd"))
    netlink = Netlink(sys.argv[1])
    netlink.everything()
    left = len(os.listdir("/proc/self/fd")) - descriptors
    tap.report("nothing is left behind", [f"{left} descriptors"] if left else [])
    print(f"1..{tap.points}")
    return 1 if tap.failed else 0


sys.exit(main())

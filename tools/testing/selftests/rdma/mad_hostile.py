#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""mad_hostile.py LID N: N of each kind of MAD that nobody should send, to QP1 of the port with this LID.
The port that sends is umad0's. Prints for each file of mad_rx_dropped/ how many that port has to
have dropped more than before, but for those that an ordinary network brings along, too."""

import collections
import fcntl
import os
import random
import struct
import sys

REGISTER_AGENT2 = 0xc0281b04
GSI_QKEY = 0x80010000
MAD, HEADER, OLD_HEADER = 256, 24, 64
LID_SMP, PATH_SMP, SA, DM, CM, SNMP = 0x01, 0x81, 0x03, 0x06, 0x07, 0x08
BIS, VENDOR, OUI_VENDOR, OUI_RMPP = 0x10, 0x09, 0x34, 0x30
GET, SEND, TRAP, REPORT, REPRESS, TABLE, RESP = 1, 3, 5, 6, 7, 0x12, 0x80
REPORT_RESP = REPORT | RESP
NOTICE = 2
DATA, ACK, STOP, ABORT = 1, 2, 3, 4
ACTIVE, FIRST, LAST = 1, 2, 4
BATCH = 64                  # fewer than a port has receives
SEED = 20


class Sender:
    """An agent of umad0, to which answers come."""

    def __init__(self, lid):
        self.umad = os.open("/dev/infiniband/umad0", os.O_RDWR)
        self.lid, self.tid, self.dropped = lid, 0, collections.Counter()
        agent = bytearray(struct.pack("<IIBBHIQQIB3x", 0, 1, 0, 0, 0, 0, 0, 0, 0, 0))
        fcntl.ioctl(self.umad, REGISTER_AGENT2, agent)
        self.agent, = struct.unpack_from("<I", agent)

    def send(self, kind, version, method, data=b"", base=1, attr=0, timeout=0):
        self.tid += 1
        header = struct.pack("<IIIII", self.agent, 0, timeout, 0, 0)
        header += struct.pack(">IIHBB", 1, GSI_QKEY, self.lid, 0, 0) + bytes(32)
        mad = struct.pack(">BBBBHHQHHI", base, kind, version, method, 0, 0, self.tid, attr, 0, 0)
        os.write(self.umad, header + mad + data.ljust(MAD - HEADER, b"\0"))

    def settle(self):
        """The port handles MADs one after the other, and answers a request that nobody takes."""
        self.send(SNMP, 1, GET, timeout=600000)
        while True:
            packet = os.read(self.umad, 4096)
            status, = struct.unpack_from("<I", packet, 4)
            tid, = struct.unpack_from(">8xQ", packet, OLD_HEADER)
            if tid & 0xffffffff == self.tid:
                break
        if status:
            raise SystemExit(f"the port answers no more: {os.strerror(status)}")

    def many(self, number, why, *args, **words):
        for i in range(number):
            self.send(*args, **words)
            if i % BATCH == BATCH - 1:
                self.settle()
        self.settle()
        self.dropped[why] += number


def segment(kind, flags, number, version=1):
    return struct.pack(">BBBBII", version, kind, flags | ACTIVE, 0, number, 200)


def main():
    lid, number = map(int, sys.argv[1:])
    sender = Sender(lid)
    chance = random.Random(SEED)
    for kind in LID_SMP, PATH_SMP:              # for QP0 alone
        sender.many(number, "malformed", kind, 1, GET, chance.randbytes(MAD - HEADER))
    for kind in SA, DM, VENDOR, BIS, OUI_VENDOR, OUI_RMPP:
        sender.many(number, "malformed", kind, 1, GET, base=2)
    sender.many(number, "malformed", CM, 2, GET, attr=0x10)
    for kind in VENDOR, BIS, OUI_VENDOR, OUI_RMPP:
        for method in SEND, TRAP, REPORT, 0x7f:
            sender.many(number, "unclaimed", kind, 1, method, chance.randbytes(MAD - HEADER))
    for kind in SA, DM, VENDOR, BIS, OUI_VENDOR, OUI_RMPP:
        for method in GET | RESP, REPORT_RESP, REPRESS:
            sender.many(number, "unawaited", kind, 2 if kind == SA else 1, method)
    # The manager's requests can come in segments.
    for bad in segment(DATA, FIRST, 0), segment(DATA, 0, 1), segment(DATA, LAST, 2), segment(DATA, FIRST, 2), \
            segment(DATA, FIRST, 1, version=2), segment(9, FIRST, 1):
        sender.many(number, "rmpp", SA, 2, TABLE, bad)
    for stray in segment(ACK, 0, 1), segment(STOP, 0, 0), segment(ABORT, 0, 0):
        sender.many(number, "unawaited", SA, 2, TABLE, stray)
    # A new group, as its GID says; but this is not the manager's port.
    notice = struct.pack(">BBHHH", 0x80 | 3, 0, 4, 66, lid) + bytes(6) + b"\xff\x12\xa0\x1b" + bytes(12)
    sender.many(number, "refused", SA, 2, REPORT, bytes(32) + notice, attr=NOTICE)
    for why in "malformed", "refused", "rmpp", "unclaimed":
        print(why, sender.dropped[why])


main()

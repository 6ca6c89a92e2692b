#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Messages of the communication manager that no manager sends:

    cm_hostile.py LID OWN-GID GID PORT strangers N   N of each kind, about connections there are not
    cm_hostile.py LID OWN-GID GID PORT mutants       a REQ for the port's service for each of its bytes,
                                                     with this byte inverted
    cm_hostile.py LID OWN-GID GID PORT noise N       N of any kind, all of whose bytes are random
    cm_hostile.py LID OWN-GID GID PORT flood N       N requests for the port's service by senders who
                                                     know nothing of the answer
    cm_hostile.py LID OWN-GID GID PORT live OWN PEER QP
                                                     messages that name a connection by the numbers of
                                                     its ends and the peer's QP number: by others than
                                                     its end, with wrong bytes, and out of place
    cm_hostile.py LID OWN-GID GID PORT end OWN PEER QP
                                                     the one by which the end itself would end it

to the port with this LID and GID; the port that sends is umad0's, and has OWN-GID. An Ethernet port has LID 0,
and GIDs of IPv4 addresses. What answers come is left to the manager of this node, which has no such
connections. Prints how many messages went."""

import fcntl
import os
import random
import socket
import struct
import sys

REGISTER_AGENT2 = 0xc0281b04
GSI_QKEY = 0x80010000
CLASS, CLASS_VERSION, SEND = 7, 2, 3
MAD, HEADER = 256, 24
REQ, MRA, REJ, REP, RTU, DREQ, DREP, SIDR_REQ, SIDR_REP, LAP, APR = KINDS = range(0x10, 0x1b)
TCP_SERVICES = 0x1060000
NO_SERVICE = 0x7777000000000000
PKEY, MTU_1024 = 0xffff, 3
PERMISSIVE_LID, HOPS = 0xffff, 64
REQ_BYTES = 140             # before the private data
SEED = 21


class Sender:
    """An agent of umad0 that is told of no answers."""

    def __init__(self, lid, own, peer):
        self.umad = os.open("/dev/infiniband/umad0", os.O_RDWR)
        self.lid, self.sent, self.route = lid, 0, bytes(32)
        if not lid:
            self.route = struct.pack(">BBBB16sI8x", 1, gid_index(own), HOPS, 0, peer, 0)
        agent = bytearray(struct.pack("<IIBBHIQQIB3x", 0, 1, CLASS, CLASS_VERSION, 0, 0, 0, 0, 0, 0))
        fcntl.ioctl(self.umad, REGISTER_AGENT2, agent)
        self.agent, = struct.unpack_from("<I", agent)

    def send(self, kind, data):
        self.sent += 1
        header = struct.pack("<IIIII", self.agent, 0, 0, 0, 0)
        header += struct.pack(">IIHBB", 1, GSI_QKEY, self.lid, 0, 0) + self.route
        mad = struct.pack(">BBBBHHQHHI", 1, CLASS, CLASS_VERSION, SEND, 0, 0, self.sent, kind, 0, 0)
        os.write(self.umad, header + mad + data.ljust(MAD - HEADER, b"\0"))


def gid(text):
    return socket.inet_pton(socket.AF_INET6, text)


def read(path):
    with open("/sys/class/" + path, encoding="ascii") as file:
        return file.read().strip()


def own_port():
    return f"infiniband/{read('infiniband_mad/umad0/ibdev')}/ports/{read('infiniband_mad/umad0/port')}"


def gid_index(own):
    """Where RoCE v2 has this GID."""
    for index in range(256):
        try:
            if gid(read(f"{own_port()}/gids/{index}")) == own and \
               read(f"{own_port()}/gid_attrs/types/{index}") == "RoCE v2":
                return index
        except OSError:
            pass        # an entry that is empty has no type
    raise SystemExit("no such GID")


def lids(lid):
    """Of both ends, as a REQ has them."""
    return (int(read(own_port() + "/lid"), 0), lid) if lid else (PERMISSIVE_LID, PERMISSIVE_LID)


def addresses(lid, own, peer):
    return (bytes((10, 78, 0, 2)), bytes((10, 78, 0, 1))) if lid else (own[12:], peer[12:])


def request(number, service, lid, own, peer):
    """A REQ by which connection NUMBER would be made over a path that there is."""
    data = struct.pack(">IIQQII", number, 0, service, 0xbad0000 + number, 0, 0)
    data += struct.pack(">IIII", (0x800000 + number) << 8 | 1, 1, 10 << 3, 0x1234 << 8 | 10 << 3 | 7)
    data += struct.pack(">HBB", PKEY, MTU_1024 << 4 | 7, 3 << 4)
    data += struct.pack(">HH16s16sIBBBB", *lids(lid), own, peer, 2, 0, HOPS, 1 << 3, 10 << 3)
    data = data.ljust(REQ_BYTES, b"\0")
    # what rdma_cm has before its consumer's data: IPv4, and port 1
    return data + struct.pack(">BBH12x4s12x4s", 0, 4 << 4, 1, *addresses(lid, own, peer))


def stranger(kind, number, lid, own, peer):
    if kind == REQ:
        return request(number, NO_SERVICE + number, lid, own, peer)
    if kind == SIDR_REQ:
        return struct.pack(">IHHQ", number, PKEY, 0, NO_SERVICE + number)
    if kind == SIDR_REP:
        return struct.pack(">I", 0xdead0000 + number)
    return struct.pack(">II", number, 0xdead0000 + number)


def ends(own, peer):
    return struct.pack(">II", own, peer)


def one_bit_wrong(number, bits):
    return [number ^ 1 << bit for bit in range(bits)]


def named(kind, numbers, qpn, lid, own, peer):
    """A message of this kind about a connection; its own fields are those of a manager."""
    if kind == DREQ:
        return numbers + struct.pack(">I", qpn << 8)
    if kind == LAP:
        return numbers + struct.pack(">4xIIHH16s16sIBBBB", qpn << 8 | 20, 0, *lids(lid), own, peer, 2 << 12,
                                     HOPS, 3 << 2, 1 << 3, 10 << 3)
    return numbers


# Bytes of the messages that do not end a connection, from the numbers to the private data.
HARMLESS = {MRA: 2, REP: 28, RTU: 1, DREP: 1, LAP: 56, APR: 76}


def live(sender, lid, own, peer, numbers):
    here, there, qpn = numbers
    for kind in (MRA, REJ, REP, RTU, DREQ, DREP, LAP, APR):
        for number in one_bit_wrong(here, 32):
            sender.send(kind, named(kind, ends(number, there), qpn, lid, own, peer))
    for number in one_bit_wrong(qpn, 24):
        sender.send(DREQ, named(DREQ, ends(here, there), number, lid, own, peer))
    for kind, length in HARMLESS.items():
        for at in range(8, 8 + length):
            data = bytearray(named(kind, ends(here, there), qpn, lid, own, peer).ljust(MAD - HEADER, b"\0"))
            data[at] ^= 0xff
            sender.send(kind, bytes(data))


def main():
    lid, own, peer, port, what, *words = sys.argv[1:]
    lid, own, peer = int(lid), gid(own), gid(peer)
    service = TCP_SERVICES + int(port)
    numbers = [int(word) for word in words]
    many = numbers[0] if numbers else 0
    sender = Sender(lid, own, peer)
    chance = random.Random(SEED)
    if what == "strangers":
        for number in range(1, many + 1):
            for kind in KINDS:
                sender.send(kind, stranger(kind, number, lid, own, peer))
    elif what == "mutants":
        for at in range(REQ_BYTES):
            data = bytearray(request(1000 + at, service, lid, own, peer))
            data[at] ^= 0xff
            sender.send(REQ, bytes(data))
    elif what == "noise":
        for _ in range(many):
            sender.send(chance.choice(KINDS), chance.randbytes(MAD - HEADER))
    elif what == "flood":
        for number in range(many):
            sender.send(REQ, request(2000 + number, service, lid, own, peer))
    elif what == "live":
        live(sender, lid, own, peer, numbers)
    elif what == "end":
        sender.send(DREQ, named(DREQ, ends(*numbers[:2]), numbers[2], lid, own, peer))
    else:
        raise SystemExit(__doc__)
    print(sender.sent, "messages")


main()

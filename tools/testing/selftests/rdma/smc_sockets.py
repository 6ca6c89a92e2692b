#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Sockets of SMC, which are those of TCP but for their protocol.

    smc_sockets.py serve rdma|tcp ADDRESS [TIMES]   prints "serves", and sends back what comes by so many
                                                    connections (1)
    smc_sockets.py talk rdma|tcp ADDRESS SERVER [TIMES [BYTES]]
                                                    sends, and compares what comes back
    smc_sockets.py answer ADDRESS                   prints "serves", and sends back what comes, also when
                                                    connections fail
    smc_sockets.py eid NAME                         hosts with the same name may use version 2 of SMC

Each side binds to its own address. Exit status 0 when all came back, by RDMA or not, as asked, which
is known by what SMC counts. The kernel gives RDMA up, and says nothing, when the peer does not answer
for two seconds, which a host that stands still takes at times: then it is tried again. Any other
reason is a failure."""

import os
import socket
import struct
import sys
import threading

PORT = 18700
PROTOCOL_SMC = 256
BYTES = 32 << 20

# Why it was given up: no answer from the peer's QP, no second connection, the peer has said no.
SLOW = {0x02010000, 0x02020000, 0x05000000}
NO_DEVICE = 0x03030000


def fail(text):
    sys.exit(f"smc_sockets: {text}")


# ---- generic netlink ------------------------------------------------------------------------------

REQUEST, ACK, DUMP = 1, 4, 0x300
NLMSG_ERROR, NLMSG_DONE = 2, 3
CONTROL, GETFAMILY, FAMILY_ID, FAMILY_NAME = 16, 3, 1, 2

GET_LINKS, GET_STATS, GET_FALLBACKS, ADD_EID = 3, 7, 8, 10
LINK, STATS, FALLBACKS = 3, 7, 8                # attributes that have all others of such an answer
LINK_DEVICE, LINK_GID, LINK_PEER_GID = 2, 4, 5
SMCR = 2                                        # of STATS
CLIENT_V2, SERVER_V2, RX_BYTES, TX_BYTES = 8, 10, 16, 17
REASON, REASON_COUNT, BY_SERVER = 4, 5, 1       # of FALLBACKS
EID_ENTRY, EID_BYTES = 1, 32


def attribute(kind, data):
    return struct.pack("HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


def attributes(data):
    found = {}
    while len(data) >= 4:
        size, kind = struct.unpack_from("HH", data)
        found[kind & 0x3fff] = data[4:size]
        data = data[(size + 3) & ~3:]
    return found


def number(data):
    return int.from_bytes(data, sys.byteorder)


class Netlink:
    def __init__(self):
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)     # NETLINK_GENERIC
        self.socket.bind((0, 0))
        found, = self.asked(CONTROL, GETFAMILY, attribute(FAMILY_NAME, b"SMC_GEN_NETLINK\0"))
        self.family = number(found[FAMILY_ID])

    def asked(self, family, command, body=b"", flags=ACK):
        """The attributes of each answer."""
        message = struct.pack("BBH", command, 1, 0) + body
        self.socket.send(struct.pack("IHHII", 16 + len(message), family, REQUEST | flags, 1, 0) + message)
        answers = []
        while True:
            data = self.socket.recv(1 << 16)
            while data:
                size, kind = struct.unpack_from("IH", data)
                if kind in (NLMSG_ERROR, NLMSG_DONE):
                    error = -struct.unpack_from("i", data, 16)[0]
                    if error:
                        fail(f"command {command}: {os.strerror(error)}")
                    return answers
                answers.append(attributes(data[20:size]))
                data = data[(size + 3) & ~3:]

    def dump(self, command):
        return self.asked(self.family, command, flags=DUMP)

    def add_eid(self, name):
        self.asked(self.family, ADD_EID, attribute(EID_ENTRY, name.encode().ljust(EID_BYTES) + b"\0"))

    def counted(self):
        """(connections by RDMA, bytes sent by them, bytes received, how often each reason was there)"""
        stats, = self.dump(GET_STATS)
        smcr = attributes(attributes(stats[STATS])[SMCR])
        reasons = {}
        for one in self.dump(GET_FALLBACKS):
            one = attributes(one[FALLBACKS])
            reasons[number(one[BY_SERVER]), number(one[REASON])] = number(one[REASON_COUNT])
        return (number(smcr[CLIENT_V2]) + number(smcr[SERVER_V2]), number(smcr[TX_BYTES]),
                number(smcr[RX_BYTES]), reasons)

    def links(self):
        """(device, GID, the peer's) of each QP"""
        found = [attributes(one[LINK]) for one in self.dump(GET_LINKS) if LINK in one]
        return [tuple(one[part].rstrip(b"\0").decode() for part in (LINK_DEVICE, LINK_GID, LINK_PEER_GID))
                for one in found]


def reasons_since(before, after):
    return {side_and_reason[1] for side_and_reason, count in after[3].items()
            if count > before[3].get(side_and_reason, 0)}


# ---- sockets --------------------------------------------------------------------------------------

def smc_socket(address, port):
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM, PROTOCOL_SMC)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind((address, port))
    return made


def shown(reasons):
    return " ".join(f"{reason:08x}" for reason in sorted(reasons))


def listening(address):
    listener = smc_socket(address, PORT)
    listener.listen(1)
    print("serves", flush=True)
    return listener


def echoed(peer):
    """Sends back what comes; how many bytes there were"""
    size = 0
    while data := peer.recv(1 << 16):
        peer.sendall(data)
        size += len(data)
    peer.close()
    return size


def serve(how, address, times=1):
    """Until so many connections with data have ended"""
    netlink = Netlink()
    before = netlink.counted()
    listener = listening(address)
    connections = size = 0
    while connections < int(times):
        peer, _ = listener.accept()
        reasons = reasons_since(before, netlink.counted())
        if how == "rdma" and reasons - SLOW:
            fail(f"RDMA was refused: {shown(reasons)}")
        served = echoed(peer)
        if served:
            # the kernel may have the next connection already, but none of its data were read
            connections += 1
            size += served
            judge(how, before, netlink, size, connections)


def answer(address):
    """For ever. A connection that fails is the client's concern; one that its client has lost may stay."""
    listener = listening(address)
    while True:
        peer, _ = listener.accept()
        threading.Thread(target=answered, args=(peer,), daemon=True).start()


def answered(peer):
    try:
        echoed(peer)
    except OSError as error:
        print(error, flush=True)


def connected(netlink, address, server):
    """A connection, the counters before it, and why it does not use RDMA"""
    while True:
        before = netlink.counted()
        peer = smc_socket(address, 0)
        try:
            peer.connect((server, PORT))
        except TimeoutError:
            peer.close()
            continue
        return peer, before, reasons_since(before, netlink.counted())


def talk(how, address, server, times=1, size=BYTES):
    netlink = Netlink()
    for _ in range(int(times)):
        talk_once(netlink, how, address, server, int(size))


def talk_once(netlink, how, address, server, size):
    while True:
        peer, before, reasons = connected(netlink, address, server)
        if how == "tcp" or not reasons:
            break
        peer.close()
        if reasons - SLOW:
            fail(f"RDMA was given up: {shown(reasons)}")
        print("a host stood still", flush=True)
    if how == "tcp" and reasons != {NO_DEVICE}:
        fail(f"RDMA should lack a device for this: {shown(reasons)}")
    sent = os.urandom(size)
    sender = threading.Thread(target=peer.sendall, args=(sent,), daemon=True)
    sender.start()
    come = bytearray()
    while len(come) < len(sent) and (data := peer.recv(1 << 16)):
        come += data
    if len(come) < len(sent):
        fail(f"the connection has ended after {len(come)} bytes")
    sender.join()
    if come != sent:
        fail("what came back is not what was sent")
    judge(how, before, netlink, size)
    peer.close()


def judge(how, before, netlink, size, connections=1):
    """What SMC has counted is so many bytes each way, by at least so many connections, or nothing."""
    after = netlink.counted()
    found = tuple(after[i] - before[i] for i in range(3))
    links = netlink.links()
    print(f"by RDMA: connections {found[0]}, sent {found[1]}, received {found[2]}; links {links}", flush=True)
    if how == "rdma" and (found[0] < connections or found[1:] != (size, size) or not links):
        fail("they did not go by RDMA")
    if how == "tcp" and (found != (0, 0, 0) or links):
        fail("some went by RDMA")


def main():
    command, *words = sys.argv[1:]
    if command == "eid":
        Netlink().add_eid(*words)
    else:
        {"serve": serve, "talk": talk, "answer": answer}[command](*words)


main()

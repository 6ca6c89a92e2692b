#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Sockets of RDS: messages there and back, and memory that the peer reads and writes.

    rds_sockets.py serve ADDRESS          prints "serves", and answers
    rds_sockets.py talk ADDRESS SERVER    sends, compares, and shows that there is a connected QP
    rds_sockets.py use ADDRESS SERVER N   the same with N messages, and the server goes on
    rds_sockets.py once ADDRESS SERVER    one message there and back, beside others
    rds_sockets.py turns ADDRESS SERVER N
                                          the same with 6 messages, N times, each time by a module that is
                                          loaded before and unloaded after it, and the connection with it
    rds_sockets.py go_on ADDRESS SERVER FILE
                                          messages until FILE is there; prints a line after each 12

Each side binds to its own address, which has to be an RDMA device's. What comes back is what was sent; of
memory that goes with a message, the server makes each byte its complement, by RDMA alone. Exit
status 0 when all is well."""

import ctypes
import mmap
import os
import socket
import struct
import subprocess
import sys

PORT = 18700
MESSAGES = 500
SIZES = (1, 63, 4096, 4097, 30000, 65536)       # of messages, in turn
REGIONS = 60
REGION_SIZES = (8, 4096, 5000, 65536, 1 << 20)  # of memory, in turn
ROOM = 1 << 17
END = b"end"

SOL_RDS = 276
FREE_MR = 3                                             # a socket option
ARGS, DEST, MAP, STATUS = 1, 2, 3, 4                    # control messages
READWRITE, INVALIDATE, NOTIFY = 0x01, 0x04, 0x20        # flags of theirs


def fail(text):
    sys.exit(f"rds_sockets: {text}")


def look_for_qps():
    """While the connection stands"""
    shown = subprocess.run(["rdma", "resource", "show", "qp"], check=True, stdout=subprocess.PIPE, text=True).stdout
    print(shown)
    if "type RC" not in shown:
        fail("there is no connected QP")


def rds_socket(address, port):
    made = socket.socket(socket.AF_RDS, socket.SOCK_SEQPACKET, 0)
    made.bind((address, port))
    return made


class Memory:
    """A buffer that has an address"""
    def __init__(self, size):
        self.size = size
        self.pages = mmap.mmap(-1, size)
        self.held = ctypes.c_char.from_buffer(self.pages)
        self.address = ctypes.addressof(self.held)

    def end(self):
        del self.held
        self.pages.close()


def complement(data):
    return data.translate(bytes(range(255, -1, -1)))


# ---- the server ------------------------------------------------------------------------------------

class Server:
    def __init__(self, address):
        self.own = rds_socket(address, PORT)
        self.messages = []      # that came before they were asked for
        self.ended = []         # what was said of RDMA

    def receive(self):
        """A message, or what became of RDMA; the client's next message may overtake the latter."""
        data, control, _, peer = self.own.recvmsg(ROOM, 1024)
        found = [(kind, more) for level, kind, more in control if level == SOL_RDS]
        ended = [struct.unpack_from("Qi", more) for kind, more in found if kind == STATUS]
        self.ended += ended
        if not ended:
            self.messages.append((data, peer, [struct.unpack("Q", more)[0] for kind, more in found if kind == DEST]))

    def message(self):
        """(data, who sent it, the cookies of memory that go with it)"""
        while not self.messages:
            self.receive()
        return self.messages.pop(0)

    def rdma(self, peer, flags, cookie, memory, message):
        """Reads the peer's memory, or writes it, before the message is sent"""
        vector = Memory(16)
        vector.pages[:] = struct.pack("QQ", memory.address, memory.size)
        args = struct.pack("QQQQQQQ", cookie, 0, memory.size, vector.address, 1, flags | NOTIFY, memory.size)
        self.own.sendmsg([message], [(SOL_RDS, ARGS, args)], 0, peer)
        vector.end()
        while not self.ended:
            self.receive()
        token, status = self.ended.pop()
        if status or token != memory.size:
            fail(f"RDMA of {memory.size} bytes ended with status {status}, token {token}")


def serve(address):
    server = Server(address)
    print("serves", flush=True)
    while True:
        data, peer, cookies = server.message()
        if cookies:
            memory = Memory(int(data))
            server.rdma(peer, 0, cookies[0], memory, b"read")
            memory.pages[:] = complement(memory.pages[:])
            server.rdma(peer, READWRITE, cookies[0], memory, b"written")
            memory.end()
            continue
        server.own.sendto(data, peer)
        if data == END:
            return


# ---- the client ------------------------------------------------------------------------------------

def echo(own, server, sent):
    own.sendto(sent, server)
    come, peer = own.recvfrom(ROOM)
    if come != sent or peer != server:
        fail(f"{len(sent)} bytes were sent to {server}, others came from {peer}")


def changed(own, server, size):
    """Memory that the server reads and writes"""
    memory, cookie = Memory(size), Memory(8)
    sent = os.urandom(size)
    memory.pages[:] = sent
    where = struct.pack("QQQQ", memory.address, size, cookie.address, READWRITE)
    own.sendmsg([str(size).encode()], [(SOL_RDS, MAP, where)], 0, server)
    for word in b"read", b"written":
        come, _ = own.recvfrom(ROOM)
        if come != word:
            fail(f"the server says {come} instead of {word}")
    if memory.pages[:] != complement(sent):
        fail(f"{size} bytes of memory are not what the server should have written")
    own.setsockopt(SOL_RDS, FREE_MR, cookie.pages[:] + struct.pack("Q", INVALIDATE))
    memory.end()
    cookie.end()


def messages(address, server, number):
    """The socket by which so many have gone there and come back"""
    own = rds_socket(address, PORT + 1)
    for n in range(number):
        echo(own, server, os.urandom(SIZES[n % len(SIZES)]))
    return own


def use(address, server, number):
    own = messages(address, (server, PORT), int(number))
    look_for_qps()
    own.close()


def once(address, server):
    own = rds_socket(address, PORT + 2)
    echo(own, (server, PORT), b"once")
    own.close()


def turns(address, server, number):
    for turn in range(1, int(number) + 1):
        print("turn", turn, flush=True)
        subprocess.run(["modprobe", "rds_rdma"], check=True)
        use(address, server, len(SIZES))
        subprocess.run(["modprobe", "-r", "rds_rdma"], check=True)


def go_on(address, server, file):
    own = rds_socket(address, PORT + 1)
    while not os.path.exists(file):
        for n in range(2 * len(SIZES)):
            echo(own, (server, PORT), os.urandom(SIZES[n % len(SIZES)]))
        print("passed", flush=True)


def talk(address, server):
    server = (server, PORT)
    own = messages(address, server, MESSAGES)
    for n in range(REGIONS):
        changed(own, server, REGION_SIZES[n % len(REGION_SIZES)])
    look_for_qps()
    echo(own, server, END)


def main():
    command, *words = sys.argv[1:]
    {"serve": serve, "talk": talk, "use": use, "once": once, "turns": turns, "go_on": go_on}[command](*words)


main()

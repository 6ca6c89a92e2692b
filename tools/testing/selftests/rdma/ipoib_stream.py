#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A TCP connection that carries data as fast as it can, or RATE bytes a second, until its sender is killed:

    ipoib_stream.py serve ADDRESS FILE
    ipoib_stream.py send ADDRESS [RATE]

The server takes one connection. FILE has the number of bytes that have come so far. Its exit status
is 0 when the connection has ended, 2 when it has failed, which it then prints, and 1 when other bytes
have come than were sent."""

import os
import socket
import sys

PORT = 5005
SO_MAX_PACING_RATE = 47     # which the module socket does not know
BLOCK = bytes(i * i % 251 for i in range(65521))


def serve(address, file):
    listener = socket.create_server((address, PORT))
    counter = os.open(file, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
    connection = listener.accept()[0]
    twice = BLOCK + BLOCK
    count = 0
    while data := connection.recv(len(BLOCK)):
        at = count % len(BLOCK)
        if data != twice[at:at + len(data)]:
            sys.exit(f"other bytes than were sent, behind the first {count}")
        count += len(data)
        os.pwrite(counter, b"%d\n" % count, 0)


def send(address, rate=None):
    connection = socket.create_connection((address, PORT))
    if rate:
        connection.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, int(rate))
    while True:
        connection.sendall(BLOCK)


def main():
    try:
        {"serve": serve, "send": send}[sys.argv[1]](*sys.argv[2:])
    except OSError as error:
        print(error)
        sys.exit(2)


main()

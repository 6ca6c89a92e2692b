# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""ipoib_memory NET PATIENCE: each thing that an administrator does with an interface lacks memory once, at
each of the places where it takes some (fail-nth).  It has been done then, or nothing has; and the same
thing succeeds when there is memory.  A line for each thing says at how many places it has failed."""

import errno
import os
import socket
import struct
import sys
import time

NET, PATIENCE = sys.argv[1], int(sys.argv[2])
CLASS = "/sys/class/net/"
CHILD, PARTITION = "short", 0x8001
LEGACY = f"{NET}.{PARTITION:04x}"
MOST_PLACES = 2000
# What goes wrong at a start is reported as EINVAL, as by 6.12; ENOBUFS is the network stack's. Memory of
# this process that cannot be read is one of the places.
ALLOWED = {errno.ENOMEM, errno.ENOBUFS, errno.EINVAL, errno.EFAULT}

NEWLINK, DELLINK = 16, 17
REQUEST_ACK, CREATE_EXCL = 5, 0x600
UP = 1


def attribute(kind, data):
    return struct.pack("HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


def link(kind, flags, index, want=0, change=0, data=b""):
    """A request to rtnetlink, for later: what is to be sent is made while there is memory."""
    body = struct.pack("BxHiII", 0, 0, index, want, change) + data
    request = struct.pack("IHHII", 16 + len(body), kind, flags, 1, 0) + body
    sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)

    def send():
        sock.send(request)

    def answer():
        # Without memory for it there may be no answer: the next request has its own.
        try:
            return -struct.unpack_from("i", sock.recv(8192, socket.MSG_DONTWAIT), 16)[0]
        except BlockingIOError:
            return errno.ENOMEM
        except OSError as error:
            return error.errno
        finally:
            sock.close()

    return send, answer


def write(path, text):
    file = os.open(path, os.O_WRONLY)

    def send():
        os.write(file, text)

    def answer():
        os.close(file)
        return 0

    return send, answer


def index(name):
    return socket.if_nametoindex(name)


def there(name):
    return os.path.exists(CLASS + name)


def value(name):
    with open(f"{CLASS}{NET}/{name}", encoding="ascii") as file:
        return file.read().strip()


def is_up():
    return bool(int(value("flags"), 16) & UP)


def until(condition, what):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"{what}: it does not come")
        time.sleep(0.05)


def make_child():
    info = attribute(1, b"ipoib\0") + attribute(2, attribute(1, struct.pack("H", PARTITION)))
    return link(NEWLINK, REQUEST_ACK | CREATE_EXCL, 0, data=attribute(5, struct.pack("I", index(NET))) +
                attribute(3, CHILD.encode() + b"\0") + attribute(18, info))


def connected():
    return value("mode") == "connected"


# name, makes it, has it been done, takes it back, what holds afterwards, once it has been
THINGS = [
    ("a child by netlink", make_child, lambda: there(CHILD),
     lambda: link(DELLINK, REQUEST_ACK, index(CHILD)), None),
    ("a child by sysfs", lambda: write(f"{CLASS}{NET}/create_child", b"0x%04x" % PARTITION), lambda: there(LEGACY),
     lambda: write(f"{CLASS}{NET}/delete_child", b"0x%04x" % PARTITION), None),
    ("connected mode", lambda: write(f"{CLASS}{NET}/mode", b"connected\n"), connected,
     lambda: write(f"{CLASS}{NET}/mode", b"datagram\n"), None),
    ("the interface is brought up", lambda: link(NEWLINK, REQUEST_ACK, index(NET), UP, UP), is_up,
     lambda: link(NEWLINK, REQUEST_ACK, index(NET), 0, UP), lambda: value("carrier") == "1"),
]


def left(file):
    """What is left of nth; nothing, too, if reading it has come to the place itself."""
    try:
        return int(os.pread(file, 20, 0).strip(b"\0\n")), True
    except OSError:
        return 0, False


def do(request, nth=0):
    """How it ends: an errno; and whether the place was reached."""
    send, answer = request
    err = 0
    file = os.open("/proc/thread-self/fail-nth", os.O_RDWR)
    if nth:
        os.write(file, b"%d" % nth)
    try:
        send()
    except OSError as error:
        err = error.errno
    rest, read = left(file)
    try:
        if rest:
            os.write(file, b"0")
    except OSError:
        pass    # That was the place.
    os.close(file)
    told = answer()
    return err or told, nth and read and not rest


def sweep(name, make, done, undo, holds):
    failed = 0
    for nth in range(1, MOST_PLACES):
        err, reached = do(make(), nth)
        if err and not reached:
            sys.exit(f"{name}: {os.strerror(err)}, though there was memory")
        if err and err not in ALLOWED:
            sys.exit(f"{name}, place {nth}: {os.strerror(err)}")
        # Where it has been done the answer may be what there was no memory for.
        if not done():
            if not err:
                sys.exit(f"{name}, place {nth}: it has not been done, and nobody was told")
            failed += 1
            err, _ = do(make())
            if err or not done():
                sys.exit(f"{name}, place {nth}: with memory: {os.strerror(err)}")
        if holds:
            until(holds, f"{name}, place {nth}")
        err, _ = do(undo())
        if err:
            sys.exit(f"{name}, place {nth}: not taken back: {os.strerror(err)}")
        until(lambda: not done(), f"{name}, place {nth}, taken back")
        if not reached:
            print(f"{name}: {nth - 1} places, at {failed} of them it has failed", flush=True)
            return failed
    sys.exit(f"{name}: there is no end")


if not all([sweep(*thing) for thing in THINGS]):
    sys.exit("one has lacked nothing")

# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What other threads' requests do to handles. A request whose result, or whose argument, belongs on a
page that is not there yet stops in the kernel at that place (userfaultfd), holding what it holds by
then; it goes on when the page comes. In between, everything is asked that names the same handles."""

import ctypes
import errno
import fcntl
import os
import select
import struct
import sys
import threading

from uapi_requests import MEANT, PAGE, area, attribute, attributes, frame, ioctl_at, libc, libc_mmap

SYS_USERFAULTFD = 323 if sys.maxsize > 1 << 32 else 374
UFFDIO_API, UFFDIO_REGISTER, UFFDIO_ZEROPAGE = 0xc018aa3f, 0xc020aa00, 0xc020aa04
UFFD_API, MISSING, PAGEFAULT = 0xaa, 1, 0x12
ENOENT, EBUSY = errno.ENOENT, errno.EBUSY


class Held:
    """A request that waits for its page: send(page) makes it, in a thread of its own."""

    def __init__(self, send):
        self.send, self.result = send, None
        self.page = libc_mmap(1)
        self.uffd = libc.syscall(SYS_USERFAULTFD, os.O_CLOEXEC)
        if self.uffd < 0:
            raise OSError(ctypes.get_errno(), "userfaultfd")
        fcntl.ioctl(self.uffd, UFFDIO_API, struct.pack("<QQQ", UFFD_API, 0, 0))
        fcntl.ioctl(self.uffd, UFFDIO_REGISTER, struct.pack("<QQQQ", self.page, PAGE, MISSING, 0))
        self.ended, self.end = os.pipe()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        self.result = self.send(self.page)
        os.close(self.end)

    def __enter__(self):
        self.thread.start()
        ready, _, _ = select.select([self.uffd, self.ended], [], [])
        if self.uffd not in ready:
            raise RuntimeError(f"the request did not wait: {self.result}")
        assert os.read(self.uffd, 32)[0] == PAGEFAULT
        return self

    def __exit__(self, *_):
        fcntl.ioctl(self.uffd, UFFDIO_ZEROPAGE, struct.pack("<QQQq", self.page, PAGE, 0, 0))
        self.thread.join()
        os.close(self.uffd)
        os.close(self.ended)
        libc.munmap(ctypes.c_void_p(self.page), PAGE)


class Request:
    """A good ioctl request in memory of its own, for area is reset meanwhile; one row's value is
    elsewhere."""

    def __init__(self, walk, name, row, handles):
        self.file, command = walk.file, walk.commands[name]
        row = command.row(row)
        area.reset()
        self.attrs = [attr for attr in attributes(command, handles, without=row)]
        self.last = attribute(row.attr, row.size, 0)
        self.frame = frame(command.object, command.method, self.attrs + [self.last])
        self.used = area.used
        self.store = libc_mmap(1)
        # what the attributes point to lies in area: it moves with them
        moved = bytearray(self.frame)
        for at in range(24, len(moved), 16):
            length, = struct.unpack_from("<H", moved, at + 2)
            data, = struct.unpack_from("<Q", moved, at + 8)
            if area.start <= data < area.end and length:
                struct.pack_into("<Q", moved, at + 8, data - area.start + self.store + 1024)
        ctypes.memmove(self.store + 1024, area.start, self.used)
        self.frame = moved

    def send(self, page):
        struct.pack_into("<Q", self.frame, len(self.frame) - 8, page)
        ctypes.memmove(self.store, bytes(self.frame), len(self.frame))
        return ioctl_at(self.file.fd, self.store)

    def handle(self):
        """Of the new object: what the kernel has put into the first attribute."""
        return struct.unpack("<I", ctypes.string_at(self.store + 24 + 8, 4))[0]

    def free(self):
        libc.munmap(ctypes.c_void_p(self.store), PAGE)


def users(walk, kinds, what):
    """(command, form, row) wherever an object of a type is named."""
    for command in walk.usable():
        for row in command.rows:
            if row.kind not in kinds or row.type_name != what:
                continue
            for form in walk.forms(command):
                if (row.attr is not None) if form == "ioctl" else row.at[form][1]:
                    yield command, form, row


def ask(walk, command, form, row, fault, handle, err):
    """A request that names the handle."""
    if form == "ioctl":
        walk.ask(command, row, fault, err, [str(handle)], lambda: [attribute(row.attr, 0, handle)])
    else:
        walk.asker(command, form)(row, fault, err, [str(handle)],
                                  values={**MEANT.get((command.name, row.name), {}), row.name: handle})


def in_destruction(walk, what, name):
    """While the result of a destruction is being written the handle is gone already."""
    handle = walk.made(what)
    request = Request(walk, name, walk.commands[name].rows[-1].name, {**walk.file.handle, what: handle})
    with Held(request.send) as held:
        for command, form, row in users(walk, ("read", "write", "destroy"), what):
            ask(walk, command, form, row, "being destroyed", handle, ENOENT)
    request.free()
    check(walk, f"{name} that waited", held.result, 0)
    walk.report(f"{what} that is being destroyed")


def in_creation(walk, what, name, result):
    """While the result of a creation is being written the handle is nobody's."""
    request = Request(walk, name, result, walk.file.handle)
    with Held(request.send) as held:
        handle = request.handle()
        for command, form, row in users(walk, ("read", "write", "destroy"), what):
            ask(walk, command, form, row, "being made", handle, ENOENT)
    request.free()
    check(walk, f"{name} that waited", held.result, 0)
    walk.destroy(what, handle)
    walk.report(f"{what} that is being made")


def in_use(walk, name, result, types):
    """What a request uses cannot be destroyed or changed. Returns the handle it has made."""
    request = Request(walk, name, result, walk.file.handle)
    with Held(request.send) as held:
        for what in types:
            for command, form, row in users(walk, ("write", "destroy"), what):
                ask(walk, command, form, row, "in use", walk.file.handle[what], EBUSY)
    check(walk, f"{name} that waited", held.result, 0)
    handle = request.handle()
    request.free()
    return handle


def check(walk, what, got, expected):
    if got != expected:
        walk.faults.append(f"{what}: {got}, expected {expected}")


def race(walk, what):
    """Of two threads that destroy a handle at the same time one succeeds."""
    command, _, row = next(one for one in users(walk, ("destroy",), what) if one[1] == "ioctl")
    barrier = threading.Barrier(2)
    results = [None, None]

    def destroy(me, place):
        barrier.wait()
        results[me] = ioctl_at(walk.file.fd, place)

    def both():
        request = frame(command.object, command.method, [attribute(row.attr, 0, handle)])
        threads = [threading.Thread(target=destroy, args=(me, area.put(request))) for me in (0, 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        check(walk, f"the first to destroy {what}", min(results), 0)
        return max(results)

    for _ in range(20):
        handle = walk.made(what)
        walk.refused((command.name, "ioctl", row.name, "destroyed twice"), (ENOENT, EBUSY),
                     [f"{command.name}: {row.name}"], both)
    walk.report(f"{what} destroyed by two threads")


def walk_handles(walk):
    for what, name in (("CQ", "DESTROY_CQ"), ("QP", "DESTROY_QP"), ("SRQ", "DESTROY_SRQ")):
        in_destruction(walk, what, name)
    for what, name, result in (("CQ", "CREATE_CQ", "resp_cqe"), ("QP", "CREATE_QP", "qp_num"),
                               ("SRQ", "CREATE_SRQ", "resp_max_wr")):
        in_creation(walk, what, name, result)
    walk.destroy("QP", in_use(walk, "CREATE_QP", "qp_num", ("PD", "CQ")))
    in_use(walk, "QUERY_MR", "iova", ("MR",))
    walk.report("objects in use")
    for what in ("PD", "MR", "MW", "AH", "XRCD"):
        race(walk, what)

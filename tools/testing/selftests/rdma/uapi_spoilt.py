# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Requests a piece of whose memory is not as it should be: it cannot be written, it is not there, it comes
late (userfaultfd), or it is taken away while the kernel waits for it."""

import ctypes
import errno
import fcntl
import mmap
import os
import select
import struct
import sys
import threading

from uapi_held import SYS_USERFAULTFD, UFFD_API, UFFDIO_API, UFFDIO_REGISTER, PAGEFAULT
from uapi_lack import Lack
from uapi_requests import PAGE, libc, libc_mmap

UFFDIO_COPY, UFFDIO_WRITEPROTECT = 0xc028aa03, 0xc018aa06
MISSING, PROTECTED = 1, 2                   # what is waited for: a page, or the right to write to it
PAGEFAULT_FLAG_WP = 1 << 0                  # UFFD_FEATURE_PAGEFAULT_FLAG_WP

READ = ("gone", "late", "taken")
WRITTEN = ("read-only", "gone", "write late", "write taken")
BOTH = ("read-only", "gone", "late", "taken", "write late", "write taken")
libc.mmap.restype = ctypes.c_void_p


class Pages:
    """A good page and, behind it, one that is not as it should be."""

    def __init__(self):
        self.start = libc_mmap(2)
        self.odd = self.start + PAGE
        self.uffd = None
        self.content = b""

    def prepare(self, address, data, how):
        """Put data there, of which some lies on the odd page; then spoil that one."""
        libc.mmap(ctypes.c_void_p(self.start), ctypes.c_size_t(2 * PAGE), mmap.PROT_READ | mmap.PROT_WRITE,
                  mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x10, -1, 0)      # MAP_FIXED
        ctypes.memmove(address, bytes(data), len(data))
        self.content = ctypes.string_at(self.odd, PAGE)
        if how == "read-only":
            libc.mprotect(ctypes.c_void_p(self.odd), PAGE, mmap.PROT_READ)
        elif how == "gone":
            self.take()
        elif how:
            self.watch(PROTECTED if how.startswith("write") else MISSING)

    def take(self):
        libc.munmap(ctypes.c_void_p(self.odd), PAGE)

    def watch(self, mode):
        if mode == MISSING:
            libc.madvise(ctypes.c_void_p(self.odd), PAGE, mmap.MADV_DONTNEED)
        self.uffd = libc.syscall(SYS_USERFAULTFD, os.O_CLOEXEC | os.O_NONBLOCK)
        if self.uffd < 0:
            raise OSError(ctypes.get_errno(), "userfaultfd")
        fcntl.ioctl(self.uffd, UFFDIO_API, struct.pack("<QQQ", UFFD_API, PAGEFAULT_FLAG_WP, 0))
        fcntl.ioctl(self.uffd, UFFDIO_REGISTER, struct.pack("<QQQQ", self.odd, PAGE, mode, 0))
        if mode == PROTECTED:
            fcntl.ioctl(self.uffd, UFFDIO_WRITEPROTECT, struct.pack("<QQQ", self.odd, PAGE, 1))

    def resolve(self, how):
        """The kernel waits for it."""
        if how.endswith("taken"):
            self.take()         # whoever waits is woken when the descriptor is closed
        elif how == "late":
            source = ctypes.create_string_buffer(self.content, PAGE)
            fcntl.ioctl(self.uffd, UFFDIO_COPY,
                        bytearray(struct.pack("<QQQQq", self.odd, ctypes.addressof(source), PAGE, 0, 0)))
        else:
            fcntl.ioctl(self.uffd, UFFDIO_WRITEPROTECT, struct.pack("<QQQ", self.odd, PAGE, 0))

    def forget(self):
        if self.uffd is not None:
            os.close(self.uffd)
        self.uffd = None


class Piece:
    """Memory of a request: where it begins in area, its bytes, who points to it: a function that is told
    the address where it lies instead, or None for what is handed to the system call. cuts: how many of
    its bytes lie before the odd page."""

    def __init__(self, name, address, size, ways, point=None, cuts=(0,)):
        self.name, self.address, self.size, self.ways, self.point, self.cuts = name, address, size, ways, point, cuts


class Request:
    """A good one, in area."""

    def __init__(self, file, send, pieces):
        self.file, self.send, self.pieces = file, send, pieces
        self.start = next(piece for piece in pieces if piece.point is None).address


def pointer(at):
    """Sets an address that stands in area."""
    return lambda address: ctypes.memmove(at, struct.pack("<Q", address), 8)


class Spoiler:
    """Sends requests with a piece of memory spoilt, and counts those that wait for memory. Meanwhile others are
    asked: meanwhile(request)."""

    def __init__(self, meanwhile):
        self.pages, self.meanwhile, self.waited = Pages(), meanwhile, 0

    def send(self, request, piece, cut, how):
        """Answers what the system call did. piece None: the good request."""
        if piece is None:
            return request.send(request.start)
        data = ctypes.string_at(piece.address, piece.size)
        address = self.pages.odd - cut
        if piece.point:
            piece.point(address)
        self.pages.prepare(address, data, how)
        start = request.start if piece.point else address
        if self.pages.uffd is None:
            return request.send(start)
        return self.send_waiting(request, start, how)

    def send_waiting(self, request, start, how):
        result = []
        ended, end = os.pipe()

        def run():
            result.append(request.send(start))
            os.close(end)

        thread = threading.Thread(target=run)
        thread.start()
        ready, _, _ = select.select([self.pages.uffd, ended], [], [])
        if ended not in ready:
            assert os.read(self.pages.uffd, 32)[0] == PAGEFAULT
            self.waited += 1
            self.meanwhile(request)
            self.pages.resolve(how)
        self.pages.forget()
        thread.join()
        os.close(ended)
        return result[0]

    def counted(self):
        """What has been counted since the last time."""
        waited, self.waited = self.waited, 0
        return f"{waited} waited"


class Tap:
    """What has been reported."""

    def __init__(self):
        self.points, self.failed = 0, False

    def report(self, name, faults):
        self.points += 1
        self.failed |= bool(faults)
        print(f"{'not ' if faults else ''}ok {self.points} - {name}")
        for fault in faults:
            print(f"# {fault}")
        sys.stdout.flush()


class Walk:
    """Requests with each piece of their memory spoilt in each way. Sub-classes say what is asked meanwhile."""

    lacking = False     # instead, the kernel lacks memory of its own

    def __init__(self, tap):
        self.tap, self.asked, self.faults = tap, 0, []
        self.spoiler = Lack() if self.lacking else Spoiler(self.meanwhile)

    def meanwhile(self, request):
        raise NotImplementedError

    def spoil_each(self, pieces, good, ask):
        """ask(number, cut, how) sends the request of which piece number is spoilt from byte cut on, and answers
        what the system call did: good if the memory comes late, else good or EFAULT."""
        if self.lacking:
            self.spoiler.each(good, ask, self.faults)
            return
        for number, piece in enumerate(pieces):
            for cut in piece.cuts:
                for how in piece.ways:
                    found = len(self.faults)
                    err = ask(number, cut, how)
                    if err != good and (err != errno.EFAULT or how.endswith("late")):
                        self.faults.append(f"{how}: answered {err}, expected {good}")
                    self.faults[found:] = [f"{piece.name}, from byte {cut} on: {fault}"
                                           for fault in self.faults[found:]]

    def report(self, name):
        self.tap.report(f"{name}: {self.asked} requests, {self.spoiler.counted()}",
                        self.faults or ([] if self.asked else ["nothing was asked"]))
        self.faults, self.asked = [], 0

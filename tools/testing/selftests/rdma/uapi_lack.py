# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Requests for which the kernel lacks memory, or cannot copy theirs, once, at each of the places where that
may be (fail-nth)."""

import errno
import os

MOST_PLACES = 1000
LACKS = (errno.ENOMEM, errno.EFAULT, errno.ENOBUFS)
FAULTS = "/sys/kernel/debug/"


def prepare():
    """Allocations that may wait fail, too, and without a trace of the stack for each. Pages are left out, which
    the slab allocator takes when it needs some, and does with fewer."""
    for path, value in (("failslab/ignore-gfp-wait", "N"), ("failslab/verbose", "0"),
                        ("fail_page_alloc/min-order", "100"), ("fail_usercopy/verbose", "0")):
        with open(FAULTS + path, "w", encoding="ascii") as file:
            file.write(value)


class Lack:
    """Sends requests of which the how-th such place fails, and counts those that were refused for that.
    also: errnos that tell of it, too."""

    def __init__(self):
        prepare()
        self.file, self.reached, self.refused, self.also = None, False, 0, ()

    def tell(self, nth):
        # This copies from user memory, too, so it may come to the place itself; but only once.
        for _ in range(2):
            try:
                return os.write(self.file, b"%d" % nth)
            except OSError as error:
                told = error
        raise told

    def left(self):
        """What is left of it. Reading may come to the place itself: then the request did not."""
        try:
            return int(os.pread(self.file, 20, 0).strip(b"\0\n"))
        except OSError:
            return 1

    def send(self, request, _piece, _cut, how):
        """Answers what the system call did; how None: the good request."""
        if how is None:
            return request.send(request.start)
        self.file = os.open("/proc/thread-self/fail-nth", os.O_RDWR | os.O_CLOEXEC)
        self.tell(how)
        err = request.send(request.start)
        self.reached = not self.left()
        self.tell(0)
        os.close(self.file)
        self.refused += self.reached and err in LACKS
        return err

    def each(self, good, ask, faults):
        """ask(0, 0, nth) sends the request, and answers what the system call did: good, or that something was
        lacking."""
        for nth in range(1, MOST_PLACES):
            found = len(faults)
            err = ask(0, 0, nth)
            if err != good and not (self.reached and err in (*LACKS, *self.also)):
                faults.append(f"answered {err}, expected {good}")
            faults[found:] = [f"place {nth}: {fault}" for fault in faults[found:]]
            if not self.reached:
                return
        faults.append(f"there are more than {MOST_PLACES} places")

    def counted(self):
        """What has been counted since the last time."""
        refused, self.refused = self.refused, 0
        return f"{refused} lacked memory"

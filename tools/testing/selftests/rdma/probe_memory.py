# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""probe_memory SLOT DEVICE PATIENCE APART: the driver is bound to the device at SLOT, resets it, and is unbound,
each without memory once, at places where the kernel takes some for it (fail-nth): each of the first APART, then
further and further apart, by an APART-th of the places before. A line for each says how many places there are, and at
how many of those that were tried it was refused."""

import errno
import glob
import os
import subprocess
import sys
import time

import uapi_lack

SLOT, DEVICE, PATIENCE, APART = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
PCI = "/sys/bus/pci/"
MOST_PLACES = 20000
OFTEN = 50              # after so many places it is looked at whether the device works


class Write:
    """Of a text to a file of sysfs, which is open before there is no memory."""

    def __init__(self, path, text):
        self.file, self.start = os.open(path, os.O_WRONLY | os.O_CLOEXEC), text

    def send(self, _=None):
        try:
            os.pwrite(self.file, self.start, 0)
            return 0
        except OSError as error:
            return error.errno


BIND = Write(f"{PCI}drivers/vhca/bind", SLOT.encode())
UNBIND = Write(f"{PCI}drivers/vhca/unbind", SLOT.encode())
RESET = Write(f"{PCI}devices/{SLOT}/reset", b"1")


def fail(text):
    sys.exit(f"probe_memory: {text}")


def bound():
    return os.path.exists(f"{PCI}drivers/vhca/{SLOT}")


def there():
    return os.path.exists(f"/sys/class/infiniband/{DEVICE}")


def whole():
    """It has all that the core's modules make for it, as in the beginning."""
    return all(glob.glob(f"{PCI}devices/{SLOT}/{made}/*")
               for made in ("infiniband", "infiniband_verbs", "infiniband_mad", "net"))


def until(condition, what):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            fail(f"{what}: it does not come")
        time.sleep(0.05)


def works():
    try:
        with open(f"/sys/class/infiniband/{DEVICE}/ports/1/state", encoding="ascii") as file:
            if "ACTIVE" not in file.read():
                return False
    except OSError:
        return False
    return not subprocess.run(["ibv_devinfo", "-d", DEVICE], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, check=False).returncode


def begin(where):
    """It is bound and there, with memory. What was done without may have left the driver without its device, or
    the device without one of its clients, as the console says; a reset brings them back."""
    if not whole():
        err = (RESET if bound() else BIND).send()
        if err:
            fail(f"{where}: with memory: {os.strerror(err)}")
    if not whole():
        fail(f"{where}: with memory there is no device, or not all of it")


def end(where):
    err = UNBIND.send()
    if err or bound() or there():
        fail(f"{where}: it does not go: {os.strerror(err)}")


def bind(lack, nth):
    err = lack.send(BIND, 0, 0, nth)
    if err and (bound() or there()):
        fail(f"bind, place {nth}: it is there, though it was said: {os.strerror(err)}")
    if not err and not (bound() and there()):
        fail(f"bind, place {nth}: it is not there, and nobody was told")
    return err


def unbind(lack, nth):
    begin(f"unbind, place {nth}")
    err = lack.send(UNBIND, 0, 0, nth)
    # what lacked memory may have been the write itself
    if err and bound():
        end(f"unbind, place {nth}")
    elif bound() or there():
        fail(f"unbind, place {nth}: it stays")
    return err


def reset(lack, nth):
    begin(f"reset, place {nth}")
    err = lack.send(RESET, 0, 0, nth)
    if not bound():
        fail(f"reset, place {nth}: the driver is gone")
    return err


def places():
    nth = 1
    while nth <= MOST_PLACES:
        yield nth
        nth += max(1, nth // APART)


def sweep(name, once):
    lack, refused = uapi_lack.Lack(), 0
    for tried, nth in enumerate(places(), 1):
        err = once(lack, nth)
        # what the kernel says of interrupts for which it has no memory: EINVAL; of the BAR: EBUSY
        if err and not (lack.reached and err in (errno.ENOMEM, errno.EFAULT, errno.EINVAL, errno.EBUSY)):
            fail(f"{name}, place {nth}: {os.strerror(err)}{'' if lack.reached else ', though there was memory'}")
        refused += bool(err)
        if not lack.reached or tried % OFTEN == 0 or once is reset:
            begin(f"{name}, place {nth}")
            until(works, f"{name}, place {nth}")
        if bound() and once is not reset:
            end(f"{name}, place {nth}")
        if not lack.reached:
            print(f"{name}: {nth - 1} places or less, tried at {tried - 1}, refused at {refused}", flush=True)
            return
    fail(f"{name}: there is no end")


sweep("unbind", unbind)
sweep("reset", reset)
end("bind")
sweep("bind", bind)
begin("at the end")
until(works, "at the end")

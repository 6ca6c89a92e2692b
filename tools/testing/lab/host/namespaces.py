# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Run a function in process and mount name spaces of its own.

The function runs as process 1 of the new name space. When it returns, or when its
parent dies, even of kill -9, the kernel ends every process in the name space and
undoes every mount: nothing that the lab starts can outlive it."""

import ctypes
import os
import signal
import sys
import traceback

_libc = ctypes.CDLL(None, use_errno=True)

CLONE_NEWNS = 0x00020000
CLONE_NEWPID = 0x20000000
PR_SET_PDEATHSIG = 1
MS_RDONLY = 0x1
MS_REMOUNT = 0x20
MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 0x40000


def _check(result, what):
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def mount(source, target, kind="", flags=0, data=""):
    _check(_libc.mount(source.encode(), target.encode(), kind.encode(), flags,
                       data.encode()), f"mount {target}")


def bind(source, target, readonly=True):
    os.makedirs(target, exist_ok=True)
    mount(source, target, flags=MS_BIND)
    if readonly:
        mount("", target, flags=MS_BIND | MS_REMOUNT | MS_RDONLY)


def _child(function, parent):
    status = 125
    try:
        _check(_libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "prctl")
        # The pipe breaks if the parent died before the request above.
        if not os.read(parent, 1):
            os._exit(125)
        os.close(parent)
        mount("none", "/", flags=MS_REC | MS_PRIVATE)
        mount("proc", "/proc", "proc")
        status = function()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 125
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def run_isolated(function):
    """Return the status of function(), run as process 1 of new name spaces."""
    _check(_libc.unshare(CLONE_NEWPID | CLONE_NEWNS), "unshare")
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(theirs)
        _child(function, ours)
    os.close(ours)
    os.write(theirs, b"x")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda sig, _: os.kill(child, sig))
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return 128 + os.WTERMSIG(status)
    return os.WEXITSTATUS(status)

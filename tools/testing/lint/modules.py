# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Our modules as the lab builds them, with W=1, -Werror and sparse.

An object with a warning is not kept, so that the next build repeats the warning: a build with
nothing to do has no warning to report."""

import os
import subprocess

import common

# The stock kernel has the configuration that users have; the debug kernel's adds the unit tests,
# lockdep and the sanitizers.
KERNELS = {"stock": ("trees", "log.tree-ours"), "debug": ("trees-debug", "log.tree-debug-ours")}
KVERBS = "tools/testing/selftests/rdma/kverbs"
WATCHED = ("drivers/*", "include/*", "Kbuild", f"{KVERBS}/*")


def folder(kernel):
    return os.path.join(common.TOP, "build", KERNELS[kernel][0], "ours/src")


def build(kernel):
    """Bring the modules for a kernel up to date: (exit status, what was said)."""
    log = os.path.join(common.TOP, "build", KERNELS[kernel][1])
    if os.path.exists(log):
        os.unlink(log)
    done = subprocess.run([common.LAB, "trees", "--kernel", kernel, "--own-only", "ours"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    said = common.read(log) if os.path.exists(log) else ""
    return done.returncode, said or done.stdout

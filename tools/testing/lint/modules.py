# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Builds our modules for the static checks, in folders of their own (build/lint/modules), with
W=1 and -Werror, each object checked by sparse.

An object that a warning came from is not kept, so the next build says it again, and a build
that has nothing to do has nothing to say.

-Wno-context: sparse does not understand guard(spinlock); lockdep checks the balance."""

import filecmp
import os
import re
import shutil

import common

# The stock kernel's configuration is the users'; the debug kernel's has the unit tests in
# it, and all that lockdep and the sanitizers add.
KERNELS = {
    "stock": ("kdir", []),
    "debug": ("debug-kernel", ["CONFIG_INFINIBAND_KUNIT_TEST=m", "CONFIG_INFINIBAND_VHCA_KUNIT_TEST=m"]),
}
KVERBS = "tools/testing/selftests/rdma/kverbs"
WATCHED = ("drivers/*", "include/*", "Kbuild", f"{KVERBS}/*")
SOURCES = re.compile(r"(\.[chS]|/Makefile|/Kbuild|/Kconfig)$")


def folder(kernel):
    return os.path.join(common.TOP, "build/lint/modules", kernel)


def sources(top):
    for where, _, names in os.walk(top):
        for name in names:
            full = os.path.join(where, name)
            if SOURCES.search(full) and not name.endswith(".mod.c"):
                yield full


def mirror(source, target):
    """Copy the sources that changed. What has no source any more goes, with what was built
    from it."""
    wanted = set()
    for full in sources(source):
        copy = os.path.join(target, os.path.relpath(full, source))
        wanted.add(copy)
        if not os.path.exists(copy) or not filecmp.cmp(full, copy, shallow=False):
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            shutil.copyfile(full, copy)
    for full in set(sources(target)) - wanted:
        where, name = os.path.split(full)
        for gone in (full, os.path.join(where, name[:-2] + ".o"), os.path.join(where, f".{name[:-2]}.o.cmd")):
            if os.path.exists(gone):
                os.unlink(gone)


def build(kernel):
    """Bring the modules for a kernel up to date: [(exit status, what was said)]."""
    part, options = KERNELS[kernel]
    tree = folder(kernel)
    mirror("drivers", f"{tree}/drivers")
    mirror("include", f"{tree}/include")
    mirror(KVERBS, f"{tree}/kverbs")
    shutil.copyfile("Kbuild", f"{tree}/Kbuild")
    kbuild = ["make", "-s", "-k", f"-j{os.cpu_count()}", "-C", common.path(part), "W=1", "C=1",
              "CHECK=sparse", "CF=-Wsparse-error -Wno-context", "KCFLAGS=-Werror",
              f"NOSTDINC_FLAGS=-nostdinc -I{tree}/include -I{tree}/include/uapi"]
    answers = common.run_all([([*kbuild, f"M={tree}", "CONFIG_INFINIBAND_VHCA=m", *options, "modules"],
                               common.TOP, "")])
    if not answers[0][0]:
        answers += common.run_all([([*kbuild, f"M={tree}/kverbs",
                                     f"KBUILD_EXTRA_SYMBOLS={tree}/Module.symvers", "modules"],
                                    common.TOP, "")])
    return answers

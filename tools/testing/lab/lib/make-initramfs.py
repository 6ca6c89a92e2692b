#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""make-initramfs.py ROOT KERNEL INIT TREE: lay out the initramfs in TREE: a static
busybox, INIT as /init, and the modules a guest needs to reach its root, unpacked
and listed in /modules in the order in which they load. KERNEL is - for a kernel that
has all of them built in."""

import lzma
import os
import shutil
import sys

WANTED = ["9pnet_virtio", "9p", "overlay", "virtio_net"]


def name_of(path):
    return os.path.basename(path).split(".ko")[0].replace("-", "_")


def modules(base):
    """[(name, path)] of what is WANTED and what that needs, in the order to load it."""
    paths, needs = {}, {}
    with open(f"{base}/modules.dep", encoding="ascii") as file:
        for line in file:
            path, _, rest = line.partition(":")
            paths[name_of(path)] = path
            needs[name_of(path)] = [name_of(other) for other in rest.split()]
    order = []
    for name in WANTED:
        # modules.dep lists the nearest dependency first.
        for one in reversed([name] + needs[name]):
            if one not in order:
                order.append(one)
    return [(name, f"{base}/{paths[name]}") for name in order]


def main():
    root, kernel, init, tree = sys.argv[1:]
    wanted = [] if kernel == "-" else modules(f"{root}/usr/lib/modules/{kernel}")

    for folder in ("bin", "dev", "proc", "sys", "lib", "new"):
        os.makedirs(f"{tree}/{folder}")
    shutil.copy(f"{root}/usr/bin/busybox", f"{tree}/bin/busybox")
    os.symlink("busybox", f"{tree}/bin/sh")
    shutil.copy(init, f"{tree}/init")
    os.chmod(f"{tree}/init", 0o755)
    for name, path in wanted:
        opener = lzma.open if path.endswith(".xz") else open
        with opener(path, "rb") as source, open(f"{tree}/lib/{name}.ko", "wb") as target:
            shutil.copyfileobj(source, target)
    with open(f"{tree}/modules", "w", encoding="ascii") as file:
        file.writelines(name + "\n" for name, _ in wanted)


main()

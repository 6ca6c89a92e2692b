#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Boots guests for `lab run` and `lab shell`; `lab` has made everything they need."""

import argparse
import os
import select
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

import namespaces
import qemu
from session import SKIP, Session, say
from stuck import processor_time
from terminal import Terminal

# What a guest copies into /dev, by one program.
GUEST_DEV = {"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1",
             "stderr": "/proc/self/fd/2"}

# Seconds of a processor in which a kernel that runs by KVM has long printed something.
SILENT = 2


def arguments():
    parser = argparse.ArgumentParser()
    for name in ("cache", "top", "labdir", "qemu-root", "guest-root", "kernel", "initramfs"):
        parser.add_argument("--" + name, required=True)
    for name in ("addon", "i386", "vhcad", "vhcactl", "out", "trees", "modules", "build"):
        parser.add_argument("--" + name, default="")
    for name in ("nodes", "hca", "ports", "cpus", "mem", "timeout"):
        parser.add_argument("--" + name, type=int, required=True)
    for name in ("core", "load", "link", "subnet", "irq", "mode", "accel"):
        parser.add_argument("--" + name, required=True)
    for name in ("icount", "iommu", "pciehp", "capture", "coverage", "pin", "confined"):
        parser.add_argument("--" + name, action="store_true")
    for name in ("device-arg", "append", "core-of", "hca-of", "link-of", "then"):
        parser.add_argument("--" + name, action="append", default=[])
    parser.add_argument("script", nargs="*")
    options = parser.parse_args()
    options.cores = of_each(options, options.core, options.core_of)
    options.hcas = of_each(options, options.hca, options.hca_of)
    options.links = of_each(options, options.link, options.link_of)
    options.ethernet = bool(options.vhcad) and any(
        hcas and "eth" in link.split(",") for hcas, link in zip(options.hcas, options.links))
    return options


def of_each(options, usual, words):
    """A list of what each guest has, from what they usually have and words like "2=ours"."""
    values = [usual] * options.nodes
    for word in words:
        node, value = word.split("=")
        values[int(node) - 1] = type(usual)(value)
    return values


def stage(options):
    """The folder that a guest sees as /lab, joined by bind mounts in this name space alone."""
    top = options.stage = os.path.join(options.run_dir, "stage")
    lab = os.path.join(top, "lab")
    namespaces.bind(os.path.join(options.labdir, "guest"), f"{lab}/guest")
    namespaces.bind(options.top, f"{lab}/src")
    if options.build:
        namespaces.bind(options.build, f"{lab}/src/build")
    os.makedirs(f"{lab}/trees")
    if options.trees:
        namespaces.bind(options.trees, f"{lab}/trees")
    if options.modules:
        namespaces.bind(options.modules, f"{lab}/modules")
    if options.i386:
        namespaces.bind(options.i386, f"{lab}/i386")
    os.makedirs(f"{lab}/out")
    os.makedirs(f"{lab}/run/dev")
    os.makedirs(f"{lab}/run/scripts")
    for name, target in GUEST_DEV.items():
        os.symlink(target, f"{lab}/run/dev/{name}")
    scripts = [options.script] if options.script else []
    for number, words in enumerate(scripts + [[path] for path in options.then]):
        write_command(options, words, f"{lab}/run", number)


def write_command(options, script, folder, number):
    """Writes what calls a script with its arguments, in a file that has the script's name and number."""
    source = os.path.realpath(script[0])
    inside = os.path.relpath(source, options.top)
    if inside.startswith("../"):
        target = f"/lab/run/{os.path.basename(source)}"
        shutil.copy(source, folder)
    else:
        target = f"/lab/src/{inside}"
    words = [target] + script[1:]
    with open(source, "rb") as file:
        if file.read(2) not in (b"#!", b"\x7fE") or not os.access(source, os.X_OK):
            words.insert(0, "bash")
    name = os.path.splitext(os.path.basename(source))[0]
    with open(f"{folder}/scripts/{number:02}.{name}", "w", encoding="utf-8") as file:
        file.write(f"cd {shlex.quote(os.path.dirname(target))}\nexec {shlex.join(words)}\n")


def main():
    options = arguments()
    options.run_dir = os.path.join(options.cache, ".run")
    os.makedirs(options.run_dir, exist_ok=True)
    namespaces.mount("tmpfs", options.run_dir, "tmpfs", data="mode=700")
    kept = options.out
    if kept:
        os.makedirs(kept, exist_ok=True)
        options.out = os.path.realpath(kept)
    else:
        # In memory, so that a run leaves nothing behind unless there is something to look at.
        options.out = os.path.join(options.run_dir, "out")
        os.makedirs(options.out)
    stage(options)
    session = Session(options)
    if options.mode == "shell":
        session.terminal = Terminal()
    status = session.run()
    if not kept and status not in (0, SKIP):
        kept = tempfile.mkdtemp(prefix="vhca-lab.")
        shutil.copytree(options.out, kept, dirs_exist_ok=True)
        say(f"consoles, logs and output of this run were kept in {kept}")
    return status


def probe(root, kernel, initramfs):
    """Can this host's KVM run the guest kernel? Status 0 says yes. A kernel that has had a processor for
    SILENT seconds and has not printed a line does not run; a busy host gives it one later."""
    command = qemu.program(root) + [
        "-accel", "kvm", "-cpu", "host", "-machine", "q35", "-m", "512", "-nodefaults",
        "-display", "none", "-no-reboot", "-serial", "stdio"]
    command += qemu.boot(kernel, initramfs, "lab.probe")
    said, deadline = b"", time.monotonic() + 90
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as child:
        while b"lab: probe ok" not in said and time.monotonic() < deadline:
            if select.select([child.stdout], [], [], 0.5)[0]:
                some = os.read(child.stdout.fileno(), 4096)
                if not some:
                    break
                said += some
            elif not said and sum(processor_time(child).values()) > SILENT:
                break
        child.kill()
    return 0 if b"lab: probe ok" in said else 1


if __name__ == "__main__":
    if sys.argv[1] == "probe":
        sys.exit(namespaces.run_isolated(lambda: probe(*sys.argv[2:])))
    sys.exit(namespaces.run_isolated(main))

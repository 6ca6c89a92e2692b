#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""suspend.py GUEST-ROOT QEMU-ROOT CORE OUT: boots a guest with an HCA and the modules of build/trees/CORE, whose root is its
initramfs, runs suspend-init in it, and wakes it up as often as it is suspended to memory (S3). In OUT are its
console, the results, and vhcad's log. The exit status is 0 when both have ended well."""

import glob
import json
import lzma
import os
import shutil
import signal
import socket
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.realpath(os.path.join(HERE, "../../../.."))
sys.path.insert(0, os.path.join(HERE, "../host"))
import qemu  # noqa: E402  it lies beside this one's folder

ROOT, QEMU, CORE, OUT = sys.argv[1:]
MODULES = ("vhca", "ib_uverbs", "rdma_kverbs")
PROGRAMS = ("ibv_rc_pingpong", "ibv_asyncwatch", "stdbuf")
MB = 1024


def module_name(path):
    return os.path.basename(path).partition(".ko")[0].replace("-", "_")


def depends(path):
    """What is in a module, and the names of those that it needs, as it says itself."""
    opener = lzma.open if path.endswith(".xz") else open
    with opener(path, "rb") as file:
        text = file.read()
    named = text.partition(b"\0depends=")[2].partition(b"\0")[0].decode()
    return text, [one.replace("-", "_") for one in named.split(",") if one]


def put_modules(tree):
    """Copies the modules, in the order in which they are loaded: ours, and of the kernel's own what they need."""
    kernel, = glob.glob(f"{ROOT}/usr/lib/modules/*")
    known = glob.glob(f"{kernel}/kernel/**/*.ko*", recursive=True)
    known += glob.glob(f"{TOP}/build/trees/{CORE}/modules/updates/*.ko")
    paths = {module_name(path): path for path in known}     # of two of a name ours
    order = []

    def take(name):
        if name in order:
            return
        text, needs = depends(paths[name])
        for other in needs:
            take(other)
        order.append(name)
        with open(f"{tree}/modules/{name}.ko", "wb") as file:
            file.write(text)
    for name in MODULES:
        take(name)
    with open(f"{tree}/modules/order", "w", encoding="ascii") as file:
        file.writelines(name + "\n" for name in order)


def put(tree, path, source):
    """Copies a file, and what it is a link to under its own name, as programs may ask for that."""
    real = os.path.realpath(source)
    target = f"{tree}{os.path.dirname(path)}/{os.path.basename(real)}"
    os.makedirs(os.path.dirname(target), exist_ok=True)
    shutil.copy(real, target)
    if not os.path.exists(tree + path):
        os.symlink(os.path.basename(real), tree + path)


def put_programs(tree):
    for name in PROGRAMS:
        put(tree, f"/bin/{name}", f"{ROOT}/usr/bin/{name}")
        said = subprocess.run(["chroot", ROOT, "ldd", f"/usr/bin/{name}"], stdout=subprocess.PIPE, text=True, check=True)
        for word in said.stdout.split():
            if word.startswith("/"):
                put(tree, word, ROOT + word)
    put(tree, "/usr/libexec/coreutils/libstdbuf.so", f"{ROOT}/usr/libexec/coreutils/libstdbuf.so")
    addon = f"{TOP}/build/addon"
    for path in (*glob.glob(f"{addon}/usr/lib/**/libvhca*.so", recursive=True), f"{addon}/etc/libibverbs.d/vhca.driver"):
        put(tree, path.removeprefix(addon), path)


def initramfs():
    tree = f"{OUT}/tree"
    for folder in ("bin", "dev", "proc", "sys", "tmp", "modules"):
        os.makedirs(f"{tree}/{folder}")
    shutil.copy(f"{ROOT}/usr/bin/busybox", f"{tree}/bin/busybox")
    os.symlink("busybox", f"{tree}/bin/sh")
    shutil.copy(f"{HERE}/suspend-init", f"{tree}/init")
    put_modules(tree)
    put_programs(tree)
    names = "".join(os.path.relpath(path, tree) + "\n" for path in glob.glob(f"{tree}/**", recursive=True) if path != f"{tree}/")
    with open(f"{OUT}/initramfs", "wb") as file:
        subprocess.run([f"{ROOT}/usr/bin/busybox", "cpio", "-o", "-H", "newc"], cwd=tree, input=names.encode(),
                       stdout=file, stderr=subprocess.DEVNULL, check=True)
    shutil.rmtree(tree)


def machine(monitor):
    """The kernel comes as a bzImage. QEMU puts one that is an ELF file where it belongs in memory again at each reset, and
    waking up is one."""
    kernel, = glob.glob(f"{ROOT}/boot/vmlinuz-*")
    return [*qemu.program(QEMU), "-accel", "tcg", "-cpu", f"max,la57=off,{qemu.NO_FAST_STRINGS}",
            "-machine", "q35,memory-backend=ram", "-global", "ICH9-LPC.disable_s3=0", "-m", str(MB),
            "-object", f"memory-backend-memfd,id=ram,size={MB}M,share=on", "-nodefaults", "-no-user-config",
            "-display", "none", "-no-reboot", "-chardev", f"socket,id=monitor,fd={monitor}",
            "-mon", "chardev=monitor,mode=control", "-serial", f"file:{OUT}/console", "-serial", f"file:{OUT}/results",
            *qemu.hca(0, f"{OUT}/hca.sock"), *qemu.boot(kernel, f"{OUT}/initramfs", "")]


def run():
    vhcad = subprocess.Popen([f"{TOP}/tools/vhcad/build/san/vhcad", "--hca", f"{OUT}/hca.sock", "--log", f"{OUT}/vhcad.log"],
                             stdout=subprocess.PIPE)
    ours, theirs = socket.socketpair()
    try:
        vhcad.stdout.readline()     # it is ready
        guest = subprocess.Popen(machine(theirs.fileno()), pass_fds=[theirs.fileno()])
        theirs.close()
        try:
            monitor = qemu.Monitor(ours.sendall)
            for line in ours.makefile():
                told = json.loads(line)
                monitor.line(line)
                if told.get("event") == "SUSPEND":
                    monitor.ask("system_wakeup", lambda wrong: wrong and print(wrong, file=sys.stderr))
            status = guest.wait()
        finally:
            guest.kill()
    finally:
        vhcad.send_signal(signal.SIGTERM)
        ended = vhcad.wait()
    return 1 if status or ended else 0


signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
initramfs()
sys.exit(run())

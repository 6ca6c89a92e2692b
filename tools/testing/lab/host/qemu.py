# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The command line of one guest, and its monitor."""

import json
import os

# no_timer_check: on a busy host the kernel may see no timer interrupt during its short test at
# boot, and would give up. unknown_nmi_panic and panic_print: on an NMI, a guest that is stuck
# shows its tasks and what each processor does (Session.tell_stuck()). cryptomgr.notests: the kernel's
# algorithms are not what is tested here.
KERNEL_ARGUMENTS = ("console=ttyS0 panic=-1 oops=panic nowatchdog no_timer_check mitigations=off "
                    "cryptomgr.notests "
                    "unknown_nmi_panic panic_print=0x41 "
                    "rcupdate.rcu_cpu_stall_timeout=120 loglevel=7 net.ifnames=0")


# Processors with these copy and clear fast by the byte, and the kernel has them do so. TCG emulates
# every byte; by words, as on others, a guest takes a twentieth less time. Where instructions are
# counted the figures would be others.
NO_FAST_STRINGS = "erms=off,fsrm=off,fsrs=off,fsrc=off,fzrm=off"


def program(root):
    """QEMU through its own root's dynamic loader: no mount, no library of the host."""
    return [f"{root}/lib64/ld-linux-x86-64.so.2", "--library-path",
            f"{root}/usr/lib/x86_64-linux-gnu", f"{root}/usr/bin/qemu-system-x86_64",
            "-L", f"{root}/usr/share/qemu", "-L", f"{root}/usr/share/seabios"]


def boot(kernel, initramfs, extra):
    return ["-kernel", kernel, "-initrd", initramfs,
            "-append", f"{KERNEL_ARGUMENTS} {extra}"]


def accelerator(name, icount):
    if icount:
        return ["-accel", "tcg,thread=single", "-icount", "shift=1"]
    if name == "kvm":
        return ["-accel", "kvm", "-cpu", "host"]
    return ["-accel", "tcg,thread=multi"]


def shared(tag, path, readonly=True):
    options = f"local,id={tag},path={path},security_model=none,multidevs=remap"
    if readonly:
        options += ",readonly=on"
    return ["-fsdev", options, "-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]


# The network adapters that Ethernet ports stand beside take the frames of their largest MTU.
ETHERNET_MTU = 4500


def mac(node, index):
    """The address of a node's network adapter, and of its Ethernet port of this number from 0."""
    return f"52:54:00:77:{index:02x}:{node:02x}"


def on_ethernet(node, numbers):
    """Network adapters on the daemon's segment, beside the Ethernet ports of these numbers. An
    InfiniBand port has none: it would answer who looks for the others' addresses."""
    arguments = []
    for index in numbers:
        arguments += ["-netdev", f"stream,id=net{index},server=off,addr.type=unix,"
                                 "addr.path=ether.sock",
                      "-device", f"virtio-net-pci,mac={mac(node, index)},romfile=,"
                                 f"host_mtu={ETHERNET_MTU},netdev=net{index}"]
    return arguments


def network(node, links):
    """links: {peer: descriptor} of the stream sockets to other nodes. Node 1 joins
    more than two nodes with the hub that QEMU brings."""
    device = f"virtio-net-pci,mac={mac(node, 0)},romfile="
    if not links:
        return ["-device", device]
    nic = ["-device", f"{device},netdev=net0"]
    if len(links) == 1:
        (descriptor,) = links.values()
        return ["-netdev", f"stream,id=net0,server=off,addr.type=fd,addr.str={descriptor}"] + nic
    arguments = ["-netdev", "hubport,id=net0,hubid=0"]
    for peer, descriptor in links.items():
        arguments += ["-netdev",
                      f"stream,id=link{peer},server=off,addr.type=fd,addr.str={descriptor}",
                      "-netdev", f"hubport,id=port{peer},hubid=0,netdev=link{peer}"]
    return arguments + nic


def hca_device(index, socket):
    """What QEMU is told of an HCA, in its first slot or when it is put there later."""
    return {"driver": "vfio-user-pci", "id": f"hca{index}", "bus": f"rp{index}",
            "socket": {"type": "unix", "path": socket}}


def hca(index, socket):
    return ["-device", f"pcie-root-port,id=rp{index},chassis={index + 1},x-speed=32,x-width=16",
            "-device", json.dumps(hca_device(index, socket))]


def guest(options, node, descriptors, links, sockets):
    """descriptors: {"console", "out", "control", "monitor"[, "shell"]: socket descriptor}."""
    machine = "q35,memory-backend=ram"
    if options.iommu and options.accel == "kvm":
        machine += ",kernel-irqchip=split"
    arguments = program(options.qemu_root)
    arguments += accelerator(options.accel, options.icount)
    if options.icount or options.accel != "kvm":
        # Without five-level page tables: while the kernel identifies the processor it
        # forgets for a moment that it has them, and if an interrupt calls KASAN in that
        # moment, KASAN reports a wild access to good memory.
        arguments += ["-cpu", "max,la57=off" if options.icount else f"max,la57=off,{NO_FAST_STRINGS}"]
    arguments += ["-machine", machine, "-smp", str(options.cpus), "-m", str(options.mem),
                  "-object", f"memory-backend-memfd,id=ram,size={options.mem}M,share=on",
                  "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
                  "-name", f"node{node}"]
    if options.pciehp:
        # Where the firmware handles hot plug, QEMU's root ports never report that their link is
        # up, and the guest's kernel waits for it in vain after it has reset the slot.
        arguments += ["-global", "ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off"]
    if options.iommu:
        arguments += ["-device", "intel-iommu,intremap=on,caching-mode=on"]
    for name in ("console", "out", "control", "monitor", "shell"):
        if name in descriptors:
            arguments += ["-chardev", f"socket,id={name},fd={descriptors[name]}"]
    arguments += ["-mon", "chardev=monitor,mode=control",
                  "-serial", "chardev:console", "-device", "virtio-serial-pci",
                  "-device", "virtserialport,chardev=out,name=lab.out",
                  "-device", "virtserialport,chardev=control,name=lab.control"]
    if "shell" in descriptors:
        arguments += ["-device", "virtconsole,chardev=shell"]
    if options.ethernet:
        links = options.links[node - 1].split(",")
        numbers = [number for number in range(len(sockets) * options.ports)
                   if links[number % options.ports % len(links)] == "eth"]
        # rdma_rxe of a guest without an Ethernet port has an adapter there, too.
        arguments += on_ethernet(node, numbers or [0])
    else:
        arguments += network(node, links)
    arguments += shared("root", options.guest_root)
    if options.addon:
        arguments += shared("addon", options.addon)
    arguments += shared("lab", os.path.join(options.stage, "lab"))
    arguments += shared("out", options.out, readonly=False)
    for index, socket in enumerate(sockets):
        arguments += hca(index, socket)
    words = (f"lab.node={node} lab.nodes={options.nodes} lab.core={options.cores[node - 1]} "
             f"lab.load={options.load} lab.hcas={len(sockets)} lab.ports={options.ports} "
             f"lab.mode={options.mode} lab.subnet={options.subnet}")
    if options.iommu:
        words += " intel_iommu=on"
    if options.coverage:
        words += " lab.coverage=1"
    words = " ".join([words] + options.append)
    return arguments + boot(options.kernel, options.initramfs, words)


class Monitor:
    """QEMU's monitor of one guest. send(bytes) writes to it, and line() takes what it says. Who asks
    for something names a function that is called when it is done, with "" or what is wrong."""

    def __init__(self, send):
        self.send = send
        self.asked = {}             # number: function
        self.leaving = {}           # device that is to leave the machine: function
        self.number = 0
        self.ask("qmp_capabilities", lambda wrong: None)

    def ask(self, command, done, **arguments):
        self.number += 1
        self.asked[self.number] = done
        request = {"execute": command, "arguments": arguments, "id": self.number}
        self.send(json.dumps(request).encode() + b"\n")

    def unplug(self, index, done):
        """The guest's kernel lets an HCA go, and it has left the machine."""
        device = f"hca{index}"

        def asked(wrong):
            if wrong:
                del self.leaving[device]
                done(wrong)
        self.leaving[device] = done
        self.ask("device_del", asked, id=device)

    def plug(self, index, socket, done):
        self.ask("device_add", done, **hca_device(index, socket))

    def line(self, text):
        told = json.loads(text)
        if told.get("event") == "DEVICE_DELETED":
            # devices without an identifier have a path alone
            done = self.leaving.pop(told["data"].get("device"), None)
            if done:
                done("")
        elif "id" in told:
            self.asked.pop(told["id"])(told.get("error", {}).get("desc", ""))

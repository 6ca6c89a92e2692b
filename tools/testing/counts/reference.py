# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Documentation/core/uapi.rst: every command of the user API that the modules have, read from the
tables that drive their decoders."""

import os

from elf import Elf
from uapi import (NETLINK, NL_CBS, NO_ATTR, NO_METHOD, NO_WRITE, UMAD_IOCTL, UVERBS_ARG, commands,
                  ucma_commands)

HEAD = """.. SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

=========================
The user API, row by row
=========================

This file is made by ``tools/testing/counts/run --update`` from the tables in ``ib_uverbs.ko``,
``ib_umad.ko``, ``rdma_ucm.ko``, ``ib_core.ko`` and ``iw_cm.ko``, by which requests are decoded;
``counts/interfaces`` fails when it is not current. How the tables are read is in :doc:`uverbs`.

Of each row: what a refusal calls it; its attribute, in requests by ``ioctl``; its bytes; what it is.
Where a row has no attribute only ``write`` carries it. ``*`` marks what an ``ioctl`` cannot do
without.
"""
KINDS = ["number", "mask", "bytes", "result", "number of the new object", "{}, read", "{}, changed",
         "new {}", "{}, destroyed", "list"]
MASK, FIRST_OBJECT, LAST_OBJECT = 1, 5, 8
MANDATORY, ZERO_TAIL, FD, CONST, BYTES_OUT = 1, 2, 4, 8, 16
ADMIN = 1


def text(elf, place, offset=0):
    """The string that a pointer leads to."""
    section, start = elf.pointer(place, offset)
    start += elf.sections[section][4]
    return elf.data[start:elf.data.index(b"\0", start)].decode()


def names(numbers, prefix):
    """{value: name without prefix}"""
    return {value: name[len(prefix):] for name, value in numbers.value.items() if name.startswith(prefix)}


def table(rows):
    """Lines of a simple table without borders between its rows."""
    rows = [list(row) for row in zip(*(column for column in zip(*rows) if any(column)))]
    if not rows:
        return []
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    border = "  ".join("=" * width for width in widths)
    return [border] + ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
                       for row in rows] + [border, ""]


class Uverbs:
    """The commands of ib_uverbs.ko."""

    def __init__(self, path, numbers):
        self.elf, self.numbers = Elf(path), numbers
        self.objects = names(numbers, "UVERBS_OBJECT_")
        self.write = {value: name for value, name in names(numbers, "IB_USER_VERBS_CMD_").items()
                      if name not in ("COMMAND_MASK", "FLAG_EXTENDED")}
        self.extended = names(numbers, "IB_USER_VERBS_EX_CMD_")

    def attr_name(self, obj, method, number):
        """An attribute's name; the driver's part has one of its own."""
        value = self.numbers.value
        for name, enum in self.numbers.enum.items():
            if not name.startswith("UVERBS_ATTR_") or value[name] != number:
                continue
            owner = self.numbers.method_of(name)
            if owner and owner in value and value[owner] == method and \
                    value[self.numbers.object_of(owner)] == obj:
                return name[len("UVERBS_ATTR_"):]
            if owner is None and number >= 0x1000 and enum:
                return name[len("UVERBS_ATTR_"):]
        return f"{number:#x}"

    def method_name(self, obj, method):
        for name in self.numbers.enum:
            if name.startswith("UVERBS_METHOD_") and self.numbers.value[name] == method and \
                    self.numbers.value.get(self.numbers.object_of(name)) == obj:
                return name[len("UVERBS_METHOD_"):]
        return f"method {method}"

    def rows(self, cmd, obj, method):
        args = self.elf.pointer(cmd, 32)
        count, = self.elf.unpack("H", cmd, 26)
        for at in range(0, count * UVERBS_ARG, UVERBS_ARG) if args else ():
            kind, flags, attr, kept, _, size, least = self.elf.unpack("BBHHHHH", args, at + 8)
            what = KINDS[kind].format(self.objects.get(kept, "object"))
            if kind == MASK:
                what += f" of {self.elf.unpack('Q', args, at + 32)[0]:#x}"
            if FIRST_OBJECT <= kind <= LAST_OBJECT and flags & FD:
                what += ", by file"
            if flags & BYTES_OUT:
                what += ", filled"
            name = "" if attr == NO_ATTR else self.attr_name(obj, method, attr)
            bytes_ = f"{least} to {size}" if 0 < least < size else str(size or least or "")
            if FIRST_OBJECT <= kind <= LAST_OBJECT:
                bytes_ = ""
            elif flags & ZERO_TAIL or least > size:
                bytes_ += " or more"
            yield text(self.elf, args, at), name + "*" * bool(flags & MANDATORY), bytes_, what

    def command(self, obj, cmd):
        method, write, extended = self.elf.unpack("HBB", cmd, 8)
        forms = []
        if method != NO_METHOD:
            forms.append(f"ioctl {self.method_name(obj, method)}")
        if write != NO_WRITE:
            forms.append(f"write {self.write.get(write, write)} ({write})")
        if extended != NO_WRITE:
            forms.append(f"extended write {self.extended.get(extended, extended)} ({extended})")
        name = text(self.elf, cmd)
        lines = [name, "-" * len(name), "", ", ".join(forms) + ".", ""]
        if not self.elf.pointer(cmd, 56):
            lines += ["Refused on every device, as by Linux 6.12.", ""]
        return obj, lines + table(list(self.rows(cmd, obj, method)))

    def lines(self):
        found = [self.command(obj, cmd) for obj, cmd in commands(self.elf)]
        lines = []
        for obj in sorted({obj for obj, _ in found}):
            title = f"uverbs: {self.objects.get(obj, obj)}"
            lines += [title, "=" * len(title), ""]
            for owner, part in found:
                lines += part if owner == obj else []
        return lines


def netlink(elf, symbol, client, named):
    """The commands of a netlink client, from its table."""
    place = elf.symbols[symbol]
    rows = []
    for number, name in sorted(named.items()):
        at = number * NL_CBS
        if at >= elf.sizes[symbol]:
            continue
        asked = [what for what, offset in (("one", 0), ("list", 8)) if elf.pointer(place, at + offset)]
        flags, = elf.unpack("B", place, at + 16)
        if asked:
            rows.append((str(number), name, " and ".join(asked), "CAP_NET_ADMIN" if flags & ADMIN else ""))
    title = "netlink: " + client
    return [title, "=" * len(title), "", "Number, command, whether one answer is given or a list, and the "
            "privilege", "that is needed.", ""] + table(rows)


def umad(path, numbers):
    """The requests that umadN takes by ioctl."""
    elf = Elf(path)
    place = elf.symbols["umad_ioctls"]
    named = names(numbers, "IB_USER_MAD_")
    rows = []
    for at in range(0, elf.sizes["umad_ioctls"], UMAD_IOCTL):
        cmd, = elf.unpack("I", place, at)
        rows.append((str(cmd & 0xff), named[cmd & 0xff], str(cmd >> 16 & 0x3fff)))
    title = "umad: ioctl"
    return [title, "=" * len(title), "", "Number, request, and the bytes of its argument. What they do is in "
            ":doc:`umad`.", ""] + table(sorted(rows))


def ucma(path, numbers):
    """The commands of rdma_cm, written as the ABI has them."""
    named = names(numbers, "RDMA_USER_CM_CMD_")
    rows = []
    for number, (full, least, room) in sorted(ucma_commands(Elf(path)).items()):
        rows.append((str(number), named[number], str(full) if least == full else f"{full}, or {least}", str(room or "")))
    title = "rdma_cm: write"
    return [title, "=" * len(title), "", "Number, command, the bytes of its request and, of old programs, fewer; the room "
            "that its response needs.", "What they do is in :doc:`ucma`.", ""] + table(rows)


def reference(tree, numbers):
    """The whole text."""
    core = os.path.join(tree, "drivers/infiniband/core")
    lines = Uverbs(os.path.join(core, "ib_uverbs.ko"), numbers).lines()
    lines += umad(os.path.join(core, "ib_umad.ko"), numbers)
    lines += ucma(os.path.join(core, "rdma_ucm.ko"), numbers)
    for prefix, client, (module, symbol), _ in NETLINK:
        lines += netlink(Elf(os.path.join(core, module + ".ko")), symbol, client, names(numbers, prefix))
    return HEAD + "\n" + "\n".join(lines).rstrip("\n") + "\n"

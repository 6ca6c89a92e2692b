# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""tools/testing/counts/uapi-tables.tsv: the tables from which ib_uverbs.ko decodes requests, for
tests that walk them. A line "command" and, behind it, one line "row" for each of its rows."""

import os

from elf import Elf
from uapi import NO_ATTR, NO_METHOD, NO_WRITE, UVERBS_ARG, commands

HEAD = """# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Made by tools/testing/counts/run --update from the tables in ib_uverbs.ko; "-" is for what is not there.
# command	name	object	method	write	extended	flags	request	response	ex_request	ex_response
# row	name	kind	flags	attribute	type	size	least	write_at	write_size	ex_at	ex_size	mask	conditional
"""
KINDS = "int mask blob out handle_out read write new destroy list".split()


def number(value, absent=None):
    return "-" if value == absent else str(value)


def row_line(elf, row):
    kind, flags, attr, what, _, size, least = elf.unpack("BBHHHHH", row, 8)
    places = elf.unpack("HHHH", row, 20)
    mask, = elf.unpack("Q", row, 32)
    fields = [elf.text(elf.pointer(row)), KINDS[kind], flags, number(attr, NO_ATTR), what, size, least, *places,
              f"{mask:#x}", int(elf.pointer(row, 40) is not None)]
    return "\t".join(map(str, ["row", *fields]))


def command_lines(elf, obj, cmd):
    method, write, extended, flags = elf.unpack("HBBB", cmd, 8)
    sizes = elf.unpack("HHHH", cmd, 14)
    fields = [elf.text(elf.pointer(cmd)), obj, number(method, NO_METHOD), number(write, NO_WRITE),
              number(extended, NO_WRITE), flags, *sizes]
    yield "\t".join(map(str, ["command", *fields]))
    args = elf.pointer(cmd, 32)
    count, = elf.unpack("H", cmd, 26)
    for at in range(0, count * UVERBS_ARG, UVERBS_ARG) if args else ():
        yield row_line(elf, (args[0], args[1] + at))


def tables(tree):
    """The whole text."""
    elf = Elf(os.path.join(tree, "drivers/infiniband/core/ib_uverbs.ko"))
    lines = []
    for obj, cmd in commands(elf):
        lines += command_lines(elf, obj, cmd)
    return HEAD + "\n".join(lines) + "\n"

# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Reads BTF, the type information in kernel modules, as far as prototypes need it."""

import struct

(INT, PTR, ARRAY, STRUCT, UNION, ENUM, FWD, TYPEDEF, VOLATILE, CONST, RESTRICT, FUNC, FUNC_PROTO,
 VAR, DATASEC, FLOAT, DECL_TAG, TYPE_TAG, ENUM64) = range(1, 20)

# bytes after the common part of a type: fixed, and per member
TAIL = {INT: (4, 0), ARRAY: (12, 0), STRUCT: (0, 12), UNION: (0, 12), ENUM: (0, 8), FUNC_PROTO: (0, 8),
        VAR: (4, 0), DATASEC: (0, 12), DECL_TAG: (4, 0), ENUM64: (0, 12)}
TAGS = {STRUCT: "struct ", UNION: "union ", ENUM: "enum ", ENUM64: "enum "}


def elf_section(image, name):
    """The bytes of a section of a 64-bit little-endian ELF file, or None."""
    offset, = struct.unpack_from("<Q", image, 0x28)
    size, count, names = struct.unpack_from("<HHH", image, 0x3a)

    def header(index):
        return struct.unpack_from("<IIQQQQ", image, offset + index * size)

    strings = header(names)[4]
    for index in range(count):
        found = header(index)
        start = strings + found[0]
        if image[start:image.index(b"\0", start)].decode() == name:
            return image[found[4]:found[4] + found[5]]
    return None


class Btf:
    """The types of a section. Those of a module continue another's: their numbers and their
    strings begin where the base's end."""

    def __init__(self, data, base=None):
        magic, _, _, length, type_at, type_len, text_at, text_len = struct.unpack_from("<HBBIIIII", data)
        if magic != 0xeb9f:
            raise ValueError("no BTF")
        self.base = base
        self.first = base.first + len(base.types) if base else 1
        self.text_first = base.text_first + len(base.text) if base else 0
        self.text = data[length + text_at:length + text_at + text_len]
        self.types = []
        self.data = data
        at, end = length + type_at, length + type_at + type_len
        while at < end:
            name, info, value = struct.unpack_from("<III", data, at)
            kind, members = info >> 24 & 31, info & 0xffff
            self.types.append((kind, name, value, members, at + 12, info >> 31))
            fixed, each = TAIL.get(kind, (0, 0))
            at += 12 + fixed + each * members

    def of(self, number):
        """The Btf that has a type."""
        return self if number >= self.first or not self.base else self.base.of(number)

    def string(self, at):
        if at < self.text_first:
            return self.base.string(at)
        at -= self.text_first
        return self.text[at:self.text.index(b"\0", at)].decode()

    def name(self, number):
        """A type as C spells it, near enough to compare."""
        if not number:
            return "void"
        home = self.of(number)
        kind, name, value, members, at, flag = home.types[number - home.first]
        word = home.string(name)
        if kind == PTR:
            return self.name(value) + " *"
        if kind in (CONST, VOLATILE, RESTRICT):
            return {CONST: "const ", VOLATILE: "volatile ", RESTRICT: "restrict "}[kind] + self.name(value)
        if kind == TYPE_TAG:
            return self.name(value)
        if kind == ARRAY:
            inner, _, count = struct.unpack_from("<III", home.data, at)
            return f"{self.name(inner)}[{count}]"
        if kind == FUNC_PROTO:
            return self.prototype(number)
        if kind == FWD:
            return ("union " if flag else "struct ") + word
        return TAGS.get(kind, "") + (word or f"(anonymous, {members} members)")

    def prototype(self, number):
        home = self.of(number)
        _, _, value, members, at, _ = home.types[number - home.first]
        types = [struct.unpack_from("<II", home.data, at + 8 * index) for index in range(members)]
        words = ["..." if not kind and not name else self.name(kind) for name, kind in types]
        return f"{self.name(value)} ({', '.join(words) or 'void'})"

    def functions(self):
        """{name: {prototype}} of the functions of this section."""
        found = {}
        for kind, name, value, *_ in self.types:
            if kind == FUNC:
                found.setdefault(self.string(name), set()).add(self.prototype(value))
        return found

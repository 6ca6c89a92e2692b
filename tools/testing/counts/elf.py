# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Reads tables in kernel modules: the relocations say where a pointer in a table leads."""

import lzma
import struct

R_X86_64_64 = 1
SYMTAB, RELA = 2, 4
ABSENT = 0      # section number of undefined symbols


class Elf:
    """A module. A place is (section, offset)."""

    def __init__(self, path):
        opener = lzma.open if path.endswith(".xz") else open
        with opener(path, "rb") as file:
            self.data = file.read()
        if self.data[:6] != b"\x7fELF\x02\x01":
            raise ValueError(f"{path} is no 64-bit little-endian ELF file")
        start, = struct.unpack_from("<Q", self.data, 0x28)
        size, count, _ = struct.unpack_from("<HHH", self.data, 0x3a)
        self.sections = [struct.unpack_from("<IIQQQQIIQQ", self.data, start + i * size) for i in range(count)]
        self.symbols, self.sizes, self.pointers = {}, {}, {}
        table = []
        for section in self.sections:
            if section[1] == SYMTAB:
                table = self._symbols(section)
        for section in self.sections:
            if section[1] == RELA:
                self._relocations(section, table)

    def _string(self, section, offset):
        start = self.sections[section][4] + offset
        return self.data[start:self.data.index(b"\0", start)].decode()

    def _symbols(self, section):
        places = []
        for at in range(section[4], section[4] + section[5], section[9]):
            name, _, _, index, value, size = struct.unpack_from("<IBBHQQ", self.data, at)
            places.append((index, value))
            if name and index != ABSENT:
                name = self._string(section[6], name)
                self.symbols[name] = (index, value)
                self.sizes[name] = size
        return places

    def _relocations(self, section, table):
        for at in range(section[4], section[4] + section[5], section[9]):
            offset, info, addend = struct.unpack_from("<QQq", self.data, at)
            if info & 0xffffffff == R_X86_64_64:
                index, value = table[info >> 32]
                self.pointers[(section[7], offset)] = (index, value + addend)

    def pointer(self, place, offset=0):
        """Where the pointer at a place points to, or None for NULL."""
        return self.pointers.get((place[0], place[1] + offset))

    def unpack(self, form, place, offset=0):
        return struct.unpack_from("<" + form, self.data, self.sections[place[0]][4] + place[1] + offset)

    def text(self, place):
        return self._string(place[0], place[1])

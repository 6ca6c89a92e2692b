# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Find the source lines of places in our modules that a report on the console, or kmemleak after
the modules had gone, names by address."""

import collections
import os
import re
import subprocess

from reports import kernel_report

LINES = 150             # of a console that are kept, from its first report on

_PLACE = re.compile(r"\b([\w.]+\+0x[0-9a-f]+/0x[0-9a-f]+) \[(\w+)\]")
_ADDRESS = re.compile(r"\[<0*([0-9a-f]+)>\]")


class Decoder:
    """modules: the folder in which modules with debug information lie."""

    def __init__(self, modules, faddr2line):
        self.faddr2line = faddr2line
        self.modules = {}
        for folder, _, names in os.walk(modules):
            for name in names:
                if name.endswith(".ko"):
                    self.modules[name[:-3].replace("-", "_")] = os.path.join(folder, name)

    def source(self, command):
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True, check=False, timeout=20)
        except (OSError, subprocess.TimeoutExpired):
            return []
        found = []
        for line in done.stdout.splitlines():
            place = re.search(r"((?:drivers|include|kverbs)/\S+:\d+)", line)
            if place:
                found.append(place[1])
        return found

    def place(self, text):
        """The source lines, innermost first, of a "function+offset/size [module]"."""
        found = _PLACE.search(text)
        if not found or found[2] not in self.modules:
            return []
        return self.source([self.faddr2line, self.modules[found[2]], found[1]])

    def address(self, text, loaded):
        """The same of a bare address; loaded: [(first address, size, module)]."""
        found = _ADDRESS.search(text)
        address = int(found[1], 16) if found else 0
        for first, size, name in loaded:
            if first <= address < first + size and name in self.modules:
                return self.source(["addr2line", "-i", "-j", ".text", "-e", self.modules[name],
                                    hex(address - first)])
        return []


def console_report(console, decoder):
    """The lines of a console from its first report on, with their source lines, and the two
    lines before it, which may say why."""
    lines, before = [], collections.deque(maxlen=2)
    for line in console:
        line = line.rstrip("\r\n")
        if not lines and kernel_report(line):
            lines += before
        before.append(line)
        if lines or kernel_report(line):
            lines.append(line)
            lines += [f"{'':20}{place}" for place in decoder.place(line)]
        if len(lines) >= LINES:
            break
    return lines


def loaded_modules(text):
    """/proc/modules as [(first address, size, module)]."""
    modules = []
    for line in text.splitlines():
        fields = line.split()
        if len(fields) >= 6:
            modules.append((int(fields[5], 16), int(fields[1]), fields[0]))
    return modules


def leaks(text, modules, decoder):
    """What kmemleak printed, with source lines."""
    loaded = loaded_modules(modules)
    lines = []
    for line in text.splitlines():
        lines.append(line)
        places = decoder.place(line) or decoder.address(line, loaded)
        lines += [f"{'':20}{place}" for place in places]
    return lines

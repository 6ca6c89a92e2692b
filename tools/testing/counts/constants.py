# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Functions that do nothing but return one constant errno: in what was built, where a macro
or the compiler may have made one, and in the sources, where it may have been inlined away."""

import os
import re
import subprocess

FUNCTION = re.compile(r"^[0-9a-f]+ <([^>]+)>:$")
CODE = re.compile(r"^\s*[0-9a-f]+:\s+(\S+)\s*(.*)$")
RELOCATION = re.compile(r"^\s*[0-9a-f]+: R_X86_64_\w+\s+(\S+)")
ERRNO = re.compile(r"\$0xf{4,12}([0-9a-f]{3,4}),%[er]ax$")

# Sources that hold code; what tests return does not matter.
ROOMS = ("drivers", "include", "tools/vhcad", "tools/provider", "tools/rdma-why")
BODY = re.compile(r"^(?!\s|#|/|\*|static_assert)[^;{}=]*?(\w+)\([^;{}]*\)\s*\n?\{\n?\s*"
                  r"return\s+(?:\(\w[\w\s]*\*?\))?(?:ERR_PTR\()?\(?-?(E[A-Z0-9]{2,})\)*;\s*\n?\}", re.M)


def is_constant(body):
    """Is this the code of a function that only loads an errno and returns?"""
    loaded = False
    for what, rest in body:
        if what in ("endbr64", "nop", "nopw", "nopl", "xchg", "int3", "data16", "cs") or rest == "__fentry__":
            continue
        found = ERRNO.search(rest) if what in ("mov", "movq", "movl") else None
        if found and not loaded:
            loaded = -4095 <= int(found[1], 16) - (1 << 4 * len(found[1])) < 0
            continue
        if loaded and (what in ("ret", "retq") or rest == "__x86_return_thunk"):
            return True
        return False
    return False


def built(path):
    """Such functions in a module, by disassembly."""
    text = subprocess.run(["objdump", "-dr", "--no-show-raw-insn", path], stdout=subprocess.PIPE,
                          text=True, check=True).stdout
    found, name, body = set(), None, []
    for line in text.splitlines() + ["0 <end>:"]:
        start, target, code = FUNCTION.match(line), RELOCATION.match(line), CODE.match(line)
        if start:
            if name and is_constant(body):
                found.add(name)
            name, body = start[1], []
        elif target and body:
            body[-1] = (body[-1][0], re.sub(r"[-+]0x[0-9a-f]+$", "", target[1]))
        elif code:
            body.append((code[1], code[2]))
    return found


def written(top):
    """{function: file} of such functions in the sources."""
    found = {}
    for room in ROOMS:
        for folder, folders, names in os.walk(os.path.join(top, room)):
            folders[:] = [one for one in folders if one not in ("build", "tests")]
            for name in names:
                if not re.search(r"\.[ch]$", name) or re.search(r"_test\.c$|\.mod\.c$", name):
                    continue
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as file:
                    for function, _ in BODY.findall(re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)):
                        found[function] = os.path.relpath(path, top)
    return found

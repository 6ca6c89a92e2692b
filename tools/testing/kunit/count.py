#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""count.py FILE: the test cases of a KTAP document, as "N passed, N failed, N skipped".
A suite counts by its cases; one without any counts as a failure."""

import re
import sys

RESULT = re.compile(r"^(\s*)(ok|not ok) \d+ ?-? ?(.*)$")


def main():
    counts = {"ok": 0, "not ok": 0, "skip": 0}
    levels = []         # indentations of results that no outer result has summed up yet
    with open(sys.argv[1], encoding="utf-8", errors="replace") as file:
        for line in file:
            found = RESULT.match(line)
            if not found:
                continue
            indent = len(found[1])
            inner = [level for level in levels if level > indent]
            levels = [level for level in levels if level <= indent] + [indent]
            if inner:
                continue                        # it sums up results that were counted already
            if indent == 0:
                counts["not ok"] += 1           # it has no case
                continue
            skipped = re.search(r"#\s*SKIP", found[3], re.I)
            counts["skip" if skipped else found[2]] += 1
    print(f"{counts['ok']} passed, {counts['not ok']} failed, {counts['skip']} skipped")
    return 1 if counts["not ok"] or not counts["ok"] else 0


sys.exit(main())

# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Compares what was measured with what is promised.

Each figure is a line of four words, with tabs between: what, promised, measured, and
"yes" or "no".  They are added to the file that the environment's BENCH_TABLE names, for
the table at the end of `make bench`; tools/vhcad/tests/tbench.c does the same."""

import os


def line(what, promised, measured, kept):
    return f"{what:58} {promised:>12} {measured:>12}   {'kept' if kept else 'NOT KEPT'}"


def print_header():
    print(f"{'':58} {'promised':>12} {'measured':>12}")


class Promises:
    """Prints promises and counts those that are not kept."""

    def __init__(self):
        self.broken = 0
        self.table = os.environ.get("BENCH_TABLE")

    def add(self, what, promised, measured, kept):
        self.broken += not kept
        print(line(what, promised, measured, kept))
        if self.table:
            with open(self.table, "a", encoding="utf-8") as file:
                file.write(f"{what}\t{promised}\t{measured}\t{'yes' if kept else 'no'}\n")

    def at_least(self, what, figure, bound, unit=""):
        self.add(what, f">= {bound:g}{unit}", f"{figure:.4g}{unit}", figure >= bound)

    def at_most(self, what, figure, bound, unit=""):
        self.add(what, f"<= {bound:g}{unit}", f"{figure:.4g}{unit}", figure <= bound)


def read(path):
    """The rows of such a file: what, promised, measured, kept."""
    with open(path, encoding="utf-8") as file:
        for text in file:
            what, promised, measured, kept = text.rstrip("\n").split("\t")
            yield what, promised, measured, kept == "yes"

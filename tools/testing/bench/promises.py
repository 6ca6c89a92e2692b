# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Compares what was measured with what is promised.

Each promise is a line of four words, with tabs between: what, promised, measured, and
"yes" or "no".  They are added to the file that the environment's BENCH_TABLE names, for
the table at the end of `make bench` and its page; tools/vhcad/tests/tbench.c does the same.  A line
that begins with a tab has the figures behind the promise above it: the unit, and then what was compared,
in turn with its figure, ours last."""

import dataclasses
import os


def line(what, promised, measured, kept):
    return f"{what:58} {promised:>12} {measured:>12}   {'kept' if kept else 'NOT KEPT'}"


def print_header():
    print(f"{'':58} {'promised':>12} {'measured':>12}")


@dataclasses.dataclass
class Row:
    what: str
    promised: str
    measured: str
    kept: bool
    unit: str = ""
    figures: list = dataclasses.field(default_factory=list)     # (name, figure)


class Promises:
    """Prints promises and counts those that are not kept."""

    def __init__(self):
        self.broken = 0
        self.table = os.environ.get("BENCH_TABLE")

    def add(self, what, promised, measured, kept):
        self.broken += not kept
        print(line(what, promised, measured, kept))
        self._keep(what, promised, measured, "yes" if kept else "no")

    def figures(self, unit, *figures):
        """Of the promise that was added last: (name, figure) of what was compared, ours last."""
        self._keep("", unit, *(word for name, figure in figures for word in (name, f"{figure:.6g}")))

    def _keep(self, *words):
        if self.table:
            with open(self.table, "a", encoding="utf-8") as file:
                file.write("\t".join(words) + "\n")

    def at_least(self, what, figure, bound, unit=""):
        self.add(what, f">= {bound:g}{unit}", f"{figure:.4g}{unit}", figure >= bound)

    def at_most(self, what, figure, bound, unit=""):
        self.add(what, f"<= {bound:g}{unit}", f"{figure:.4g}{unit}", figure <= bound)


def read(path):
    """The rows of such a file."""
    rows = []
    with open(path, encoding="utf-8") as file:
        for text in file:
            first, *words = text.rstrip("\n").split("\t")
            if first:
                promised, measured, kept = words
                rows.append(Row(first, promised, measured, kept == "yes"))
            else:
                rows[-1].unit = words[0]
                rows[-1].figures = [(name, float(figure)) for name, figure in zip(words[1::2], words[2::2])]
    return rows

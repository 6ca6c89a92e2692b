# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Figures out of perftest's own output."""


def rows(path):
    """Lines of numbers that follow perftest's header, as lists of strings."""
    seen = False
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.lstrip().startswith("#bytes"):
                seen = True
            elif seen and line.split() and line.split()[0].isdigit():
                yield line.split()


def one_row(path):
    found = list(rows(path))
    if len(found) != 1:
        raise SystemExit(f"{path}: expected one line of figures, found {len(found)}")
    return found[0]


def bandwidth(path):
    """Average Gb/s of a run with --report_gbits: bytes, iterations, peak, average, Mpps."""
    return float(one_row(path)[3])


def rate(path):
    """Average of a million messages a second, from the same line."""
    return float(one_row(path)[4])


def latency(path):
    """Median us: bytes, iterations, minimum, maximum, typical, average, ..."""
    return float(one_row(path)[4])


def slowest_hundredth(path):
    """Us that 99 % of the messages take at most: ..., average, deviation, 99 %, 99.9 %."""
    return float(one_row(path)[7])

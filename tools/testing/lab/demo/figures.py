# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The figures of make demo, from perftest's output in its folder. Those that are promised come from
make bench."""

import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../bench"))
import perftest                                         # noqa: E402

ROWS = [("ib_write_bw", "64 KiB"), ("ib_read_bw", "64 KiB"), ("ib_send_bw", "64 KiB"),
        ("ib_write_lat", "64 B"), ("ib_send_lat", "64 B")]


class Figure:
    """Of one program: rdma_rxe's and ours, unit, and how many times as good ours is."""

    def __init__(self, folder, program):
        wide = program.endswith("_bw")
        read, self.unit = (perftest.bandwidth, "Gb/s") if wide else (perftest.latency, "us")
        self.rxe, self.ours = (read(f"{folder}/{what}.{program}.node2") for what in ("rxe", "ours"))
        if not all(math.isfinite(one) and one > 0 for one in (self.rxe, self.ours)):
            raise ValueError(f"{program} has measured nothing")
        self.better = self.ours / self.rxe if wide else self.rxe / self.ours


def figures(folder):
    """(program, size, Figure or None, why there is none)"""
    for program, size in ROWS:
        try:
            yield program, size, Figure(folder, program), None
        except (OSError, SystemExit, IndexError, ValueError) as error:
            yield program, size, None, error

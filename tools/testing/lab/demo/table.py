#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""table.py DIR: the closing table of make demo, from perftest's output in DIR. Exit
status 1 when a figure is missing. The figures that are promised come from make bench."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../bench"))
import perftest                                         # noqa: E402

ROWS = [("ib_write_bw", "64 KiB"), ("ib_read_bw", "64 KiB"), ("ib_send_bw", "64 KiB"),
        ("ib_write_lat", "64 B"), ("ib_send_lat", "64 B")]


def main():
    folder = sys.argv[1]
    missing = 0
    print(f"{'':22}{'rdma_rxe':>14}{'vhca':>14}{'better by':>12}")
    for program, size in ROWS:
        wide = program.endswith("_bw")
        read, unit = (perftest.bandwidth, "Gb/s") if wide else (perftest.latency, "us")
        try:
            rxe, ours = (read(f"{folder}/{what}.{program}.node2") for what in ("rxe", "ours"))
            ratio = ours / rxe if wide else rxe / ours
        except (OSError, SystemExit, ZeroDivisionError, IndexError, ValueError) as error:
            print(f"{program:14}{size:>8}  no figure: {error}")
            missing += 1
            continue
        print(f"{program:14}{size:>8}{rxe:>9.2f} {unit:4}{ours:>9.2f} {unit:4}{ratio:>11.1f}x")
    return 1 if missing else 0


sys.exit(main())

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""table.py DIR: the closing table of make demo. Exit status 1 when a figure is missing."""

import sys

from figures import figures


def main():
    missing = 0
    print(f"{'':22}{'rdma_rxe':>14}{'vhca':>14}{'better by':>12}")
    for program, size, found, error in figures(sys.argv[1]):
        if not found:
            print(f"{program:14}{size:>8}  no figure: {error}")
            missing += 1
            continue
        print(f"{program:14}{size:>8}{found.rxe:>9.2f} {found.unit:4}{found.ours:>9.2f} {found.unit:4}"
              f"{found.better:>11.1f}x")
    return 1 if missing else 0


sys.exit(main())

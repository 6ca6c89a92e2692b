#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""storage-table.py DIR: the closing table of make demo-storage, from fio's JSON in DIR. Exit status 1
when a figure is missing, or fio found an error."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../bench"))
import fio                                              # noqa: E402

ROWS = (("local", "the disk itself"), ("nvme", "NVMe"), ("nfs", "NFS 4.2"), ("iscsi", "iSER | iSCSI"), ("srp", "SRP"))
COMPARED = ("nvme", "nfs", "iscsi")
OTHERS = ("rxe", "tcp")
COLUMNS = (("write", "write 128 KiB", "MiB/s"), ("read", "read 128 KiB", "MiB/s"),
           ("latency", "read 4 KiB alone", "us"))
WIDTH = 42


def figure(folder, label, what):
    path = f"{folder}/{label}.{what}.json"
    return fio.latency(path) if what == "latency" else fio.bandwidth(path, what)


def row(folder, name):
    """A row's figures."""
    label = name if name == "local" else f"{name}.rdma"
    others = [f"{name}.{other}" for other in OTHERS] if name in COMPARED else []
    for one in (label, *others):
        fio.job(f"{folder}/{one}.verify.json")
    cells = []
    for what, _, _ in COLUMNS:
        ours = figure(folder, label, what)
        cell = f"{ours:7.1f}"
        for other in others:
            theirs = figure(folder, other, what)
            better = theirs / ours if what == "latency" else ours / theirs
            cell += f" |{theirs:7.1f} {better:5.1f}x"
        cells.append(f"{cell:{WIDTH}}")
    return "".join(cells)


def main():
    folder = sys.argv[1]
    missing = 0
    print("RDMA on vhca | by rdma_rxe, and how much better | over TCP on virtio-net, and how much better")
    print((f"{'':16}" + "".join(f"{f'{title}, {unit}':{WIDTH}}" for _, title, unit in COLUMNS)).rstrip())
    for name, title in ROWS:
        try:
            print(f"{title:16}{row(folder, name)}".rstrip())
        except (OSError, KeyError, ValueError) as error:
            print(f"{title:16}no figure: {error}")
            missing += 1
    return 1 if missing else 0


sys.exit(main())

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""storage-table.py DIR: the closing table of make demo-storage, from fio's JSON in DIR. Exit status 1
when a figure is missing, or fio found an error."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../bench"))
import fio                                              # noqa: E402

ROWS = (("local", "the disk itself", None), ("nvme", "NVMe", "tcp"), ("nfs", "NFS 4.2", "tcp"),
        ("iscsi", "iSER | iSCSI", "tcp"), ("srp", "SRP", None))
COLUMNS = (("write", "write 128 KiB", "MiB/s"), ("read", "read 128 KiB", "MiB/s"),
           ("latency", "read 4 KiB alone", "us"))


def figure(folder, label, what):
    path = f"{folder}/{label}.{what}.json"
    return fio.latency(path) if what == "latency" else fio.bandwidth(path, what)


def row(folder, label, tcp):
    """A row's figures, or why there is none."""
    fio.job(f"{folder}/{label}.verify.json")
    if tcp:
        fio.job(f"{folder}/{label.partition('.')[0]}.tcp.verify.json")
    cells = []
    for what, _, _ in COLUMNS:
        ours = figure(folder, label, what)
        cell = f"{ours:9.1f}"
        if tcp:
            theirs = figure(folder, f"{label.partition('.')[0]}.tcp", what)
            better = theirs / ours if what == "latency" else ours / theirs
            cell += f" |{theirs:9.1f} {better:5.1f}x"
        cells.append(f"{cell:28}")
    return "".join(cells)


def main():
    folder = sys.argv[1]
    missing = 0
    print("RDMA on vhca | TCP on virtio-net, and how much better")
    print(f"{'':18}" + "".join(f"{f'{title}, {unit}':28}" for _, title, unit in COLUMNS))
    for name, title, tcp in ROWS:
        try:
            print(f"{title:18}{row(folder, name if name == 'local' else name + '.rdma', tcp)}".rstrip())
        except (OSError, KeyError, ValueError) as error:
            print(f"{title:18}no figure: {error}")
            missing += 1
    return 1 if missing else 0


sys.exit(main())

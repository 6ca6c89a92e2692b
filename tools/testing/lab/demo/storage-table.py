#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""storage-table.py DIR: the closing table of make demo-storage, from fio's JSON in DIR. Exit status 1
when a figure is missing, or fio found an error."""

import json
import sys

ROWS = (("local", "the disk itself", None), ("nvme", "NVMe", "tcp"), ("nfs", "NFS 4.2", "tcp"),
        ("iscsi", "iSER | iSCSI", "tcp"), ("srp", "SRP", None))
COLUMNS = (("write", "write 128 KiB", "MiB/s"), ("read", "read 128 KiB", "MiB/s"),
           ("latency", "read 4 KiB alone", "us"))


def job(folder, name):
    """The only job of a run of fio, which has ended without an error."""
    with open(f"{folder}/{name}.json", encoding="utf-8") as file:
        found, = json.load(file)["jobs"]
    if found["error"]:
        raise ValueError(f"{name}: error {found['error']}")
    return found


def figure(folder, label, what):
    found = job(folder, f"{label}.{what}")
    side = found["write" if what == "write" else "read"]
    value = side["clat_ns"]["mean"] / 1000 if what == "latency" else side["bw_bytes"] / (1 << 20)
    if not value:
        raise ValueError(f"{label}.{what}: nothing was done")
    return value


def row(folder, label, tcp):
    """A row's figures, or why there is none."""
    job(folder, f"{label}.verify")
    if tcp:
        job(folder, f"{label.partition('.')[0]}.tcp.verify")
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

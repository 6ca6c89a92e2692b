# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Figures from what fio prints with --output-format=json, of one job."""

import json


def job(path):
    """The only job, which has ended without an error; ValueError otherwise."""
    with open(path, encoding="utf-8") as file:
        found, = json.load(file)["jobs"]
    if found["error"]:
        raise ValueError(f"{path}: error {found['error']}")
    return found


def _positive(path, value):
    if not value:
        raise ValueError(f"{path}: nothing was done")
    return value


def bandwidth(path, side):
    """MiB/s of "read" or "write"."""
    return _positive(path, job(path)[side]["bw_bytes"] / (1 << 20))


def latency(path):
    """Microseconds from the submission of a read to its completion, on average."""
    return _positive(path, job(path)["read"]["clat_ns"]["mean"] / 1000)

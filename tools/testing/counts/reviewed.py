# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Lists of this folder: names, each with its reason."""

import os

HERE = os.path.dirname(os.path.realpath(__file__))


def listed(name):
    """{name: reason} of a reviewed list."""
    found = {}
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        for line in file:
            what, _, reason = line.rstrip("\n").partition("\t")
            if line.strip() and not line.startswith("#"):
                found[what] = reason.strip()
    return found

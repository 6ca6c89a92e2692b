# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Symbols that the built modules export, and what uses them."""

import os
import subprocess


def exports(tree):
    """{symbol: module} of what a build in tree exports, from kbuild's list. Symbols that only unit
    tests may use are no interface."""
    found = {}
    with open(os.path.join(tree, "Module.symvers"), encoding="ascii") as file:
        for line in file:
            fields = line.rstrip("\n").split("\t")
            if "KUNIT" not in "".join(fields[4:]):
                found[fields[1]] = os.path.basename(fields[2])
    return found


def modules(tree):
    return sorted(os.path.join(folder, name) for folder, _, names in os.walk(tree)
                  for name in names if name.endswith(".ko"))


def undefined(module):
    done = subprocess.run(["nm", "-u", "-P", module], stdout=subprocess.PIPE, text=True, check=True)
    return {line.split()[0] for line in done.stdout.splitlines()}


def wanted(path):
    """{symbol: (module of 6.12, whether a ULP or a software HCA takes it)}"""
    found = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#"):
                symbol, module, ulps, software, _, _ = line.rstrip("\n").split("\t")
                found[symbol] = (module, int(ulps) + int(software) > 0)
    return found


def table(tree, listing):
    """{module: counts} with the keys needed, needed-missing, others, others-missing."""
    have, rows = exports(tree), {}
    for symbol, (module, needed) in wanted(listing).items():
        row = rows.setdefault(module, dict.fromkeys(
            ("needed-present", "needed-missing", "other-present", "other-missing"), 0))
        row[("needed" if needed else "other") + ("-present" if symbol in have else "-missing")] += 1
    return rows


def uncalled(tree, test_trees):
    """Symbols that no test calls. A test is a KUnit module or a kernel consumer of
    tools/testing; what it calls are its undefined symbols."""
    tests = set()
    for folder in test_trees:
        for module in modules(folder):
            if module.endswith("_test.ko") or "/kverbs/" in module:
                tests |= undefined(module)
    return sorted(set(exports(tree)) - tests)

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""page.py DIR FILE: the page of make demo, from what it has left in DIR. Exit status 1 when something
that belongs on it is missing."""

import json
import os
import re
import sys

from figures import figures
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../pages"))
from page import Page                                   # noqa: E402

# title, folder of the run, what its guests have printed
RUNS = [("Two guests: rdma_rxe, then our stack, by the same programs", ".", "said"),
        ("Two guests, captured", "capture", "../capture.log"),
        ("Three guests and two switches, brought up by the distribution's opensm", "subnet", "said"),
        ("Two guests whose programs connect by IP address", "connect", "said")]


def text_of(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def steps(said):
    """{step: [guests that took it, guests in which it failed]}"""
    found = {}
    for node, failed, title in re.findall(r"^n(\d+)\| (?:== |(FAILED): )(.*)$", said, re.M):
        title = re.sub(r" \(exit status \d+: .*", "", title) if failed else title
        found.setdefault(title, ([], []))[bool(failed)].append(node)
    return found


def put_figures(page, folder):
    page.section("Figures")
    page.paragraph("Of the same programs in the same guests, on the distribution's rdma_rxe and on this stack: "
                   "longer bars are better where Gb/s are measured, shorter ones where microseconds are.")
    for program, size, found, error in figures(folder):
        if not found:
            page.lacks(f"{program}: no figure: {error}")
            continue
        page.heading(f"{program}, {size}: better by {found.better:.1f}x")
        page.bars(found.unit, (("rdma_rxe", found.rxe), ("vhca", found.ours)))


def put_run(page, title, folder, said):
    page.heading(title)
    try:
        run = json.loads(text_of(os.path.join(folder, "run.json")))
        taken = steps(text_of(os.path.join(folder, said)))
    except (OSError, ValueError) as error:
        page.lacks(f"It has not run: {error}")
        return
    verdict = "all worked" if run["status"] == 0 else f"exit status {run['status']}"
    page.paragraph(f"{len(run['nodes'])} guests on QEMU ({run['accel'].upper()}), {run['seconds']:.0f} s: {verdict}.")
    if taken:
        page.table(("step", "guests", "result"),
                   ((step, ", ".join(sorted(set(nodes + failed))), "FAILED" if failed else "ok")
                    for step, (nodes, failed) in taken.items()))


def main():
    folder, path = sys.argv[1:]
    page = Page("make demo")
    put_figures(page, folder)
    page.section("The fabric")
    page.paragraph("Three guests with an adapter each, once opensm has made their ports ACTIVE (vhcactl draw svg).")
    page.picture_file("The fabric", os.path.join(folder, "subnet/fabric.svg"))
    page.section("The first packets")
    page.paragraph("Of ibv_rc_pingpong, as the daemon has captured them (vhca-ladder --svg).")
    page.picture_file("The first packets", os.path.join(folder, "packets.svg"))
    page.section("A refusal and its reason")
    try:
        page.listing(text_of(os.path.join(folder, "connect/why")).strip())
    except OSError as error:
        page.lacks(f"There is none: {error.strerror}")
    page.section("What was run")
    for title, where, said in RUNS:
        put_run(page, title, os.path.join(folder, where), said)
    page.write(path)
    return 1 if page.missing else 0


sys.exit(main())

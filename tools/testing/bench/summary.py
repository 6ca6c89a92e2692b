# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The page of make bench."""

import dataclasses
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../pages"))
from page import Page                                   # noqa: E402


@dataclasses.dataclass
class Part:
    name: str
    command: list
    status: int
    seconds: float
    rows: list


def _verdict(part):
    """Its status is 1 when a promise is broken, too."""
    broken = sum(not row.kept for row in part.rows)
    if part.status and not broken:
        return f"FAILED, exit status {part.status}"
    return f"{len(part.rows) - broken} kept, {broken} not kept"


def _show(page, fabric, packets):
    page.section("The fabric")
    page.paragraph("Two guests with an adapter each, when RC and UD had been compared (vhcactl draw svg).")
    page.picture_file("The fabric", fabric)
    page.section("The first packets")
    page.paragraph("Of ib_write_lat and ib_send_lat in a run of their own, since capturing slows what is measured "
                   "(vhca-ladder --svg).")
    page.picture_file("The first packets", packets)


def write(parts, pictures, path):
    """Writes the page; returns what is missing on it. pictures has files with the SVG of the fabric and
    of packets, or nothing, if guests were none of the parts."""
    page = Page("make bench")
    rows = [row for part in parts for row in part.rows]
    page.paragraph(f"{sum(row.kept for row in rows)} of {len(rows)} promises were kept. The mark at a bar "
                   "is what is promised; the bars below are what was compared.")
    for part in parts:
        page.section(part.name[0].upper() + part.name[1:])
        if not part.rows:
            page.lacks("There are no figures.")
        for row in part.rows:
            if page.promise(row.what, row.promised, row.measured, row.kept) and row.figures:
                page.bars(row.unit, row.figures)
    if pictures:
        _show(page, *pictures)
    page.section("What was run")
    page.table(("part", "command", "seconds", "promises"),
               ((part.name, " ".join(part.command), f"{part.seconds:.0f}", _verdict(part)) for part in parts))
    page.write(path)
    return page.missing

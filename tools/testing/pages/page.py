# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A page of HTML that needs nothing beside itself: figures as bars, pictures, tables, text.

It is well-formed XML too, so that a test can read it without a browser.  What could not be shown
becomes a sentence of the page; Page.missing lists them, and they are printed when it is written."""

import html
import math
import os
import re
import xml.etree.ElementTree

_STYLE = """
body { margin: 0 auto; max-width: 60rem; padding: 1rem; font: 16px/1.4 sans-serif; color: #222; }
h1, h2, h3 { line-height: 1.2; }
h2 { border-bottom: 1px solid #ccc; margin-top: 2rem; }
h3 { font-size: 1rem; margin: 1rem 0 .3rem; overflow-wrap: anywhere; }
.bar { display: grid; grid-template-columns: 9rem minmax(4rem, 1fr) 15rem; gap: .6rem; margin: .15rem 0; }
.bar > * { min-width: 0; overflow-wrap: anywhere; }
.track { position: relative; background: #eee; align-self: center; height: 1rem; }
.fill { background: #888; height: 100%; min-width: 2px; }
.ours { background: #2a7f3f; }
.bad { background: #b3261e; }
.mark { position: absolute; top: -.2rem; height: 1.4rem; border-left: 2px solid #222; margin-left: -2px; }
.wrong { color: #b3261e; font-weight: bold; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .2rem .6rem .2rem 0; border-bottom: 1px solid #ddd;
         overflow-wrap: anywhere; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #f5f5f5; padding: .6rem; margin: .5rem 0;
      font-size: 13px; }
figure { margin: 1rem 0; }
svg { max-width: 100%; height: auto; }
""".strip()


# what XML has no form for, as a program on a terminal may print it
_NO_TEXT = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def escaped(text):
    return html.escape(_NO_TEXT.sub("\ufffd", str(text)), quote=False)


def number(text):
    """The first number of a text, which has to be there and finite."""
    found = re.search(r"-?\d+(\.\d+)?(e[-+]?\d+)?", text, re.I)
    if not found or not math.isfinite(float(found[0])):
        raise ValueError(f"there is no number in '{text}'")
    return float(found[0])


def svg_of(text):
    """The element svg of a picture, without what stands before it in a file."""
    picture = text[text.find("<svg"):].strip()
    try:
        xml.etree.ElementTree.fromstring(picture)
    except xml.etree.ElementTree.ParseError as error:
        # what a program says instead of drawing is one line
        said = text.strip().splitlines()[:1]
        raise ValueError(said[0] if said and "<" not in said[0] else f"it is no SVG: {error}") from error
    return picture


class Page:
    def __init__(self, title):
        self.missing = []
        self.title = title
        self.parts = []

    def put(self, tag, text, kind=None):
        attribute = f' class="{kind}"' if kind else ""
        self.parts.append(f"<{tag}{attribute}>{escaped(text)}</{tag}>")

    def section(self, title):
        self.put("h2", title)

    def heading(self, title):
        self.put("h3", title)

    def paragraph(self, text):
        self.put("p", text)

    def listing(self, text):
        self.put("pre", text)

    def lacks(self, text):
        """Says that something is not there that should be."""
        self.missing.append(text)
        self.put("p", text, "wrong")

    def _bar(self, name, value, most, text, kind, mark=None):
        share = 100 * value / most if most else 0
        line = "" if mark is None else f'<div class="mark" style="left:{100 * mark / most if most else 0:.3f}%"></div>'
        self.parts.append(f'<div class="bar"><div>{escaped(name)}</div><div class="track">'
                          f'<div class="fill {kind}" style="width:{share:.3f}%"></div>{line}</div>'
                          f"<div>{escaped(text)}</div></div>")

    def bars(self, unit, figures):
        """Bars of one scale. figures: (name, figure) of what is compared, ours last."""
        if not all(math.isfinite(figure) and figure >= 0 for _, figure in figures):
            self.lacks("There is no figure.")
            return
        most = max(figure for _, figure in figures)
        for at, (name, figure) in enumerate(figures, 1):
            self._bar(name, figure, most, f"{figure:,.{2 if figure < 1000 else 0}f} {unit}",
                      "ours" if at == len(figures) else "base")

    def promise(self, title, promised, measured, kept):
        """A bar of what was measured, and a mark at what was promised. False when there is no figure."""
        try:
            bound, value = number(promised), number(measured)
        except ValueError:
            self.lacks(f"{title}: no figure")
            return False
        self.heading(title)
        self._bar("measured", value, max(bound, value), f"{measured}, promised {promised}",
                  "ours" if kept else "bad", bound)
        if not kept:
            self.put("p", "This promise was not kept.", "wrong")
        return True

    def table(self, head, rows):
        def row(cells, tag):
            return "<tr>" + "".join(f"<{tag}>{escaped(cell)}</{tag}>" for cell in cells) + "</tr>"

        self.parts.append("<table>" + row(head, "th") + "".join(row(cells, "td") for cells in rows) + "</table>")

    def picture(self, title, text):
        """An SVG, or why there is none."""
        try:
            self.parts.append(f"<figure>{svg_of(text)}</figure>")
        except ValueError as error:
            self.lacks(f"{title}: no picture: {error}")

    def picture_file(self, title, path):
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        except OSError as error:
            self.lacks(f"{title}: no picture: {error.strerror}")
            return
        self.picture(title, text)

    def __str__(self):
        title = escaped(self.title)
        return "\n".join([
            "<!DOCTYPE html>", '<html lang="en" xmlns="http://www.w3.org/1999/xhtml">',
            f'<head><meta charset="utf-8"/><meta name="viewport" content="width=device-width"/><title>{title}</title>',
            f"<style>{_STYLE}</style></head>", f"<body><h1>{title}</h1>", *self.parts, "</body></html>", ""])

    def write(self, path):
        """Writes it as a whole: whoever has it open sees the old page or the new one."""
        with open(f"{path}.new", "w", encoding="utf-8") as file:
            file.write(str(self))
        os.replace(f"{path}.new", path)
        for text in self.missing:
            print(f"{path}: {text}")

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Print, in deb822 form, the host's own Debian package sources with their suites
changed: apt-sources.py [--released] SUITE [EXTRA-SUITE...]. Source indexes are included.
--released leaves out the updates and security fixes that came after the release.

The lab never names a mirror: whoever configured this host has chosen one, and whether apt
takes lists of it that have expired."""

import glob
import re
import subprocess
import sys

# These have neither updates nor security fixes beside them.
ROLLING = ("sid", "unstable", "experimental")
# What apt's configuration says of all sources, and a source of itself.
CHECKS = ("Check-Valid-Until", "Check-Date")
CODENAMES = r"(?:bookworm|trixie|stable|testing|sid|oldstable)"


def stanzas_of_deb822(text):
    for block in re.split(r"\n\s*\n", text):
        fields, last = {}, None
        for line in block.splitlines():
            if line.startswith("#") or not line.strip():
                continue
            if line[0] in " \t" and last:
                fields[last] += "\n" + line
                continue
            name, _, value = line.partition(":")
            last = name.strip().title()
            fields[last] = value.strip()
        if fields.get("Enabled", "yes").lower() in ("no", "false", "0"):
            continue
        if "deb" in fields.get("Types", "").split():
            yield fields


def stanzas_of_list(text):
    names = {"signed-by": "Signed-By", "trusted": "Trusted",
             "check-valid-until": "Check-Valid-Until", "check-date": "Check-Date"}
    for line in text.splitlines():
        found = re.match(r"\s*deb\s+(?:\[([^]]*)\]\s+)?(\S+)\s+(\S+)", line)
        if not found:
            continue
        fields = {"Uris": found[2], "Suites": found[3]}
        for option in (found[1] or "").split():
            key, _, value = option.partition("=")
            if key.lower() in names:
                fields[names[key.lower()]] = value
        yield fields


def host_stanzas():
    for path in sorted(glob.glob("/etc/apt/sources.list.d/*.sources")):
        with open(path, encoding="utf-8") as file:
            yield from stanzas_of_deb822(file.read())
    for path in ["/etc/apt/sources.list"] + sorted(glob.glob("/etc/apt/sources.list.d/*.list")):
        try:
            with open(path, encoding="utf-8") as file:
                yield from stanzas_of_list(file.read())
        except FileNotFoundError:
            pass


def classify(suites):
    for suite in suites.split():
        if re.fullmatch(CODENAMES + r"(-security|/updates)", suite):
            return "security"
    for suite in suites.split():
        if re.fullmatch(CODENAMES, suite):
            return "main"
    return None


def unchecked():
    """Those of CHECKS that the host's apt does not make."""
    said = subprocess.run(["apt-config", "dump", *(f"Acquire::{name}" for name in CHECKS)], stdout=subprocess.PIPE,
                          text=True, check=True).stdout
    return {name: "no" for name in CHECKS if re.search(rf'^Acquire::{name} "(no|false|off|0|without|disable)";', said, re.M)}


def emit(fields, suites):
    print("Types: deb deb-src")
    print("URIs:", fields["Uris"])
    print("Suites:", " ".join(suites))
    print("Components: main")
    fields = {**unchecked(), **fields}
    for name in ("Signed-By", "Trusted", *CHECKS):
        if name in fields:
            print(f"{name}: {fields[name]}")
    print()


def main():
    released = sys.argv[1] == "--released"
    suite, *extra = sys.argv[1 + released:]
    chosen = {}
    for fields in host_stanzas():
        kind = classify(fields.get("Suites", ""))
        if kind and not fields["Uris"].startswith(("cdrom:", "file:")):
            chosen.setdefault(kind, fields)
    if "main" not in chosen:
        sys.exit("lab: no Debian package source is configured in /etc/apt: add one for this host's release")
    alone = released or suite in ROLLING
    emit(chosen["main"], [suite] + ([] if alone else [suite + "-updates"]) + extra)
    if "security" in chosen and not alone:
        emit(chosen["security"], [suite + "-security"])


main()

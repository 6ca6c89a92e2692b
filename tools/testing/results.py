# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Reads what tests have reported, and the list of what they should: tools/testing/tests."""

import re

LIST = "tools/testing/tests"
README = "README.md"
LONG = "long/"      # of make check-long

_HEAD = """# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Every test, how many points of it pass and, where there are such, how many are skipped. A run of
# all tests fails when one is absent, new, or has reported another number; run-checks --update
# writes down what the last one found.
"""
_SUMMARY = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$")
_POINT = re.compile(r"^\s*(ok|not ok)(?: \d+)?\b(.*)")
_NODE = re.compile(r"^n(\d+)\| (.*)")
_PLAN = re.compile(r"^1\.\.(\d+)\b")
_TAP = re.compile(r"^(ok|not ok) (\d+)\b(.*)")
_SCRIPT_BEGINS = re.compile(r"^# script: (\S+)$")
_SCRIPT_ENDS = re.compile(r"^# script (\S+): status (\d+)$")
_SKIP = re.compile(r"#\s*skip", re.I)
_CLOSING = re.compile(r"^    (\d+) passed, 0 failed, (\d+) skipped$", re.M)


def count_points(lines):
    """(passed, failed, skipped) of a summary line of the runner's own form, or else TAP, or
    cmocka's lines."""
    for line in reversed(lines):
        found = _SUMMARY.match(line)
        if found:
            return tuple(int(one) for one in found.groups())
    passed = failed = skipped = 0
    summary = False
    for line in lines:
        if line.startswith("[==========] "):
            summary = " run." in line       # which names those that were skipped again
        # cmocka's own form: a test that was begun and did not end well has failed
        failed += line.startswith("[ RUN      ] ")
        if line.startswith("[       OK ] "):
            passed, failed = passed + 1, failed - 1
        if line.startswith("[  SKIPPED ] ") and not summary:
            skipped, failed = skipped + 1, failed - 1
        point = _POINT.match(line)
        if point and _SKIP.search(point[2]):
            skipped += 1
        elif point:
            passed += point[1] == "ok"
            failed += point[1] == "not ok"
    return passed, failed, skipped


class Document:
    """A TAP plan, which may follow its points, and the points."""

    def __init__(self, node, planned=None):
        self.node = node
        self.planned = planned
        self.seen = 0

    def fault(self):
        if self.planned is None:
            return f"node{self.node} reported {self.seen} points and no plan"
        if self.seen != self.planned:
            return f"node{self.node} planned {self.planned} points and reported {self.seen}"
        return None


def guest_points(lines):
    """(passed, failed, skipped, faults) of what the nodes of a guest test printed: each its own
    TAP, and more than one document when it runs on several cores or runs several programs."""
    passed = failed = skipped = 0
    current, faults, documents = {}, [], []
    for line in lines:
        of_node = _NODE.match(line)
        if not of_node:
            continue
        node, text = of_node[1], of_node[2]
        plan, point = _PLAN.match(text), _TAP.match(text)
        document = current.get(node)
        if plan and document and document.planned is None:
            document.planned = int(plan[1])
            continue
        # A point 1 behind a document that is complete is another program's.
        if plan or (point and (not document or (point[2] == "1" and document.seen == document.planned))):
            document = current[node] = Document(node, int(plan[1]) if plan else None)
            documents.append(document)
        if point:
            document.seen += 1
            if int(point[2]) != document.seen:
                faults.append(f"node{node} gave its point {document.seen} the number {point[2]}")
            if _SKIP.search(point[3]):
                skipped += 1
            else:
                passed += point[1] == "ok"
                failed += point[1] == "not ok"
    faults += [one.fault() for one in documents if one.fault()]
    if not documents:
        faults.append("no node has reported a point")
    return passed, failed, skipped, faults


class Share:
    """What one of the scripts of a boot has printed, and the nodes that have come to its end: {node: status}."""

    def __init__(self):
        self.lines = []
        self.ended = {}

    def status(self):
        return next((status for status in self.ended.values() if status), 0)


def shares(lines):
    """({script: Share}, [line of no node]) of a boot that several scripts have shared."""
    found, current, others = {}, {}, []
    for line in lines:
        of_node = _NODE.match(line)
        if not of_node:
            others.append(line)
            continue
        node, text = of_node[1], of_node[2]
        begins, ends = _SCRIPT_BEGINS.match(text), _SCRIPT_ENDS.match(text)
        if begins:
            current[node] = found.setdefault(begins[1], Share())
        elif ends and ends[1] in found:
            found[ends[1]].ended[node] = int(ends[2])
        elif node in current:
            current[node].lines.append(line)
        else:
            others.append(line)
    return found, others


def read_table(path):
    """{name: (passed, skipped)} of the list, or of what a run has left."""
    table = {}
    try:
        with open(path, encoding="utf-8") as file:
            for line in file:
                fields = line.partition("#")[0].split()
                if fields:
                    table[fields[0]] = (int(fields[1]), int(fields[2]) if fields[2:] else 0)
    except FileNotFoundError:
        pass
    return table


def write_table(path, table):
    with open(path, "w", encoding="utf-8") as file:
        file.write(_HEAD)
        for name, (passed, skipped) in sorted(table.items()):
            file.write(f"{name} {passed} {skipped}\n" if skipped else f"{name} {passed}\n")


def words(number):
    passed, skipped = number
    return f"{passed} points" + (f" and {skipped} skipped" if skipped else "")


def differences(listed, found, excused):
    """Differences from the list, a sentence each. excused: tests that have failed or could not run,
    which was reported already."""
    for name in sorted(set(listed) - set(found) - excused):
        yield f"{name} is in {LIST} and has not run"
    for name in sorted(set(found) - set(listed)):
        yield f"{name} has {words(found[name])}, and is not in {LIST}"
    for name in sorted(set(found) & set(listed)):
        if found[name] != listed[name]:
            yield f"{name} has {words(found[name])}, by {LIST} {words(listed[name])}"


def closing_line(table):
    """The last line of make check that follows from the list."""
    counts = [number for name, number in table.items() if not name.startswith(LONG)]
    return f"{sum(one[0] for one in counts)} passed, 0 failed, {sum(one[1] for one in counts)} skipped"


def readme_says(table, path=README):
    """A sentence when README.md shows another closing line, or none."""
    with open(path, encoding="utf-8") as file:
        found = _CLOSING.search(file.read())
    if not found or found[0].strip() != closing_line(table):
        return f"{path} shows '{found[0].strip() if found else 'no closing line'}', " \
               f"{LIST} comes to '{closing_line(table)}'"
    return None


def update(names, long_names, path, readme=README, listed=LIST):
    """Writes the list, and the line in README.md, from what runs have left in `path`; names are the
    tests of make check, which must all be there, and of make check-long, which may be from an
    earlier run. If tests are missing, it returns them and writes nothing."""
    found = read_table(path)
    missing = sorted(set(names) - set(found))
    if missing:
        return missing
    table = {**read_table(listed), **found}
    table = {name: number for name, number in table.items() if name in names or name in long_names}
    write_table(listed, table)
    with open(readme, encoding="utf-8") as file:
        text = file.read()
    with open(readme, "w", encoding="utf-8") as file:
        file.write(_CLOSING.sub(f"    {closing_line(table)}", text))
    return []

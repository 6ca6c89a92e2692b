# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Shared by the static checks: lists of files, the lab's parts, allowed findings, the cache of
results, and the form of a report.

CHANGED=1 in the environment looks only at what differs from BASE (HEAD)."""

import concurrent.futures
import contextlib
import fnmatch
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))))
LAB = os.path.join(TOP, "tools/testing/lab/lab")
ALLOWED = "tools/testing/lint/allowed"
CHANGED = os.environ.get("CHANGED", "") not in ("", "0")

os.chdir(TOP)


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def path(part):
    """Where a cached part of the lab lies."""
    return output(LAB, "path", part).strip()


def git_files(*options):
    return [name for name in output("git", *options).split("\0") if name]


def changed():
    """The files that differ from BASE, and those that git does not track yet."""
    names = git_files("diff", "--name-only", "-z", "--no-renames", os.environ.get("BASE") or "HEAD")
    return set(names) | set(git_files("ls-files", "-z", "--others", "--exclude-standard"))


def all_files(*patterns):
    """The tracked files that match one of the patterns ('*' takes slashes too)."""
    names = git_files("ls-files", "-z")
    if CHANGED:
        names += git_files("ls-files", "-z", "--others", "--exclude-standard")
    return sorted({name for name in names if os.path.isfile(name) and
                   any(fnmatch.fnmatchcase(name, one) for one in patterns)})


def files(*patterns):
    """all_files, or those of them that changed where only these are asked for."""
    found = all_files(*patterns)
    if not CHANGED:
        return found
    new = changed()
    return [name for name in found if name in new]


def nothing_changed(*patterns):
    """True when only changes are asked for and none is of these patterns."""
    return CHANGED and not any(fnmatch.fnmatchcase(name, one) for name in changed() for one in patterns)


def read(name):
    with open(name, encoding="utf-8", errors="replace") as file:
        return file.read()


def digest(*parts):
    whole = hashlib.sha256()
    for part in parts:
        whole.update(part if isinstance(part, bytes) else str(part).encode())
        whole.update(b"\0")
    return whole.hexdigest()


def file_digest(name):
    with open(name, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


HEADERS = ("include", "include/uapi")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', re.M)


class Includes:
    """Which of our headers a file includes, directly or through others."""

    def __init__(self):
        self.direct = {}

    def of(self, name):
        if name not in self.direct:
            folders = (os.path.dirname(name), *HEADERS)
            found = set()
            for included in INCLUDE.findall(read(name)):
                places = [os.path.normpath(os.path.join(folder, included)) for folder in folders]
                found |= {place for place in places if os.path.isfile(place)}
            self.direct[name] = found
        return self.direct[name]

    def all_of(self, name):
        seen, ahead = set(), [name]
        while ahead:
            for header in self.of(ahead.pop()) - seen:
                seen.add(header)
                ahead.append(header)
        return seen

    def digest(self, name):
        return digest(*map(file_digest, sorted(self.all_of(name))))


class Cache:
    """Results of a tool, each under the digest of all that it depends on. The cache lies beside the
    tools in the lab's cache, serves all source trees, and is removed when the tools change."""

    def __init__(self, tool):
        tools = os.path.dirname(path("tools-root"))
        stamp = digest(read(os.path.join(tools, "stamp")))[:16]
        everything = os.path.join(os.path.dirname(tools), "lint")
        self.folder = os.path.join(everything, stamp, tool)
        os.makedirs(self.folder, exist_ok=True)
        for old in os.listdir(everything):
            if old != stamp:
                shutil.rmtree(os.path.join(everything, old), ignore_errors=True)

    def get(self, key):
        name = os.path.join(self.folder, key)
        try:
            os.utime(name)
            with open(name, encoding="utf-8") as file:
                return json.load(file)
        except (FileNotFoundError, json.JSONDecodeError):
            return None

    def put(self, key, value):
        name = os.path.join(self.folder, key)
        with open(f"{name}.{os.getpid()}", "w", encoding="utf-8") as file:
            json.dump(value, file)
        os.rename(f"{name}.{os.getpid()}", name)

    def prune(self):
        """Forget what nobody has asked for in a month. Others use the folder at the same time."""
        for name in os.listdir(self.folder):
            full = os.path.join(self.folder, name)
            with contextlib.suppress(FileNotFoundError):
                if os.path.getmtime(full) < time.time() - 30 * 24 * 3600:
                    os.unlink(full)


class Report:
    """The findings of one tool. A finding is a FILE, a line, a kind (one word) and a text;
    the file 'allowed' names those that may stand, each with its reason."""

    def __init__(self, tool):
        self.tool = tool
        self.found = set()
        self.rules = []
        for number, line in enumerate(read(ALLOWED).splitlines(), 1):
            fields = line.split(None, 3)
            if not fields or fields[0].startswith("#"):
                continue
            if len(fields) < 4:
                sys.exit(f"{ALLOWED}:{number}: wants TOOL FILE KIND REASON")
            if fields[0] == tool:
                self.rules.append([number, fields[1], fields[2], 0])

    def add(self, file, line, kind, text):
        self.found.add((os.path.relpath(file, TOP) if os.path.isabs(file) else file, int(line), kind,
                        " ".join(text.split())))

    def allowed(self, file, kind):
        hit = False
        for rule in self.rules:
            if fnmatch.fnmatchcase(file, rule[1]) and fnmatch.fnmatchcase(kind, rule[2]):
                rule[3] += 1
                hit = True
        return hit

    def finish(self, inspected):
        """Print what may not stand and end the program. inspected: '12 files', say."""
        faults = suppressed = 0
        for file, line, kind, text in sorted(self.found):
            if self.allowed(file, kind):
                suppressed += 1
                continue
            print(f"{file}:{line}: {text} [{kind}]")
            faults += 1
        if not CHANGED:
            for number, place, kind, hits in self.rules:
                if not hits:
                    print(f"{ALLOWED}:{number}: {self.tool} finds no {kind} in {place} any more")
                    faults += 1
        print(f"{self.tool}: {inspected}, {faults} faults, {suppressed} allowed")
        sys.exit(1 if faults else 0)


def run_all(jobs):
    """Run commands, as many at a time as there are CPUs, in the lab's tools root, where
    compilers and analyzers lie: [(argv, cwd, stdin)] -> [(status, output)]."""
    if not jobs:
        return []
    done = subprocess.run([LAB, "chroot", "--tools", "python3", os.path.realpath(__file__)],
                          input=json.dumps(jobs), stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"the tools root does not work (exit status {done.returncode})")
    return json.loads(done.stdout)


def batch():
    """The far end of run_all."""
    def one(job):
        argv, cwd, text = job
        done = subprocess.run(argv, cwd=cwd, input=text, stdout=subprocess.PIPE, errors="replace",
                              stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        print(json.dumps(list(pool.map(one, json.load(sys.stdin)))))


POSITION = re.compile(r"^(?P<file>[^\s:]+):(?P<line>\d+):(?:[\d-]+:)? ?(?P<text>.*)$")

if __name__ == "__main__":
    batch()

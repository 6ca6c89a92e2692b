#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""pyverbs_tap.py [--least N] [--whole] [--apart] DEVICE [MODULE...]: rdma-core's own tests of these modules,
or of all that there are, on DEVICE, as TAP.

A test may be skipped only if pyverbs-skips has a line for it: its name, or the start of it
with "*", and why; this reason is printed, and what the test itself said. A line that begins with
InfiniBand: or Ethernet: is for ports of this link layer alone. A line for one of the modules that no test needed is a failure, and so are
fewer than N tests that passed. With --whole no test may be skipped.

With --apart each test has a process of its own, since one that fails may leave objects behind that bring
its process down, and what is printed is not TAP but a line for each: its name, and pass, fail or skip."""

import argparse
import fnmatch
import glob
import os
import signal
import sys
import unittest

HERE = os.path.dirname(os.path.realpath(__file__))
TESTS = "/usr/share/rdma-core/tests"
PATIENCE = 120                  # seconds for a test that has a process of its own


def expected_skips(modules, device):
    skips = {}
    with open(f"/sys/class/infiniband/{device}/ports/1/link_layer", encoding="ascii") as file:
        own = file.read().strip()
    with open(os.path.join(HERE, "pyverbs-skips"), encoding="utf-8") as file:
        for line in file:
            name, _, reason = line.partition("#")[0].strip().partition(" ")
            layer, _, rest = name.rpartition(":")
            if layer not in ("", own):
                continue
            name = rest
            if name and fnmatch.filter(modules, name.split(".")[0]):
                skips[name] = reason.strip()
    return skips


class Tap(unittest.TestResult):
    def __init__(self, skips):
        super().__init__()
        self.skips = skips
        self.used = set()
        self.count = 0
        self.passed = 0

    def point(self, good, test, remark=""):
        self.count += 1
        name = test if isinstance(test, str) else test.id()
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}{remark}", flush=True)

    def bad(self, test, err):
        for line in self._exc_info_to_string(err, test).splitlines():
            print(f"# {line}")
        self.point(False, test)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1
        self.point(True, test)

    def addError(self, test, err):
        super().addError(test, err)
        self.bad(test, err)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.bad(test, err)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        lines = [one for one in self.skips if fnmatch.fnmatchcase(test.id(), one)]
        self.used.update(lines)
        if lines:
            self.point(True, test, f" # SKIP {self.skips[lines[0]]} ({' '.join(reason.split())})")
        else:
            self.point(False, test, f": skipped, and pyverbs-skips has no line for it: {reason}")


def single(suite):
    for one in suite:
        yield from single(one) if isinstance(one, unittest.TestSuite) else (one,)


def apart(suite):
    for test in single(suite):
        child = os.fork()
        if not child:
            signal.alarm(PATIENCE)
            result = unittest.TestResult()
            unittest.TestSuite([test]).run(result)
            os._exit(2 if result.skipped else 0 if result.wasSuccessful() else 1)
        ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(test.id(), {0: "pass", 2: "skip"}.get(ended, "fail"), flush=True)
    return 0


def main():
    own = argparse.ArgumentParser()
    own.add_argument("--least", type=int, default=1)
    own.add_argument("--whole", action="store_true")
    own.add_argument("--apart", action="store_true")
    own.add_argument("device")
    own.add_argument("modules", nargs="*")
    options = own.parse_args()
    modules = options.modules or sorted(
        os.path.basename(path)[:-len(".py")] for path in glob.glob(f"{TESTS}/test_*.py"))
    sys.path.insert(0, TESTS)
    sys.path.insert(0, os.path.dirname(TESTS))
    sys.argv[1:] = ["--dev", options.device]
    from args_parser import parser          # pylint: disable=import-error,import-outside-toplevel
    parser.parse_args()
    suite = unittest.defaultTestLoader.loadTestsFromNames([f"tests.{one}" for one in modules])
    if options.apart:
        return apart(suite)
    print(f"TAP version 13\n1..{suite.countTestCases() + 2}")
    skips = {f"tests.{name}": reason for name, reason in expected_skips(modules, options.device).items() if not options.whole}
    result = Tap(skips)
    suite.run(result)
    idle = sorted(set(skips) - result.used)
    result.point(not idle, "pyverbs-skips has no line too many", f": {' '.join(idle)}" if idle else "")
    enough = result.passed >= options.least
    result.point(enough, f"at least {options.least} passed", f": {result.passed}")
    return 0 if result.wasSuccessful() and not idle and enough and \
        all(any(fnmatch.fnmatchcase(test.id(), one) for one in skips) for test, _ in result.skipped) else 1


sys.exit(main())

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Tests run-checks itself: how it reads a test's output, its time limit, its list of all tests,
# cached parts that cannot be made, and its usage.
. "$(dirname "$0")/lib.sh"
top=$PWD

# python NAME EXPECTED: run the program on standard input, which imports run-checks as `checks`
python() {
	expect "$1" "$2" "$(cd "$work" && python3 -B <(
		cat <<P
import importlib.machinery, importlib.util, os, sys, time
sys.path.insert(0, "$top/tools/testing")
import results
loader = importlib.machinery.SourceFileLoader("checks", "$top/tools/testing/run-checks")
checks = importlib.util.module_from_spec(importlib.util.spec_from_loader("checks", loader))
loader.exec_module(checks)
os.makedirs(checks.LOGS, exist_ok=True)
P
		cat
	) 2>&1)"
}

# points NAME EXPECTED LINE...: the points of a guest test that has printed these lines
points() {
	local name=$1 expected=$2
	shift 2
	printf '%s\n' "$@" >"$work/lines"
	python "$name" "$expected" <<'P'
print(*results.guest_points(open("lines").read().splitlines()))
P
}

points "points of all nodes count" "3 0 1 []" "lab: guest-root: ready" "n1| TAP version 13" "n1| 1..3" "n2| 1..1" \
	"n1| ok 1 - a" "n1| # ok 7 - of a program" "n2| ok 1 - b" "n1| ok 2 - c # SKIP not here" "n1| ok 3 - d"
points "on every core" "3 1 0 []" "n1| # core: ours" "n1| 1..2" "n1| ok 1 - a" "n1| ok 2 - b" "n1| # core: distro" \
	"n1| 1..2" "n1| ok 1 - a" "n1| not ok 2 - b"
points "a point that is missing" "1 0 0 ['node2 planned 2 points and reported 1']" "n2| 1..2" "n2| ok 1 - a"
points "a point too many" "2 0 0 ['node1 planned 1 points and reported 2']" "n1| 1..1" "n1| ok 1 - a" "n1| ok 2 - a"
points "a point that is lost among others" \
	"2 0 0 ['node1 gave its point 2 the number 3', 'node1 planned 3 points and reported 2']" \
	"n1| 1..3" "n1| ok 1 - a" "n1| ok 3 - a"
points "no plan" "1 0 0 ['node1 reported 1 points and no plan']" "n1| ok 1 - a"
points "nothing at all" "0 0 0 ['no node has reported a point']" "n1| hello"
points "a plan behind its points" "2 0 0 []" "n1| ok 1 - a" "n1| ok 2 - b" "n1| 1..2"
points "programs one after the other, each by its habit" "4 0 0 []" "n1| 1..1" "n1| ok 1 - a" "n1| ok 1 - a" "n1| ok 2 - b" \
	"n1| 1..2" "n1| 1..1" "n1| ok 1 - a"
points "of which one stops" "2 0 0 ['node1 reported 1 points and no plan']" "n1| 1..1" "n1| ok 1 - a" "n1| ok 1 - a"

python "what a failed point has said is shown with it" "n1| # ERR 1|n1| not ok 2 - b|x.c:1: error: y" <<'P'
print("|".join(checks.telling(["n1| # fine", "n1| ok 1 - a", "n2| # of another node", "n1| # ERR 1", "n2| ok 1 - a",
                               "n1| not ok 2 - b", "n1| # later", "n1| ok 3 - c", "x.c:1: error: y"])))
P

python "a test that takes too long is ended with all of its process group" "None True True" <<'P'
checks.GRACE = 1
runner = checks.Runner()
begun = time.monotonic()
status, lines, _ = runner.run(["sh", "-c", "trap '' TERM; (sleep 61.25 & echo $!; sleep 61.25); sleep 61.25"], "log", 15)
deadline = time.monotonic() + 20
while os.path.exists(f"/proc/{lines[0]}/exe") and time.monotonic() < deadline:
    time.sleep(0.05)
print(status, time.monotonic() - begun < 60, not os.path.exists(f"/proc/{lines[0]}/exe"))
P
python "and says so" "FAIL: it was still running after 1 s, and all of its process group was ended; 1 failed" <<'P'
import contextlib, io
counts = checks.Counts(checks.Runner(), {})
said = io.StringIO()
with contextlib.redirect_stdout(said):
    counts.take(checks.Test("unit/slow", ["sleep", "61.25"], limit=1))
print("FAIL:", [one for one in said.getvalue().splitlines() if "still" in one][0].strip().partition(" (ended")[0] + f"; {counts.failed} failed")
P
python "a test that takes as long as it may is not" "7 False" <<'P'
status, lines, _ = checks.Runner().run(["sh", "-c", "exit 7"], "log", 60)
print(status, lines != [])
P

python "a part that cannot be made is tried once, named once, and nobody who needs it runs" \
	"tried 1, 1 failed, 1 passed; FAIL  the part tools-root of the lab's cache; none  unit/a: needs tools-root, which could not be made; none  unit/b: needs tools-root, which could not be made; pass  unit/c" <<'P'
import contextlib, io
checks.LAB = "./lab"
with open("lab", "w") as file:
    file.write("#!/bin/sh\necho try >>tries\necho 'lab: no network' >&2\nexit 125\n")
os.chmod("lab", 0o755)
counts = checks.Counts(checks.Runner(), {})
said = io.StringIO()
with contextlib.redirect_stdout(said):
    for name, needs in ("a", ["tools-root"]), ("b", ["tools-root"]), ("c", []):
        counts.take(checks.Test(f"unit/{name}", ["true"], needs=needs))
heads = "; ".join(one.partition(" (")[0] for one in said.getvalue().splitlines() if one[0] != " ")
print(f"tried {len(open('tries').readlines())}, {counts.failed} failed, {counts.passed} passed; {heads}")
P
python "of an optional part it is a skip when the mirror's indexes are inconsistent" \
	"0 failed, 1 skipped; skip  the part i386-root of the lab's cache|1 failed, 0 skipped; FAIL  the part i386-root of the lab's cache|1 failed, 0 skipped; FAIL  the part tools-root of the lab's cache" <<'P'
import contextlib, io
checks.LAB = "./lab"
heads = []
for name, status in ("i386-root", 75), ("i386-root", 125), ("tools-root", 75):
    with open("lab", "w") as file:
        file.write(f"#!/bin/sh\nexit {status}\n")
    os.chmod("lab", 0o755)
    counts = checks.Counts(checks.Runner(), {})
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        counts.take(checks.Test("unit/a", ["true"], needs=[name]))
    heads.append(f"{counts.failed} failed, {counts.skipped} skipped; " + said.getvalue().splitlines()[0])
print("|".join(heads))
P

# shared NAME EXPECTED: three guest tests share a boot, in which the lab is what standard input says; in boots
# of their own all pass
shared() {
	{
		echo '#!/bin/sh'
		echo 'has() { echo "n1| # script: $1"; echo "n1| 1..1"; echo "n1| ok 1 - point"; }'
		echo 'ends() { echo "n1| # script $1: status $2"; }'
		echo 'case $* in *--then*) ;; *) echo "n1| 1..1"; echo "n1| ok 1 - point"; exit 0 ;; esac'
		cat
	} >"$work/lab"
	chmod +x "$work/lab"
	python "$1" "$2" <<'P'
import contextlib, io
checks.LAB = "./lab"
tests = checks.share_boots([checks.guest_test(f"guest/{name}", f"{name}.sh", ["--nodes", "1", *more])
                            for name, more in (("a", []), ("b", ["--timeout", "700"]), ("c", ["--mem", "1280"]))])
counts = checks.Counts(checks.Runner(), {})
said = io.StringIO()
with contextlib.redirect_stdout(said):
    counts.take_row(tests)
heads = [one for one in said.getvalue().splitlines() if one[0] != " "]
print("; ".join(one.partition(" (")[0] + (" of 3" if "one of 3" in one else "") for one in heads), os.path.exists("build/check/guest/b/left"))
P
}
shared "guest tests share a boot" "pass  guest/a of 3; pass  guest/b of 3; pass  guest/c of 3 True" <<'L'
[ "$*" = "run --append init_on_alloc=0 --sanitize --nodes 1 --timeout 700 --mem 1280 --then b.sh --then c.sh --out build/check/boot/a a.sh" ] || exit 2
mkdir -p build/check/boot/a/b && echo >build/check/boot/a/b/left
for one in a b c; do has $one; ends $one 0; done
L
shared "who hangs is named, and the next ones are run by themselves" "pass  guest/a; FAIL  guest/b; pass  guest/c False" <<'L'
has a; ends a 0; has b; exit 124
L
shared "so are those behind who fails" "pass  guest/a; FAIL  guest/b; pass  guest/c False" <<'L'
has a; ends a 0; has b; ends b 1; exit 1
L
shared "of what nobody answers for, all are suspected" "FAIL  guest/a of 3; FAIL  guest/b of 3; FAIL  guest/c of 3 False" <<'L'
for one in a b c; do has $one; ends $one 0; done
echo "lab: kernel report on node1: BUG"; exit 120
L
shared "who hangs does not hide that" "FAIL  guest/a; FAIL  guest/b; pass  guest/c False" <<'L'
has a; ends a 0; has b; echo "lab: kernel report on node1: BUG"; exit 124
L
shared "a boot that comes to nothing is its first one's failure" "FAIL  guest/a; pass  guest/b; pass  guest/c False" <<'L'
echo "lab: no guest starts"; exit 125
L

python "the list is compared both ways" "a has 3 points and 2 skipped, by tools/testing/tests 3 points and 1 skipped|b is in tools/testing/tests and has not run|c has 1 points, and is not in tools/testing/tests" <<'P'
listed = {"a": (3, 1), "b": (1, 0), "failed": (7, 0), "same": (2, 0)}
found = {"a": (3, 2), "c": (1, 0), "same": (2, 0)}
print("|".join(sorted(results.differences(listed, found, {"failed"}))))
P
python "a whole run fails by it" "3 failed" <<'P'
import contextlib, io
os.makedirs("tools/testing", exist_ok=True)
results.write_table(results.LIST, {"a": (3, 0), "b": (4, 0), "long/c": (5, 0)})
with open("README.md", "w") as file:
    file.write("    9 passed, 0 failed, 0 skipped\n")
counts = checks.Counts(checks.Runner(), {})
counts.found = {"a": (2, 0)}
with contextlib.redirect_stdout(io.StringIO()):
    counts.compare(["a", "b"])
print(counts.failed, "failed")
P
python "of long tests those that are listed count" "new   long/d has 1 points: run-checks --update lists it; 1 failed" <<'P'
import contextlib, io
results.write_table(results.LIST, {"a": (3, 0), "long/c": (5, 0)})
with open("README.md", "w") as file:
    file.write("    3 passed, 0 failed, 0 skipped\n")
counts = checks.Counts(checks.Runner(), {})
counts.found = {"long/c": (4, 0), "long/d": (1, 0)}
said = io.StringIO()
with contextlib.redirect_stdout(said):
    counts.compare(["long/c", "long/d"])
print(said.getvalue().splitlines()[0] + f"; {counts.failed} failed")
P
python "it is written from the last whole run, and README.md with it" "['b']||[]|    8 passed, 0 failed, 2 skipped|a 3 2;b 5;long/c 5" <<'P'
results.write_table("found", {"a": (3, 2), "gone": (9, 0)})
results.write_table("listed", {"a": (1, 0), "old": (1, 0), "long/c": (5, 0), "long/gone": (5, 0)})
with open("readme", "w") as file:
    file.write("ends with\n\n    1467 passed, 0 failed, 0 skipped\n")
print(results.update(["a", "b"], ["long/c"], "found", "readme", "listed"), end="||")
results.write_table("found", {"a": (3, 2), "b": (5, 0), "gone": (9, 0)})
print(results.update(["a", "b"], ["long/c"], "found", "readme", "listed"), end="|")
print(open("readme").read().splitlines()[-1], end="|")
print(";".join(line.strip() for line in open("listed") if line[0] != "#"))
P

python "rows that take long begin first, after what all need" "built a1 a2 b c" <<'P'
took = {"a1": 20, "a2": 20, "b": 35, "c": 30, "built": 1}
tests = [checks.Test(name, [], row=row, when=when) for name, row, when in (
    ("built", None, checks.Stage.FIRST), ("c", None, checks.Stage.TOGETHER), ("a1", "a", checks.Stage.TOGETHER),
    ("b", None, checks.Stage.TOGETHER), ("a2", "a", checks.Stage.TOGETHER))]
begun = []
class Pool:
    def submit(self, take, row):
        begun.extend(test.name for test in row)
        return self
    def result(self):
        pass
checks.run_stages(checks.longest_first(tests, took), Pool(), None, None)
print(*begun)
P
python "another test begins when the processors have been idle" "2 tests, 0 times left" <<'P'
checks.LOOK_BACK = 0.01
times = [(0, 0), (0, 100), (0, 100), (10, 200), (10, 200), (29, 300), (29, 300), (49, 400)]
checks.cpu_times = lambda: times.pop(0)
places = checks.Places(1)
with places, places:
    print(places.running, "tests,", len(times), "times left")
P
python "or when one has ended" "1 test" <<'P'
import threading
checks.LOOK_BACK = 600
places, looks = checks.Places(1), threading.Event()
checks.cpu_times = lambda: (0, 0 * bool(looks.set()))
def other():
    with places:
        print(places.running, "test")
thread = threading.Thread(target=other)
with places:
    thread.start()
    looks.wait()
thread.join()
P

python "tests that are too long are on their own" "guest/both: --sanitize --nodes 3|guest/less: --sanitize --core ours,distro --core ours|guest/short: --confined|long/both: --sanitize --nodes 3 --kernel debug --timeout 50 many|long/less: --sanitize --core ours,distro|long/none: --sanitize --irq msi|long/only: --sanitize --cpus 4|long/kunit|long/packages|long/packages_bookworm|long/pages|long/page_commands|long/site" <<'P'
folder = "tools/testing/selftests/rdma"
os.makedirs(folder, exist_ok=True)
for name, head in ("both", "# lab: --nodes 3\n# long: --kernel debug --timeout 50 -- many\n"), ("only", "# long: --cpus 4\n"), ("short", "# lab: --confined\n"), ("none", "# lab: --irq msi\n# check: no\n"), ("less", "# lab: --core ours,distro\n# check: --core ours\n"):
    with open(f"{folder}/{name}.sh", "w") as file:
        file.write(head)
    os.chmod(f"{folder}/{name}.sh", 0o755)
said = []
for test in [*checks.guest_tests([]), *checks.long_tests()]:
    if not test.in_guest:
        said.append(test.name)
        continue
    words = test.command[4:]
    out = words.index("--out")
    said.append(f"{test.name}: " + " ".join(words[:out] + words[out + 3:]))
print("|".join(said))
P
python "and the debug kernel boots in all that make check has or could have" "guest/both: --nodes 3|guest/less: --core ours,distro|guest/none: --irq msi|guest/short: --confined" <<'P'
said = []
for test in checks.guest_tests(["--kernel", "debug"]):
    words = " ".join(test.command).replace("--sanitize ", "").partition("init_on_alloc=0 ")[2]
    said.append(f"{test.name}: {words.partition(' --kernel debug')[0]}")
print("|".join(said))
P
python "counts know which rows no core has answered" "[('ioctl', 'B'), ('write', 'C')]|1 rows have no answer of --core distro, such as write C|3 of --core ours" <<'P'
sys.path.insert(0, os.path.join(sys.path[0], "counts"))
loader = importlib.machinery.SourceFileLoader("counts", os.path.join(sys.path[0], "run"))
counts = importlib.util.module_from_spec(importlib.util.spec_from_loader("counts", loader))
loader.exec_module(counts)
counts.TOP = os.getcwd()
rows = [("write", "A"), ("ioctl", "B"), ("write", "C"), ("mmap", "D")]
for core, text in ("ours", "write A 0\nioctl B 1\nwrite C 2\n"), ("distro", "write A 0\nioctl B 7\n"):
    os.makedirs(f"build/check/guest/uapi_rows/{core}", exist_ok=True)
    with open(f"build/check/guest/uapi_rows/{core}/answers", "w") as file:
        file.write(text)
faults = []
print(sorted(counts.different(rows, faults)), faults[0].partition(":")[0], sep="|", end="|")
os.remove("build/check/guest/uapi_rows/ours/answers")
faults = []
counts.different(rows, faults)
print(faults[0].partition(" rows")[0], "of --core ours" if "--core ours" in faults[0] else faults)
P

# refused SENTENCE ARGUMENTS...: no test is run
refused() {
	local sentence=$1
	shift
	expect "run-checks $*: one line, status 2" "2 run-checks: $sentence; run-checks --help says more" \
		"$(said=$(timeout 200 tools/testing/run-checks "$@" 2>&1); echo "$? $said")"
}
refused "no option is called --fast" --fast lint/walks
refused "--debug does not go with --long" --debug --long lint/walks
refused "--update stands alone" --update lint/walks
refused "no test has nonsense in its name" lint/walks nonsense
refused "no test has long/kunit in its name: --long has long/kunit" -l long/kunit
for option in -h --help; do
	timeout 200 tools/testing/run-checks "$option" >"$work/out" 2>&1
	expect "run-checks $option: status" 0 $?
	expect_text "run-checks $option: the usage" '^    run-checks \[-l\] \[--long' "$work/out"
	expect "run-checks $option: no test is run" "" "$(grep ' passed, [0-9]* failed, ' "$work/out")"
done
exit $bad

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The pages of make demo and make bench: every figure is on them, nothing else is needed to read them,
# and what is missing is said. Their results are made up here; long/pages has real ones, in a browser.
. "$(dirname "$0")/lib.sh"
check=tools/testing/pages/check
demo=$work/demo

# perftest FILE FIGURE...: its output
perftest() {
	printf ' #bytes #iterations and more\n %s\n' "${*:2}" >"$demo/$1"
}

# ran FOLDER: a run that has ended, without steps
ran() {
	mkdir -p "$demo/$1"
	echo '{"status": 0, "accel": "tcg", "seconds": 41.7, "nodes": {"node1": {}, "node2": {}}}' >"$demo/$1/run.json"
	: >"$demo/$1/said"
}

ran . && ran capture && ran subnet && ran connect
: >"$demo/capture.log"
for program in write read send; do
	perftest "rxe.ib_${program}_bw.node2" 65536 100 0.3 0.25 0.1
	perftest "ours.ib_${program}_bw.node2" 65536 100 200.1 193.75 0.1
done
for program in write send; do
	perftest "rxe.ib_${program}_lat.node2" 64 200 1 2 410.5 1 1 1 1
	perftest "ours.ib_${program}_lat.node2" 64 200 1 2 4.1 1 1 1 1
done
cat >"$demo/said" <<'TXT'
n1| == rdma link
n2| == rdma link
n1| == programs & <others>
n2| == programs & <others>
n2| FAILED: programs & <others> (exit status 1: false)
TXT
cat >"$demo/subnet/fabric.svg" <<'SVG'
<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<svg width="90pt" height="40pt" xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">
<g id="graph0"><title>fabric</title><text x="5" y="20">node1&#45;0 and left</text></g></svg>
SVG
cat >"$demo/packets.svg" <<'SVG'
<svg xmlns="http://www.w3.org/2000/svg" width="90" height="40"><marker id="again"/><text x="5" y="20">SEND_ONLY</text></svg>
SVG
printf 'rdma-why: refused: no \033[1minterface has the address 10.78.0.77\n' >"$demo/connect/why"

page() { tools/testing/lab/demo/page.py "$demo" "$work/demo.html" >"$work/out" 2>&1; }
page
expect "make demo writes a page" 0 $?
passes "with each figure, both pictures, the refusal and what was run" "$check" "$work/demo.html" \
	"ib_write_bw, 64 KiB: better by 775.0x rdma_rxe 0.25 Gb/s vhca 193.75 Gb/s" "ib_read_bw, 64 KiB" "ib_send_bw, 64 KiB" \
	"ib_write_lat, 64 B: better by 100.1x rdma_rxe 410.50 us vhca 4.10 us" "ib_send_lat, 64 B" \
	"node1-0 and left" "SEND_ONLY" "[1minterface has the address 10.78.0.77" \
	"2 guests on QEMU (TCG), 42 s: all worked." "rdma link 1, 2 ok" "programs & <others> 1, 2 FAILED"

perftest ours.ib_send_lat.node2 64 200 1 2 nan 1 1 1 1
rm "$demo/rxe.ib_read_bw.node2" "$demo/packets.svg"
echo "vhcactl: draw: there is no program dot here: install graphviz" >"$demo/subnet/fabric.svg"
page
expect "something is missing: its status says so" 1 $?
expect "and so does what it prints" 4 "$(grep -c 'demo.html: .*: no \(figure\|picture\): ' "$work/out")"
passes "and the page names what" "$check" "$work/demo.html" "ib_read_bw: no figure: " \
	"ib_send_lat: no figure: ib_send_lat has measured nothing" "The first packets: no picture: No such file" \
	"The fabric: no picture: vhcactl: draw: there is no program dot here" "vhca 4.10 us"

# perftest's programs run again when they could not measure the processor's clock, and only then. pair()
# is made up: it writes what is in the file said.N in its Nth run.
again() {
	(
		LAB_NODE=2 LAB_OUT=$work/clock runs=0
		eval "$(sed -n '/^measured()/,/^}/p' tools/testing/selftests/rdma/lib.sh)"
		lab-barrier() { :; }
		pair() { cp "$LAB_OUT/said.$((runs += 1))" "$LAB_OUT/$1.node2" && [ ! -e "$LAB_OUT/fails" ]; }
		measured read 18515 ib_read_bw 2>"$LAB_OUT/err"
		echo "$? $runs"
	)
}
mkdir "$work/clock"
for n in 1 2 3; do printf ' #bytes and more\nCorrelation coefficient r^2: 0.04 < 0.9\n 65536 5000 0.0 0.0 0.0\n'; done |
	split -l 3 --numeric-suffixes=1 -a 1 - "$work/clock/said."
expect "a clock that cannot be measured three times" "1 3" "$(again)"
expect "it is said each time" 3 "$(grep -c "^read: .* could not measure" "$work/clock/err")"
printf ' #bytes and more\n 65536 5000 90.0 81.0 0.1\n' >"$work/clock/said.2"
expect "once: it runs once more" "0 2" "$(again)"
cp "$work/clock/said.2" "$work/clock/said.1"
expect "a run with figures is the only one" "0 1" "$(again)"
touch "$work/clock/fails"
expect "and so is one that fails" "1 1" "$(again)"

bench() { tools/testing/pages/bench-sample "$work" "$@" >"$work/out" 2>&1; }
echo '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="40"><text x="5" y="20">switch0</text></svg>' >"$work/fabric.svg"
echo '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="40"><text x="5" y="20">WRITE_ONLY</text></svg>' >"$work/packets.svg"
bench 640 1
expect "make bench writes a page" 0 $?
passes "with each promise and what was compared" "$check" "$work/bench.html" "4 of 4 promises were kept" \
	"ib_write_bw 64 KiB, times rdma_rxe measured 640, promised >= 150 rdma_rxe 0.25 Gb/s vhca 160.00 Gb/s" \
	"resource_qp_many: instructions an entry, of 6.12's core measured 0.9, promised <= 1 6.12's core 21,234 instructions ours 19,111 instructions" \
	"loaded stack, one device measured 3140 kB, promised <= 4096 kB" "switch0" "WRITE_ONLY" \
	"against rdma_rxe tools/testing/bench/run 61 3 kept, 0 not kept" \
	"the subnet tools/testing/bench/subnet 2 FAILED, exit status 1"
bench 64 0
expect "a part without figures: its status says so" 1 $?
passes "and a broken promise is one on the page" "$check" "$work/bench.html" "2 of 3 promises were kept" \
	"measured 64, promised >= 150 This promise was not kept." "There are no figures." \
	"against rdma_rxe tools/testing/bench/run 61 2 kept, 1 not kept"
bench nan 1
expect "a promise without a figure: its status says so" 1 $?
passes "and it has no bar" "$check" "$work/bench.html" "ib_write_bw 64 KiB, times rdma_rxe: no figure"
echo "vhca-ladder: there is no packet of RDMA in it" >"$work/packets.svg"
bench 640 1
expect "no packets: its status says so" 1 $?
passes "and why" "$check" "$work/bench.html" "The first packets: no picture: vhca-ladder: there is no packet"

# Two demonstrations at once, with a lab that stands still until it is told to go on
mkdir -p "$work/top/tools/testing/lab"
cp -r tools/testing/lab/demo "$work/top/tools/testing/lab/"
mkfifo "$work/begun" "$work/go"
script top/tools/testing/lab/lab <<'S'
out=$(sed 's/.*--out \([^ ]*\) .*/\1/' <<<"$*")
echo kept >"$out/figure"
[ -e "$out/../again" ] || { : >"$out/../again"; echo >"$out/../begun"; read -r <"$out/../go"; }
exit 3
S
for one in run run-storage; do
	rm -f "$work/again"
	DEMO_OUT=$work/held "$work/top/tools/testing/lab/demo/$one" >/dev/null 2>&1 &
	read -r <"$work/begun"
	DEMO_OUT=$work/held timeout 200 "$work/top/tools/testing/lab/demo/$one" >"$work/out" 2>&1
	expect "demo/$one beside another: status" 2 $?
	expect "demo/$one beside another: one line" \
		"demo: another demonstration writes to $work/held: wait until it has ended" "$(<"$work/out")"
	expect "demo/$one beside another: that one has its files" kept "$(<"$work/held/figure")"
	echo >"$work/go"
	wait $!
	expect "demo/$one ends by itself" 1 $(($? > 0 && $(grep -c 'FAILED' "$work/held/log")))
	DEMO_OUT=$work/held timeout 200 "$work/top/tools/testing/lab/demo/$one" >/dev/null 2>&1
	expect_text "demo/$one: then the next one has its turn" 'FAILED; the log is' "$work/held/log"
done

tools/testing/bench/all rxe2 >"$work/out" 2>&1
expect "a part that there is not: its status says so" 2 $?
expect_text "and which there are" "bench: no part is called so, these are: the device alone, .*, the subnet" "$work/out"

# wrong NAME FROM TO PATTERN: the page with that change is refused
wrong() {
	sed "s|$2|$3|" "$work/good.html" >"$work/wrong.html"
	"$check" "$work/wrong.html" >"$work/out" 2>&1
	expect "the check fails: $1" 1 $?
	expect_text "and says so" "$4" "$work/out"
}
cp "$work/bench.html" "$work/good.html"
wrong "an element that does not end" '</h1>' '' 'not well-formed'
wrong "an image of another place" '</h1>' '</h1><img src="http://localhost/i"/>' '<img> fetches'
wrong "a script" '</h1>' '</h1><script>run</script>' '<script> fetches'
wrong "a link" '</h1>' '</h1><a href="other.html">x</a>' 'href=other.html is not in the page'
wrong "a style that loads" '<style>' '<style>@import "x.css";' 'style is not in the page'
wrong "a bar that is too long" 'width:100.000%' 'width:100.001%' 'does not fit'
wrong "a bar of no length" 'width:100.000%' 'width:nan%' 'does not fit'
wrong "no figure" '160.00 Gb/s' 'NaN Gb/s' "it says 'NaN'"
wrong "an id that is there twice" '</h1>' '</h1><p id="a"/><p id="a"/>' 'the id a is there 2 times'
"$check" "$work/good.html" "no such text" >"$work/out" 2>&1
expect "the check fails: a text that is not there" 1 $?
exit $bad

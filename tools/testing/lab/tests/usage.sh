#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The lab refuses wrong usage at once, in one line that says why.
. "$(dirname "$0")/lib.sh"

# refused STATUS PATTERN ARGUMENTS...
refused() {
	local status=$1 pattern=$2
	shift 2
	timeout 200 "$lab" "$@" >"$work/out" 2>&1
	expect "lab $*: status" "$status" $?
	expect "lab $*: one line" 1 "$(wc -l <"$work/out")"
	expect_text "lab $*: says why" "$pattern" "$work/out"
}

echo true >"$work/s"
refused 2 'no command is called nonsense' nonsense
refused 2 'no option is called --fast' run --fast "$work/s"
refused 2 '--nodes takes a number from 1 to 9' run --nodes 0 "$work/s"
refused 2 '--nodes takes a number' run --nodes two "$work/s"
refused 2 '--core takes one of: ours distro stock' run --core theirs "$work/s"
refused 2 "--core takes one of: ours distro stock; not 'theirs'" run --core ours,theirs "$work/s"
refused 2 '--core takes at least one of' run --core , "$work/s"
refused 2 '--timeout takes a value' run --timeout
refused 2 'run takes a script' run
refused 2 'there is no script .*/missing' run "$work/missing"
refused 2 'there is no script .*/missing' run --then "$work/missing" "$work/s"
refused 2 "--link takes one of: ib eth; not 'roce'" run --link roce "$work/s"
refused 2 '--link eth,ib names other ports than --ports 1' run --link eth,ib "$work/s"
refused 2 '--link-of takes a number from 1 to 2' run --link-of 3=eth "$work/s"
refused 2 '--core-of takes a number from 1 to 2' run --core-of 3=stock "$work/s"
refused 2 "--core-of 2 takes one of: ours distro stock; not 'theirs'" run --core-of 2=theirs "$work/s"
refused 2 '--core-of 2 lacks =VALUE' run --core-of 2 "$work/s"
refused 2 '--core-of goes with one --core, not with ours,distro' run --core ours,distro --core-of 2=stock "$work/s"
refused 2 '--kernel builtin has our core in it' run --kernel builtin --core-of 2=distro "$work/s"
refused 2 '--hca-of takes a number from 1 to 2' run --hca-of ours=1 "$work/s"
refused 2 "--hca-of 2 takes a number from 0 to 16, not 'x'" run --hca-of 2=x "$work/s"
refused 2 '--subnet opensm needs an HCA in node1' run --subnet opensm --hca-of 1=0 "$work/s"
refused 2 "--link-of 2 takes one of: ib eth; not 'roce'" run --link-of 2=roce "$work/s"
refused 2 '--subnet takes one of: static none opensm' run --subnet ours "$work/s"
refused 2 '--subnet opensm needs an HCA' run --subnet opensm --hca 0 "$work/s"
refused 2 '--coverage is what --kernel debug can count' run --coverage "$work/s"
refused 2 '--confined is not what --sanitize can be' run --sanitize --confined "$work/s"
refused 2 "--kernel takes one of: stock .*; not '5.10'" run --kernel 5.10 "$work/s"
refused 2 '--kernel-deb: there is no file .*/missing.deb' run --kernel-deb "$work/missing.deb" "$work/s"
refused 2 '--kernel-deb names another kernel than --kernel debug' run --kernel debug --kernel-deb "$work/s" "$work/s"
refused 2 'is not a Debian package that can be unpacked: fetch it again' run --kernel-deb "$work/s" "$work/s"
refused 2 '--root: there is no folder .*/missing' run --root "$work/missing" "$work/s"
refused 2 '--root .* has no bash ip modprobe mount setsid: install' run --root "$work" "$work/s"
refused 2 'MB of memory for 9 guests, this host has [0-9]+: take fewer' run --nodes 9 --mem 65536 "$work/s"
refused 2 'no part is called nonsense' path nonsense
refused 2 'shell needs a terminal' shell </dev/null

# a command that fails in the guest root fails outside
"$lab" chroot sh -c 'exit 9'
expect "the status of a command in the guest root" 9 $?

chmod 755 "$work"
# from a place that anybody may read, wherever this tree lies
mkdir -p "$work/top/tools/testing"
cp -r tools/testing/lab "$work/top/tools/testing/"
chmod -R a+rX "$work/top"
timeout 200 setpriv --reuid nobody --clear-groups "$work/top/tools/testing/lab/lab" run "$work/s" \
	>"$work/out" 2>&1
expect "without root: status" 2 $?
expect_text "without root: says why" 'needs root' "$work/out"
VHCA_CACHE=$work/empty timeout 200 "$lab" path guest-root >"$work/out" 2>&1
expect "a part that is not there: status" 2 $?
expect_text "a part that is not there: says what to do" 'run lab setup' "$work/out"
# A cache on a file system of 100 MB that disappears with its name space.
mkdir "$work/small"
unshare -m sh -c 'mount -t tmpfs -o size=100M tmpfs "$1" && VHCA_CACHE=$1 exec "$2" setup' sh \
	"$work/small" "$lab" >"$work/out" 2>&1
expect "no space: status" 2 $?
expect_text "no space: says how much, where, and what to do" 'needs [3-9][0-9]{3} MB free in .*/small.*set VHCA_CACHE' "$work/out"
exit $bad

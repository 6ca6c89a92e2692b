#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The source tree and the cache may be anywhere, also below /tmp, where users clone to for a test and where
# the roots in which things are built have a file system of their own.
. "$(dirname "$0")/lib.sh"

kdir=$("$lab" path kdir) || exit 1
place=$(mktemp -d /tmp/lab-places.XXXXXX)
trap 'rm -rf --one-file-system "$work" "$place"' EXIT
mkdir -p "$place/top/tools/testing" "$place/cache"
cp -r tools/testing/lab "$place/top/tools/testing/"
there=$place/top/tools/testing/lab/lab

# at NAME COMMAND...: the lab of the copy, whose cache is the one that there is, below /tmp too
at() {
	local name=$1
	shift
	# shellcheck disable=SC2016
	(cd "$place/top" && VHCA_CACHE=$place/cache timeout 1000 unshare -m sh -c '
		mount --bind "$1" "$VHCA_CACHE" && shift && exec "$@"' sh "${kdir%/kdir/data}" "$there" "$@") \
		>"$work/log" 2>&1
	expect "$name" 0 $?
	[ "$bad" = 0 ] || cat "$work/log"
}

# shellcheck disable=SC2016
at "a build finds its sources and its folder, and the cache" chroot sh -ec '
	[ "$PWD" = "$1/top" ]
	test -x tools/testing/lab/lab
	test -r "$1/cache/kdir/data/Makefile"
	mkdir -p build
	echo built >"$1/top/build/file"' sh "$place"
expect "what it has built stays" built "$(cat "$place/top/build/file")"
# shellcheck disable=SC2016
at "what else it writes to /tmp does not" chroot sh -c 'echo gone >"$1/top.gone"' sh "$place"
expect "and is in no place outside" "" "$(ls -d "$place/top.gone" 2>/dev/null)"

# shellcheck disable=SC2016
echo 'test -x /lab/src/tools/testing/lab/lab && echo up' >"$place/top/script"
at "guests boot and find the sources" run --core stock --nodes 1 --timeout 120 "$place/top/script"
expect_text "and say so" '^n1\| up$' "$work/log"
exit $bad

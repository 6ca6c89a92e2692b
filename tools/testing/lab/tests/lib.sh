# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Helpers of the lab's own tests: sourced. They run on the host.
# shellcheck shell=bash
set -uo pipefail
cd "$(dirname "$0")/../../../.." || exit 1
lab=$PWD/tools/testing/lab/lab
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

# expect NAME EXPECTED ACTUAL
expect() {
	if [ "$2" = "$3" ]; then
		echo "ok - $1"
	else
		echo "not ok - $1: expected '$2', got '$3'"
		bad=1
	fi
}

# passes NAME COMMAND...: it succeeds; its output, of which the end is shown, is in $work/log
passes() {
	local name=$1 status=0
	shift
	"$@" >"$work/log" 2>&1 || status=$?
	expect "$name: $(tail -n 20 "$work/log" | tr '\n' ';')" 0 "$status"
}

# expect_text NAME PATTERN FILE: FILE holds a line that matches PATTERN
expect_text() {
	if grep -Eq -- "$2" "$3"; then
		echo "ok - $1"
	else
		echo "not ok - $1: expected /$2/ in:"
		sed 's/^/    /' "$3"
		bad=1
	fi
}

# script NAME: a guest script from standard input
script() {
	{
		echo '#!/bin/bash'
		cat
	} >"$work/$1"
	chmod +x "$work/$1"
}

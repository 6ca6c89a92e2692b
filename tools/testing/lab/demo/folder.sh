# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# Sourced by the demonstrations.

# own_folder DIR: an empty folder, which no other demonstration takes before this one, and all that it has
# begun, has ended
own_folder() {
	local lock
	mkdir -p "$1"
	exec {lock}<"$1"
	flock -n "$lock" || {
		echo "demo: another demonstration writes to $1: wait until it has ended" >&2
		exit 2
	}
	find "$1" -mindepth 1 -delete
}

# logged FILE: FILE gets what the script prints from now on, all of it before the script ends
logged() {
	exec > >(exec tee "$1") 2>&1
	logged_by=$!
	trap 'exec >&- 2>&-; wait "$logged_by"' EXIT
}

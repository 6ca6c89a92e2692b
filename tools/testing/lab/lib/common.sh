# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Shared by every part of the lab: where things lie, how it speaks, how it gives up.

# packaged: whether this is the package vhca-lab, which has what is built in place of all sources
packaged() { [ -e "$TOP/built.tar.xz" ]; }

if packaged; then
	CACHE=${VHCA_CACHE:-/var/cache/vhca}
	BUILD=$CACHE/built/data
	LAB_NAME=vhca-lab
else
	CACHE=${VHCA_CACHE:-/var/cache/vhca-lab}
	BUILD=$TOP/build
	LAB_NAME=lab
fi
# the name by which all parts of it speak
export LAB_NAME
GUEST_SUITE=trixie

# Exit statuses that are the lab's own; anything else is a script's.
EX_USAGE=2	# also: the host lacks something, and the message says what
EX_MIRROR=75	# the package mirror is inconsistent
EX_LAB=125

say() { printf '%s: %s\n' "$LAB_NAME" "$*" >&2; }

die_with() {
	printf '%s: %s\n' "$LAB_NAME" "${*:2}" >&2
	exit "$1"
}

die() { die_with "$EX_LAB" "$@"; }

# lack WHAT AND THE REMEDY: the host, or what the user has named, lacks what this needs
lack() { die_with "$EX_USAGE" "$@"; }

usage_error() {
	printf '%s: %s\n' "$LAB_NAME" "$*" >&2
	exit "$EX_USAGE"
}

# Run a command in name spaces of its own: all that it starts or mounts is gone
# when it ends, or when this shell is killed in any way.
isolated() {
	setpriv --pdeathsig KILL -- \
		unshare --mount --pid --fork --kill-child --mount-proc -- "$@"
}

need_root() {
	[ "$(id -u)" = 0 ] || lack "needs root: run it again with sudo"
}

sha256_of() { sha256sum | cut -c1-16; }

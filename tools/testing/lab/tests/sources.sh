#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Where the lab fetches from, by what the host's /etc/apt says, and what it says where a mirror lacks
# something. The mirror is a folder that is made here.
. "$(dirname "$0")/lib.sh"
lib=$PWD/tools/testing/lab/lib
mkdir -p "$work"/apt/{apt.conf.d,preferences.d,sources.list.d,trusted.gpg.d} "$work/cache" "$work/bin"

# with_apt COMMAND...: where /etc/apt is the one of this test
with_apt() {
	# shellcheck disable=SC2016
	VHCA_CACHE=$work/cache PATH=$work/bin:$PATH timeout 200 \
		unshare -m sh -c 'mount --bind "$1" /etc/apt && shift && exec "$@"' sh "$work/apt" "$@" >"$work/out" 2>"$work/err"
}

# suites NAME EXPECTED ARGUMENTS...: of apt-sources.py, with what stands beside them in the first stanza
suites() {
	local name=$1 expected=$2
	shift 2
	with_apt python3 "$lib/apt-sources.py" "$@"
	expect "$name" "$expected" "$(sed -n 's/^Suites: //p' "$work/out" | paste -sd'|')$(sed -n 's/^Check-/ /p; /^$/q' "$work/out" | tr -d '\n')"
}

cat >"$work/apt/sources.list" <<'S'
deb cdrom:[Debian]/ bookworm main
deb [trusted=yes] http://mirror.invalid/debian bookworm main
deb http://mirror.invalid/debian-security bookworm-security main
S
suites "a release has its updates and security fixes" "trixie trixie-updates|trixie-security" trixie
suites "and others beside it" "trixie trixie-updates trixie-backports|trixie-security" trixie trixie-backports
suites "or none of that" "trixie" --released trixie
suites "the newest suite has neither" "sid" sid
expect "the mirror is the host's" "http://mirror.invalid/debian yes" \
	"$(sed -n 's/^\(URIs\|Trusted\): //p' "$work/out" | paste -sd' ')"
echo 'Acquire::Check-Valid-Until "false";' >"$work/apt/apt.conf.d/expired"
suites "a host that takes lists that have expired does so here, too" "sid Valid-Until: no" sid
sed -i 's/trusted=yes/trusted=yes check-valid-until=yes/' "$work/apt/sources.list"
suites "unless it says otherwise of that source" "sid Valid-Until: yes" sid
rm "$work/apt/apt.conf.d/expired"
echo '# none' >"$work/apt/sources.list"
with_apt python3 "$lib/apt-sources.py" trixie
expect "no source at all: one line" "1 lab: no Debian package source is configured in /etc/apt: add one for this host's release" "$? $(<"$work/err")"

# A mirror with rdma-core of bookworm and libibverbs, of which it lacks what the tests take away
mirror=$work/mirror
mkdir -p "$mirror"/pool "$work/rdma-core/libibverbs"
echo 'int driver;' >"$work/rdma-core/libibverbs/driver.h"
tar -cJf "$mirror/pool/rdma-core_44.0.orig.tar.xz" -C "$work" rdma-core
for one in libibverbs1 libibverbs-dev; do
	mkdir -p "$work/$one/DEBIAN" "$work/$one/usr/lib"
	printf 'Package: %s\nVersion: 44.0-2\nArchitecture: amd64\nMaintainer: nobody\nDescription: none\n' "$one" \
		>"$work/$one/DEBIAN/control"
	echo "$one" >"$work/$one/usr/lib/$one"
	dpkg-deb -Znone --root-owner-group --build "$work/$one" "$mirror/pool/$one.deb" >/dev/null
done
sum() { sha256sum "$1" | cut -d' ' -f1; }
# listed FILE NAME: its line in a list of checksums
listed() { echo " $(sum "$1") $(stat -c %s "$1") $2"; }

# publish: the mirror's lists, for the suites that the lab names
publish() {
	local suite dir deb file
	for suite in trixie trixie-updates bookworm; do
		dir=$mirror/dists/$suite
		mkdir -p "$dir/main/source" "$dir/main/binary-amd64"
		: >"$dir/main/source/Sources"
		: >"$dir/main/binary-amd64/Packages"
		if [ "$suite" = bookworm ]; then
			file=rdma-core_44.0.orig.tar.xz
			printf 'Package: rdma-core\nBinary: libibverbs1, libibverbs-dev\nVersion: 44.0-2\nDirectory: pool\nFormat: 3.0 (quilt)\n' \
				>"$dir/main/source/Sources"
			printf 'Files:\n %s 9 rdma-core.dsc\n%s\n' "$(md5sum </dev/null | cut -c1-32)" \
				" $(md5sum "$mirror/pool/$file" | cut -c1-32) $(stat -c %s "$mirror/pool/$file") $file" >>"$dir/main/source/Sources"
			printf 'Checksums-Sha256:\n %s 9 rdma-core.dsc\n%s\n' "$(sum /dev/null)" "$(listed "$mirror/pool/$file" "$file")" \
				>>"$dir/main/source/Sources"
			for deb in "$mirror"/pool/*.deb; do
				dpkg-deb -f "$deb"
				printf 'Filename: pool/%s\nSize: %s\nSHA256: %s\n\n' "${deb##*/}" "$(stat -c %s "$deb")" "$(sum "$deb")"
			done >"$dir/main/binary-amd64/Packages"
		fi
		{
			printf 'Suite: %s\nCodename: %s\nDate: Thu, 01 Jan 2026 00:00:00 UTC\nArchitectures: amd64\nComponents: main\nSHA256:\n' \
				"$suite" "$suite"
			for file in main/source/Sources main/binary-amd64/Packages; do listed "$dir/$file" "$file"; done
		} >"$dir/Release"
	done
}
publish
echo "deb [trusted=yes] copy:$mirror trixie main" >"$work/apt/sources.list"

# fetched: rdma-core of bookworm, as the lab fetches it
fetched() {
	rm -rf "$work/there"
	with_apt "$lib/fetch-rdma-core" trixie bookworm "$work/there" "$work/brought"
}
# has_source NAME
has_source() {
	expect "$1" "0 int driver; libibverbs1" \
		"$? $(cat "$work/there/source/libibverbs/driver.h" "$work/there/root/usr/lib/libibverbs1" 2>/dev/null | paste -sd' ')"
}

fetched
has_source "a mirror that has all delivers rdma-core of another suite"
mkdir "$work/brought"
mv "$mirror/pool/rdma-core_44.0.orig.tar.xz" "$work/brought/"
fetched
has_source "one that lacks its tarball does so with the user's"
echo other >"$work/brought/rdma-core_44.0.orig.tar.xz"
fetched
expect "with another one of that name it does not" \
	"1 lab: the package mirror has another rdma-core_44.0.orig.tar.xz than lies in $work/brought: remove it, or put the right one there" \
	"$? $(tail -n 1 "$work/err")"
rm -r "$work/brought"
fetched
expect "without one neither: what to do" \
	"1 lab: the package mirror does not deliver rdma-core_44.0.orig.tar.xz: name one in /etc/apt that does, or put that file into $work/brought" \
	"$? $(tail -n 1 "$work/err")"

# A function of the lab's
script part <<'S'
set -euo pipefail
top=$1
shift
LAB=$top/tools/testing/lab/lab LABDIR=$top/tools/testing/lab LIB=$top/tools/testing/lab/lib TOP=$top
export LAB LABDIR LIB TOP
for file in common progress host part parts kernels trees; do . "$LIB/$file.sh"; done
"$@"
S

# lacks NAME PATTERN COMMAND...: in the lab, what it says last, with status 2; nothing is half done
lacks() {
	local name=$1 pattern=$2
	shift 2
	with_apt "$work/part" "$PWD" "$@"
	expect "$name: status" 2 $?
	expect_text "$name: says what to do" "^lab: $pattern" <(tail -n 1 "$work/err")
	expect "$name: nothing is half done" "" "$(find "$work/cache" -maxdepth 1 \( -name '.making-*' -o -name rdma-core-bookworm -o -name 'packages-*' ! -name '*.log' \))"
}
lacks "lab provider bookworm where the mirror lacks the tarball" \
	"rdma-core-bookworm: could not be made: the package mirror does not deliver rdma-core_44.0.orig.tar.xz: name one in /etc/apt that does, or put that file into $work/cache/tarballs \\(log: $work/cache/rdma-core-bookworm.log\\)\$" \
	part_ready rdma-core-bookworm
: >"$mirror/dists/bookworm/main/source/Sources"
sed -i '/Sources$/d' "$mirror/dists/bookworm/Release"
listed "$mirror/dists/bookworm/main/source/Sources" main/source/Sources >>"$mirror/dists/bookworm/Release"
lacks "and where it has no such package" \
	"rdma-core-bookworm: could not be made: the package mirror's source index has no rdma-core of bookworm: name another one in /etc/apt " \
	part_ready rdma-core-bookworm

# apt TEXT: that of guests and of the host fails and says this
apt() {
	printf '#!/bin/sh\necho "%s" >&2\nexit 100\n' "$1" | tee "$work/bin/apt-get" >"$work/bin/chroot"
	chmod +x "$work/bin/apt-get" "$work/bin/chroot"
}
mkdir -p "$work"/cache/guest-root/data/{dev,proc,etc/apt/apt.conf.d,usr/sbin}
: >"$work/cache/guest-root/manifest"
apt "E: Unable to locate package no-such-package"
lacks "a package for guests that there is not" \
	"the packages bc no-such-package could not be installed: Debian trixie has no no-such-package: name others " \
	guest_root_with "no-such-package bc"
apt "Temporary failure resolving mirror.invalid"
lacks "one that cannot be fetched" \
	"the packages bc could not be installed: the package mirror of /etc/apt cannot be reached: connect this host " \
	guest_root_with bc
lacks "packages of the host that cannot be fetched" \
	"host: no-such-package could not be installed: the package mirror of /etc/apt cannot be reached: connect this host .*apt install no-such-package\\)\$" \
	eval 'HOST_TOOLS=no-such-program:no-such-package HOST_LIBS= && host_install'
expect "in one line, behind what it does" 2 "$(wc -l <"$work/err")"
exit $bad

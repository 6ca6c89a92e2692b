#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# What vhca-lab of the packages refuses before it has fetched anything, in one line that says what to do;
# without a package: the files that it has, with nothing built.
. "$(dirname "$0")/lib.sh"

mkdir "$work/bin" "$work/cache"
tools/packaging/lab-tree "$work/vhca-lab"
tar -cJf "$work/vhca-lab/built.tar.xz" -T /dev/null
ln -s "$work/vhca-lab/tools/testing/lab/lab" "$work/bin/vhca-lab"
# programs of packages that it depends on; vhcad does nothing here
ln -s /usr/bin/* "$work/bin/"
ln -sf true "$work/bin/vhcad"
echo true >"$work/s"
export PATH=$work/bin:/usr/sbin VHCA_CACHE=$work/cache

# lacks PATTERN COMMAND...: status 2, its last line says why, no other does; nothing is left half done
lacks() {
	local pattern=$1
	shift
	timeout 200 "$@" >"$work/out" 2>&1
	expect "${*//$work\//}: status" 2 $?
	expect_text "${*//$work\//}: says what to do" "^vhca-lab: .*$pattern" <(tail -n 1 "$work/out")
	expect "${*//$work\//}: nothing is half done" "" "$(find "$work/cache" -maxdepth 1 \( -name '.making-*' -o -name '*-root' \))"
}

# refused PATTERN ARGUMENTS...: the same in one line
refused() {
	local pattern=$1
	shift
	lacks "$pattern" vhca-lab "$@"
	expect "vhca-lab ${*//$work\//}: one line" 1 "$(wc -l <"$work/out")"
}

refused 'no command is called nonsense: see vhca-lab help' nonsense
refused 'chroot is for the source tree, not for this package' chroot true
refused 'no part is called linux-source: see vhca-lab help' path linux-source
refused 'demo takes no arguments' demo debug
refused "--kernel takes one of: stock trixie-backports bookworm-backports; not '5.10'" run --kernel 5.10 "$work/s"
refused "--kernel takes one of: .*; not 'debug'" run --kernel debug "$work/s"
refused '--sanitize is for the source tree' run --sanitize "$work/s"
refused '--kernel-deb: there is no file .*/none.deb' run --kernel-deb "$work/none.deb" "$work/s"
refused '--root .* has no bash ip .*: install' run --root "$work/cache" "$work/s"
refused 'there is no script' run "$work/none"
refused 'MB of memory for 9 guests, this host has [0-9]+: take fewer' run --nodes 9 --mem 65536 "$work/s"

mv "$work/bin/cpio" "$work/cpio"
refused 'packages are missing: apt install cpio$' run "$work/s"
mv "$work/cpio" "$work/bin/cpio"

script on_small_disk <<'S'
mount -t tmpfs -o size=50M tmpfs "$VHCA_CACHE" && exec vhca-lab setup
S
lacks 'needs [0-9]+ MB free in .*/cache, there are [0-9]+: free some, or set VHCA_CACHE' \
	unshare -m "$work/on_small_disk"
lacks 'guest-root: could not be made: the package mirror of /etc/apt cannot be reached: connect this host' \
	unshare --net vhca-lab run "$work/s"

# QEMU's root and the guests' are made at the same time; each waits here until the other has begun
rm "$work/bin/mmdebstrap"
script bin/mmdebstrap <<'S'
cat >/dev/null
root=${*: -2:1} here=guests other=qemu
[[ $* != *qemu-system-x86* ]] || here=qemu other=guests
touch "$VHCA_CACHE/begun.$here"
for ((i = 0; i < 600; i++)); do [ ! -e "$VHCA_CACHE/begun.$other" ] || break; sleep 0.1; done
[ -e "$VHCA_CACHE/begun.$other" ] || exit 1
if [ -e "$VHCA_CACHE/lost" ]; then
	[ $here = qemu ] || exit 1
	exec sleep 1000
fi
mkdir -p "$root/lib64" "$root/usr/lib/modules/6.12.1-other"
printf '#!/bin/sh\necho QEMU emulator version 10.1.0\n' >"$root/lib64/ld-linux-x86-64.so.2"
chmod +x "$root/lib64/ld-linux-x86-64.so.2"
S
touch "$work/cache/lost"
timeout 200 vhca-lab setup >"$work/out" 2>&1
expect "one of two roots cannot be made: status" 125 $?
expect "the other is given up, too" "" "$(find "$work/cache" -maxdepth 1 \( -name '.making-*' -o -name '*-root' \))"
rm "$work/cache"/begun.* "$work/cache/lost"
timeout 200 vhca-lab setup >"$work/out" 2>&1
expect "both can be: they are made at the same time" "guest-root qemu-root" \
	"$(sed -n 's/^vhca-lab: \(.*-root\): made in .*/\1/p' "$work/out" | paste -sd' ')"
expect "and are there" 2 "$(find "$work/cache" -path '*-root/stamp' | wc -l)"

# what is behind the script is the script's own
vhca-lab run --nodes 9 --mem 65536 "$work/s" --sanitize chroot >"$work/out" 2>&1
expect_text "words behind the script are not the lab's" 'MB of memory' "$work/out"
exit $bad

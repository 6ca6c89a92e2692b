#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Guests with a root and with a kernel of the user's, which here are copies of the lab's own.
# long
. "$(dirname "$0")/lib.sh"
root=$("$lab" path guest-root)
release=$(ls "$root/usr/lib/modules")
# as a pattern
named=${release//+/\\+}
cache=$(dirname "$(dirname "$root")")

# The packages are the same in each run, so that the modules that are built for them can stay.
SOURCE_DATE_EPOCH=$(stat -c %Y "$root/boot/vmlinuz-$release")
export SOURCE_DATE_EPOCH

# package NAME FOLDER...: of these folders of the guests' root
package() {
	local name=$1 folder
	shift
	mkdir -p "$work/$name/DEBIAN"
	printf 'Package: %s\nVersion: 1\nArchitecture: amd64\nMaintainer: nobody\nDescription: none\n' "$name" \
		>"$work/$name/DEBIAN/control"
	for folder; do
		mkdir -p "$work/$name/$(dirname "$folder")"
		cp -a "$root/$folder" "$work/$name/$(dirname "$folder")/"
	done
	dpkg-deb -Znone --root-owner-group --build "$work/$name" "$work/$name.deb" >/dev/null
	rm -r "${work:?}/$name"
}
package image "boot/vmlinuz-$release" "usr/lib/modules/$release"
package headers usr/src "$(cd "$root" && echo usr/lib/linux-kbuild-*)"
package neither etc/hostname

script looks <<'S'
echo "$(uname -r) $(modinfo -n vhca) $LAB_DEV"
S
"$lab" run --nodes 1 --root "$root" "$work/looks" >"$work/log" 2>&1
expect "a root of the user's" 0 $?
expect_text "has an adapter" "^n1\| $named .*/updates/vhca.ko vhca0\$" "$work/log"
expect "and is as it was" "" "$(find "$root" -newer "$work/looks" -print -quit)"

before=$(ls -d "$cache"/kernel-deb-* 2>/dev/null)
"$lab" run --nodes 1 --kernel-deb "$work/image.deb" "$work/looks" >"$work/log" 2>&1
expect "a kernel without headers: status" 2 $?
expect_text "and what to do" "lab: no headers of $named .*: name linux-headers-$named" "$work/log"
"$lab" run --nodes 1 --core stock --kernel-deb "$work/image.deb" "$work/looks" >"$work/log" 2>&1
expect "it boots" 0 $?
expect_text "and has its own modules" "^n1\| $named " "$work/log"
"$lab" run --nodes 1 --core distro --kernel-deb "$work/image.deb" --kernel-deb "$work/headers.deb" \
	"$work/looks" >"$work/log" 2>&1
expect "one with headers" 0 $?
expect_text "gets our driver" "^n1\| $named .*/updates/vhca.ko vhca0\$" "$work/log"
# the same by the name of another release
mkdir -p "$work/old/boot" "$work/old/usr/lib/modules"
cp -a "$root/boot/vmlinuz-$release" "$work/old/boot/vmlinuz-5.10.0-old"
cp -a "$root/usr/lib/modules/$release" "$work/old/usr/lib/modules/5.10.0-old"
root=$work/old package old boot usr
rm -r "$work/old"
"$lab" run --nodes 1 --kernel-deb "$work/old.deb" "$work/looks" >"$work/log" 2>&1
expect "a kernel that our modules are not for: status" 2 $?
expect_text "and what to do" \
	"^lab: our modules are for Linux 6.12 and 7, not 5.10.0-old: name such a kernel, or --core stock\$" "$work/log"
"$lab" run --nodes 1 --kernel-deb "$work/neither.deb" "$work/looks" >"$work/log" 2>&1
expect "a package without a kernel: status" 2 $?
expect_text "and why" "^lab: the packages hold no kernel's modules: name those of one kernel" "$work/log"
for one in "$cache"/kernel-deb-*; do
	[[ $before != *"$one"* ]] || continue
	of_it=build/trees-${one##*/kernel-}
	rm -rf --one-file-system "$one"
	if [ -d "$of_it/distro" ]; then trees=$of_it; else rm -rf "$of_it"; fi
done
for one in build/trees-deb-*/of-own_parts; do
	[ "${one%/*}" = "${trees:-}" ] || rm -rf "${one%/*}"
done
[ -z "${trees:-}" ] || : >"$trees/of-own_parts"
exit $bad

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The cache notices damage, stale recipes and interruptions, and repairs without a network
# those parts that need none.
. "$(dirname "$0")/lib.sh"

kdir=$("$lab" path kdir) || exit 1
cache=${kdir%/kdir/data}
"$lab" trees ours || exit 1
tree=build/trees/ours
built=$(stat -c %y $tree/inputs) compiled=$(stat -c %y $tree/foreign/rxe/rxe.o)
copy=$(mktemp -d "$cache/.test.XXXXXX")
trap 'rm -rf --one-file-system "$work" "$copy"' EXIT
for part in guest-root qemu-root linux-source rdma-core-source kdir initramfs stock-kernel; do
	# links to the same files; a part that is made again gets files of its own
	cp -al "$cache/$part" "$copy/" || exit 1
done
"$lab" trees ours || exit 1
expect "links to the cache are no reason to build the modules again" "$built" "$(stat -c %y $tree/inputs)"
rm $tree/inputs
"$lab" trees ours || exit 1
expect "nor to compile the kernel's sources again when it is built" "$compiled" "$(stat -c %y $tree/foreign/rxe/rxe.o)"
made=$(stat -c %y $tree/inputs)
"$lab" trees --own-only ours || exit 1
expect "a whole tree is good where our own modules would do" "$made" "$(stat -c %y $tree/inputs)"
echo "modules of our own alone" >>$tree/inputs
"$lab" trees --own-only ours || exit 1
expect "a tree of our own modules alone is good for that, too" "modules of our own alone" "$(tail -n 1 $tree/inputs)"
"$lab" trees ours || exit 1
expect "but not for a whole one" 0 "$(grep -cx "modules of our own alone" $tree/inputs)"
# roots with more packages only have to be there
ln -s "$cache"/packages-* "$copy/" || exit 1

setup() {
	VHCA_CACHE=$copy unshare -n "$lab" setup parts >"$work/log" 2>&1
	expect "$1: status" 0 $?
}

setup "nothing to do"
expect "nothing to do: nothing is made" 0 "$(grep -c ': making it (log' "$work/log")"

rm "$copy/kdir/data/Module.symvers"
setup "a file is missing"
expect_text "a file is missing: it is said" '^lab: kdir: damaged' "$work/log"
expect "a file is missing: one part is made" 1 "$(grep -c ': making it (log' "$work/log")"
expect "a file is missing: it is back" "$(sha256sum <"$kdir/Module.symvers")" \
	"$(sha256sum <"$copy/kdir/data/Module.symvers")"
expect "no symbol of the distribution's RDMA modules is in it" 0 \
	"$(grep -c drivers/infiniband/ "$copy/kdir/data/Module.symvers")"

cp --remove-destination "$copy/initramfs/data" "$work/image"
rm "$copy/initramfs/data"
head -c 1000 "$work/image" >"$copy/initramfs/data"
setup "a file is cut short"
expect "a file is cut short: it is whole again" "$(stat -c %s "$work/image")" \
	"$(stat -c %s "$copy/initramfs/data")"

rm "$copy/initramfs/stamp"
echo "another recipe" >"$copy/initramfs/stamp"
setup "the recipe has changed"
expect_text "the recipe has changed: the part is made" '^lab: initramfs: made' "$work/log"

# An interruption leaves a half-made part under its temporary name, and no part.
rm -r "$copy/initramfs"
mkdir -p "$copy/.making-initramfs/tree"
echo half >"$copy/.making-initramfs/data"
mkdir -p "$copy/.making-of-another-part"
setup "interrupted"
expect "interrupted: the part is whole" "$(stat -c %s "$work/image")" \
	"$(stat -c %s "$copy/initramfs/data")"
expect "interrupted: nothing half-made is left" 0 "$(find "$copy" -maxdepth 1 -name '.making-*' | wc -l)"
exit $bad

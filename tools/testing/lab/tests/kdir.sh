#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# make with KDIR= does nothing for a kernel that the modules are not for, for one without headers,
# and under the kernel's own core while that is in use; it says in one line what to do.
. "$(dirname "$0")/lib.sh"
unset MAKEFLAGS MAKELEVEL MFLAGS KDIR INSTALL_MOD_PATH
export LC_ALL=C

mkdir -p "$work/kdir/include/config" "$work/bin"
printf 'modules modules_install:\n\t@:\n' >"$work/kdir/Makefile"
# the running kernel
printf '#!/bin/sh\necho 6.12.5-here\n' >"$work/bin/uname"
chmod +x "$work/bin/uname"

# run RELEASE COMMAND...: make without doing anything, for a kernel of that release
run() {
	echo "$1" >"$work/kdir/include/config/kernel.release"
	PATH=$work/bin:$PATH "${@:2}" >"$work/out" 2>"$work/err"
	status=$?
}

# refused NAME PATTERN
refused() {
	expect "$1: status, lines" "2 1" "$status $(wc -l <"$work/err")"
	expect_text "$1: what to do" "$2" "$work/err"
	expect "$1: nothing was to be done" "" "$(<"$work/out")"
}

# taken NAME
taken() {
	expect "$1: status" "0 0" "$status $(wc -l <"$work/err")"
	expect_text "$1: modules are installed" "^depmod .*$(<"$work/kdir/include/config/kernel.release")\$" "$work/out"
}

dry=(make -n --no-print-directory)
for release in 5.10.0-8-amd64 6.1.0-40-amd64 6.13.1 8.0.1; do
	run "$release" "${dry[@]}" modules KDIR="$work/kdir"
	refused "$release" "the modules are for Linux 6.12 and 7, not for $release: name the KDIR"
done
run 6.12.5-here "${dry[@]}" modules KDIR="$work"
refused "no headers" "no headers of a kernel are in $work: apt install linux-headers-6.12.5-here, KDIR=/lib/modules/6"
run 6.12.5-here "${dry[@]}" kbuild
refused "no KDIR" 'make kbuild needs a kernel: make kbuild KDIR=/lib/modules/6.12.5-here/build'
for release in 6.12.5-here 7.0.1; do
	run "$release" "${dry[@]}" modules_install KDIR="$work/kdir"
	taken "$release"
done

# The same where the kernel's core is loaded, or, with CORE, ours.
cat >"$work/loaded" <<'S'
mount -t tmpfs tmpfs /proc
printf '%s Live 0x0\n' 'mlx5_ib 495616 0 -' 'ib_uverbs 200704 1 mlx5_ib,' 'ib_core 524288 2 mlx5_ib,ib_uverbs,' \
	>/proc/modules
echo "0000000000000000 T ${CORE:-rdma_some_other}	[ib_core]" >/proc/kallsyms
exec "$@"
S
loaded=(unshare -m sh "$work/loaded" "${dry[@]}" KDIR="$work/kdir")
run 6.12.5-here "${loaded[@]}" modules modules_install
refused "in use" 'in use \(ib_core mlx5_ib ib_uverbs\): end what uses them, and unload them'
run 6.12.5-here "${loaded[@]}" modules
expect "they may be built: status" 0 "$status"
CORE=rdma_refuse_for run 6.12.5-here "${loaded[@]}" modules_install
taken "in use, and ours"
run 7.0.1 "${loaded[@]}" modules_install
taken "in use, for another kernel"
run 6.12.5-here "${loaded[@]}" modules_install INSTALL_MOD_PATH="$work/there"
taken "in use, for another root"
exit $bad

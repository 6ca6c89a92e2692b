# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The recipes of the cached parts, in the order in which they are made.

PARTS="guest-root qemu-root linux-source rdma-core-source kdir initramfs stock-kernel"
# Made when something asks for them.
LATER_PARTS="kernel-trixie-backports kernel-bookworm-backports tools-root debug-kernel kcsan-kernel
	rdma-core-sid rdma-core-bookworm i386-root"

GUEST_PACKAGES="linux-image-amd64 linux-headers-amd64 gcc make libc6-dev kmod xz-utils
	busybox-static rdma-core ibverbs-utils rdmacm-utils perftest opensm infiniband-diags
	python3-pyverbs libibverbs-dev librdmacm-dev libnl-3-dev libnl-route-3-dev
	iproute2 iputils-ping procps psmisc strace util-linux udev pahole sparse pkg-config"

# Packages that build kernels, check sources and sum up coverage, beside the guests' own.
TOOLS_PACKAGES="flex bison bc libelf-dev libssl-dev cpio clang coccinelle codespell gcovr
	libcmocka-dev libisal-dev libjson-c-dev zlib1g-dev libseccomp-dev bpftool"

# Packages that build and test the provider for 32-bit programs, and such programs.
I386_PACKAGES="gcc make libc6-dev libibverbs-dev libcmocka-dev python3 ibverbs-utils perftest
	python3-pyverbs iproute2"

QEMU_LEAST=10.1

lines() { tr -s ' \t\n' '\n' | sed '/^$/d'; }
commas() { lines | paste -sd,; }

guest_kernel() { cat "$CACHE/guest-root/kernel"; }

# The stock guest. The sources of its packages are fetched at the same time from the
# same indexes, so that they have the same version.
recipe_guest_root() {
	echo "2 $GUEST_SUITE"
	lines <<<"$GUEST_PACKAGES"
	cat "$LIB/fetch-sources"
}
make_guest_root() {
	mkdir "$1/sources"
	python3 "$LIB/apt-sources.py" "$GUEST_SUITE" |
		mmdebstrap --variant=minbase --include="$(commas <<<"$GUEST_PACKAGES")" \
			--customize-hook="$LIB/fetch-sources \"\$1\" $1/sources" \
			"$GUEST_SUITE" "$1/data" -
	ls "$1/data/usr/lib/modules" >"$1/kernel"
	[ "$(wc -l <"$1/kernel")" = 1 ] || die "guest-root: expected one kernel, found: $(paste -sd' ' "$1/kernel")"
	mkdir -p "$1/data/lab" "$1/data/lab-core"
}

# QEMU lives in a root of its own and is run through that root's dynamic loader.
recipe_qemu_root() { echo "1 $GUEST_SUITE-backports $QEMU_LEAST"; }
make_qemu_root() {
	local version
	python3 "$LIB/apt-sources.py" "$GUEST_SUITE" "$GUEST_SUITE-backports" |
		mmdebstrap --variant=minbase --aptopt="APT::Default-Release \"$GUEST_SUITE-backports\"" --include=qemu-system-x86 \
			"$GUEST_SUITE" "$1/data" - ||
		die "no QEMU from $GUEST_SUITE-backports: the host's package mirror must carry that suite"
	version=$(qemu_of "$1/data" --version | sed -n 's/^QEMU emulator version \([0-9.]*\).*/\1/p')
	dpkg --compare-versions "$version" ge "$QEMU_LEAST" ||
		die "QEMU $QEMU_LEAST or later is needed for vfio-user-pci and the package mirror offers $version: its $GUEST_SUITE-backports is out of date"
}
qemu_of() {
	local root=$1
	shift
	"$root/lib64/ld-linux-x86-64.so.2" --library-path "$root/usr/lib/x86_64-linux-gnu" \
		"$root/usr/bin/qemu-system-x86_64" "$@"
}

recipe_linux_source() { echo "1 $(guest_kernel)"; }
make_linux_source() {
	mkdir "$1/data"
	dpkg-deb --fsys-tarfile "$CACHE"/guest-root/sources/linux-source-*.deb |
		tar -xO --wildcards './usr/src/linux-source-*.tar.xz' |
		tar -xJ -C "$1/data" --strip-components=1
	[ -d "$1/data/drivers/infiniband/core" ] || die "linux-source: the package holds no kernel source"
}

recipe_rdma_core_source() { echo "1 $(ls "$CACHE/guest-root/sources")"; }
make_rdma_core_source() {
	local orig debian patches
	orig=$(ls "$CACHE"/guest-root/sources/rdma-core_*.orig.tar.*)
	debian=$(ls "$CACHE"/guest-root/sources/rdma-core_*.debian.tar.*)
	mkdir "$1/data"
	tar -xf "$orig" -C "$1/data" --strip-components=1
	tar -xf "$debian" -C "$1/data"
	patches=$1/data/debian/patches
	if [ -r "$patches/series" ]; then
		sed 's/#.*//; /^\s*$/d' "$patches/series" | while read -r patch _; do
			patch -d "$1/data" -p1 -s <"$patches/$patch"
		done
	fi
	[ -r "$1/data/libibverbs/driver.h" ] || die "rdma-core-source: the tarball holds no libibverbs"
}

# rdma-core of another suite than the guests': source, and libibverbs to link with.
recipe_rdma_core_sid() { echo "1 sid" && cat "$LIB/fetch-rdma-core"; }
make_rdma_core_sid() { "$LIB/fetch-rdma-core" "$GUEST_SUITE" sid "$1/data" "$CACHE/tarballs"; }
recipe_rdma_core_bookworm() { echo "1 bookworm" && cat "$LIB/fetch-rdma-core"; }
make_rdma_core_bookworm() { "$LIB/fetch-rdma-core" "$GUEST_SUITE" bookworm "$1/data" "$CACHE/tarballs"; }

# The header package's build folder without the symbols of the distribution's RDMA
# modules: a symbol that we forgot to provide must not resolve to theirs.
recipe_kdir() { echo "1 $(guest_kernel)"; }
make_kdir() {
	mkdir "$1/data"
	cp -a "$CACHE/guest-root/data/usr/src/linux-headers-$(guest_kernel)/." "$1/data/"
	sed -i '\|\tdrivers/infiniband/|d' "$1/data/Module.symvers"
	# They lead out of the folder by relative paths, into the guest root.
	local link
	for link in scripts tools; do
		ln -sfn "$(cd "$CACHE/guest-root/data/usr/src/linux-headers-$(guest_kernel)" &&
			readlink "$link" | sed 's|^\.\./\.\./|/usr/|')" "$1/data/$link"
	done
}

recipe_initramfs() {
	echo "1 $(guest_kernel)"
	cat "$LIB/make-initramfs.py" "$LABDIR/guest/initramfs-init"
}
make_initramfs() {
	python3 "$LIB/make-initramfs.py" "$CACHE/guest-root/data" "$(guest_kernel)" \
		"$LABDIR/guest/initramfs-init" "$1/tree"
	(cd "$1/tree" && find . | LC_ALL=C sort | cpio -o -H newc --quiet -R 0:0) >"$1/data"
	rm -r "$1/tree"
}

# The root in which kernels are built and sources are checked: the guest root's compiler
# and headers, and more tools than a guest needs.
recipe_tools_root() {
	echo 1
	recipe_guest_root
	lines <<<"$TOOLS_PACKAGES"
	cat "$LIB/add-packages"
}
make_tools_root() {
	cp -a "$CACHE/guest-root/data" "$1/data"
	"$LIB/add-packages" "$1/data" "$(lines <<<"$TOOLS_PACKAGES" | paste -sd' ')"
}

# A 32-bit root, of the guests' suite as it was released, whose programs run in guests too. It has
# no part of the system that they could get in the way of.
recipe_i386_root() { echo "1 $GUEST_SUITE" && lines <<<"$I386_PACKAGES"; }
make_i386_root() {
	python3 "$LIB/apt-sources.py" --released "$GUEST_SUITE" |
		mmdebstrap --architectures=i386 --variant=minbase --include="$(commas <<<"$I386_PACKAGES")" \
			"$GUEST_SUITE" "$1/data" -
}

# The distribution's kernel, unpacked: unpacking takes a tenth of the boot where every instruction
# is emulated. QEMU enters it where a Xen PVH guest begins. (A kernel with KASAN cannot be entered
# there: it would use shadow memory before it is mapped.)
recipe_stock_kernel() { echo "1 $(guest_kernel)"; }
make_stock_kernel() {
	"$(part_path linux-source)/scripts/extract-vmlinux" \
		"$(part_path guest-root)/boot/vmlinuz-$(guest_kernel)" >"$1/data" ||
		die "stock-kernel: nothing on this host unpacks the guests' kernel"
}

# The debug kernel is the kernel's own source with its own RDMA: our modules are built
# against it and laid over, so that a change of ours never asks for another kernel.
recipe_debug_kernel() {
	echo "1 $(guest_kernel)"
	cat "$TOP/tools/testing/kunit/debug.config" "$LIB/build-kernel" "$LIB/make-initramfs.py" \
		"$LABDIR/guest/initramfs-init"
}
make_debug_kernel() {
	WRITABLE=$1 "$LIB/enter-guest-root" "$(part_path tools-root)" "$TOP" "$CACHE" \
		"$LIB/build-kernel" "$(part_path linux-source)" "$1/data" "$TOP/tools/testing/kunit/debug.config"
	python3 "$LIB/make-initramfs.py" "$CACHE/guest-root/data" - "$LABDIR/guest/initramfs-init" "$1/tree"
	(cd "$1/tree" && find . | LC_ALL=C sort | cpio -o -H newc --quiet -R 0:0) >"$1/data/initramfs"
	rm -r "$1/tree"
}

# The same with a checker that excludes the others. Both boot with the same initramfs.
recipe_kcsan_kernel() {
	recipe_debug_kernel
	cat "$TOP/tools/testing/kunit/kcsan.config"
}
make_kcsan_kernel() {
	config_over "$TOP/tools/testing/kunit/debug.config" "$TOP/tools/testing/kunit/kcsan.config" >"$1/config"
	WRITABLE=$1 "$LIB/enter-guest-root" "$(part_path tools-root)" "$TOP" "$CACHE" env KCSAN_SANITIZE=n \
		"$LIB/build-kernel" "$(part_path linux-source)" "$1/data" "$1/config"
	cp "$(part_path debug-kernel)/initramfs" "$1/data/initramfs"
}

# config_over BELOW ABOVE: both, without what ABOVE says differently
config_over() {
	local option='s/^\(# \)\?\(CONFIG_[A-Z0-9_]*\)\( is not set\|=\).*/\2/p'
	sed -n "$option" "$2" | sed 's/.*/^(# )?&( is not set|=)/' | grep -vEf - "$1"
	cat "$2"
}

# Kernels of other suites: their packages, unpacked, and what make_bootable() makes of them.
recipe_kernel_trixie_backports() { recipe_of_kernel trixie-backports; }
make_kernel_trixie_backports() { make_kernel_of "$1" trixie-backports; }
recipe_kernel_bookworm_backports() { recipe_of_kernel bookworm-backports; }
make_kernel_bookworm_backports() { make_kernel_of "$1" bookworm-backports; }

# parts_made NAME...: one after the other
parts_made() {
	local name
	for name; do part_ready "$name"; done
}

# parts_ready [verify] [NAME...]: make every part that is not there. Without verify a part with the
# right stamp is trusted; when all are there, the network is not used and nothing is printed.
# NAMEs are later parts, in the order in which they depend on each other.
parts_ready() {
	local name missing=() verify=''
	[ "${1:-}" != verify ] || { verify=1; shift; }
	for name in $PARTS "$@"; do
		part_stamped "$name" || missing+=("$name")
	done
	[ -n "${missing[*]}$verify" ] || return 0
	host_check
	mkdir -p "$CACHE/.chroot"
	exec {setup_lock}>"$CACHE/.lock"
	flock -n "$setup_lock" || {
		say "another lab is setting up $CACHE: waiting for it"
		flock "$setup_lock"
	}
	# left by an interruption: a process that makes a part holds that lock
	rm -rf --one-file-system "${CACHE:?}"/.making-*
	host_install
	space_check "${missing[@]}"
	progress_of "${missing[@]}"
	# shellcheck disable=SC2086
	parts_made $PARTS "$@"
	exec {setup_lock}>&-
}

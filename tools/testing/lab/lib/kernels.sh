# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The kernels that guests boot: stock, the distribution's; debug, from the same source with
# checkers, fault injection and gcov; kcsan, the same with the checker of data races alone; builtin,
# the debug kernel with our RDMA and its unit tests built in, which is rebuilt in this source tree
# whenever something has changed; those of other suites of Debian's, and of packages that the user names
# (deb-DIGEST), which bring their own modules.
KERNELS="stock debug builtin kcsan trixie-backports bookworm-backports"

# brought KERNEL: whether it comes as packages beside the guests' root
brought() { [[ $1 = *-backports || $1 = deb-* ]]; }

# checking KERNEL: whether it is one with checkers, which is slow and needs memory
checking() { [ "$1" != stock ] && ! brought "$1"; }

# kernel_parts KERNEL: the later parts that it needs, in the order in which they are made.
kernel_parts() {
	case $1 in
	stock | deb-*) ;;
	*-backports) echo "kernel-$1" ;;
	kcsan) echo tools-root debug-kernel kcsan-kernel ;;
	*) echo tools-root debug-kernel ;;
	esac
}

# kernel_part KERNEL: the part that holds one that is not stock
kernel_part() {
	case $1 in
	builtin) echo debug-kernel ;;
	*-backports | deb-*) echo "kernel-$1" ;;
	*) echo "$1-kernel" ;;
	esac
}

kernel_release() {
	case $1 in
	stock) guest_kernel ;;
	*-backports | deb-*) cat "$(part_path "kernel-$1")/release" ;;
	*) cat "$(part_path "$(kernel_part "$1")")/include/config/kernel.release" ;;
	esac
}

kernel_image() {
	case $1 in
	stock) part_path stock-kernel ;;
	*-backports | deb-*) echo "$(part_path "kernel-$1")/vmlinux" ;;
	builtin) echo "$BUILD/builtin/bzImage" ;;
	*) echo "$(part_path "$(kernel_part "$1")")/arch/x86/boot/bzImage" ;;
	esac
}

kernel_initramfs() {
	case $1 in
	stock) part_path initramfs ;;
	*) echo "$(part_path "$(kernel_part "$1")")/initramfs" ;;
	esac
}

# The folder of its modules, where the guest root does not hold them.
kernel_modules() {
	case $1 in
	stock | builtin) ;;
	*) echo "$(part_path "$(kernel_part "$1")")/root/usr/lib/modules" ;;
	esac
}

kernel_kdir() {
	case $1 in
	stock) part_path kdir ;;
	*-backports | deb-*) echo "$(part_path "kernel-$1")/root/usr/src/linux-headers-$(kernel_release "$1")" ;;
	*) part_path "$(kernel_part "$1")" ;;
	esac
}

trees_dir() {
	case $1 in
	stock) echo "$BUILD/trees" ;;
	*) echo "$BUILD/trees-$1" ;;
	esac
}

builtin_ready() {
	local folder dir=$BUILD/builtin obj
	obj=$(part_path debug-kernel)
	build_lock
	mkdir -p "$dir"
	# Objects of another debug kernel are of no use.
	if ! cmp -s "$obj/../stamp" "$dir/stamp"; then
		rm -rf --one-file-system "$dir/upper" "$dir/work" "$dir/configured"
		cp "$obj/../stamp" "$dir/stamp"
	fi
	for folder in drivers/infiniband include/rdma include/uapi/rdma; do
		mkdir -p "$dir/ours/$folder"
		rsync -a --delete --prune-empty-dirs --exclude='*.mod.c' --include='*/' --include='*.[chS]' \
			--include=Makefile --include='Kconfig*' --exclude='*' "$TOP/$folder/" "$dir/ours/$folder/"
	done
	quietly builtin in_root tools-root "$LIB/build-builtin" "$(part_path linux-source)" "$obj" "$dir/ours" "$dir"
	build_unlock
}

recipe_of_kernel() {
	echo "1 $1 $(guest_kernel)"
	cat "$LIB/fetch-kernel" "$LIB/unpack-kernel.py" "$LIB/make-initramfs.py" "$LABDIR/guest/initramfs-init"
	declare -f make_bootable
}

# make_kernel_of DIR SUITE
make_kernel_of() {
	mkdir "$1/data"
	"$LIB/fetch-kernel" "$GUEST_SUITE" "$2" "$1/debs"
	make_bootable "$1/data" "$1"/debs/*.deb
	rm -r "$1/debs"
}

# make_bootable DIR PACKAGE...: a kernel's packages in DIR/root, and beside it what a guest boots. The
# symbols of its own RDMA modules, if there are headers, are in a file of their own.
make_bootable() {
	local dir=$1 root=$1/root package release image headers
	shift
	mkdir -p "$root/usr/lib/modules" "$root/usr/bin"
	for package; do
		dpkg-deb -x "$package" "$root" 2>/dev/null || lack "$package is not a Debian package that can be unpacked: fetch it again"
	done
	# from a suite whose /lib is no link to /usr/lib
	if [ -d "$root/lib" ]; then
		cp -a "$root/lib/." "$root/usr/lib/"
		rm -r "${root:?}/lib"
	fi
	release=$(cd "$root/usr/lib/modules" && ls)
	[ "$(wc -w <<<"$release")" = 1 ] ||
		lack "the packages hold $([ -z "$release" ] && echo no || echo "more than one") kernel's modules: name those of one kernel"
	mkdir -p "$root/boot"
	image=$(find "$root/boot" "$root/usr/lib/modules/$release" -name 'vmlinuz*' -type f -print -quit)
	[ -n "$image" ] || lack "the packages hold no kernel image: name linux-image-$release, and what that depends on"
	echo "$release" >"$dir/release"
	python3 "$LIB/unpack-kernel.py" "$image" >"$dir/vmlinux"
	ln -s usr/lib "$root/lib"
	isolated env WRITABLE="$dir" "$LIB/enter-guest-root" "$(part_path guest-root)" "$TOP" "$CACHE" \
		depmod -b "$root" "$release"
	rm "$root/lib"
	cp "$(part_path guest-root)/usr/bin/busybox" "$root/usr/bin/"
	python3 "$LIB/make-initramfs.py" "$root" "$release" "$LABDIR/guest/initramfs-init" "$dir/tree"
	(cd "$dir/tree" && find . | LC_ALL=C sort | cpio -o -H newc --quiet -R 0:0) >"$dir/initramfs"
	rm -r "$dir/tree" "${root:?}/usr/bin"
	headers=$root/usr/src/linux-headers-$release
	[ ! -d "$headers" ] || {
		cp "$headers/Module.symvers" "$headers/Module.symvers.stock"
		sed -i '/\tdrivers\/infiniband\//d' "$headers/Module.symvers"
	}
}

# kernel_of_packages PACKAGE...: sets opt_kernel to that of these packages, which are unpacked once
kernel_of_packages() {
	local package digest name making
	digest=$({ sha256sum -- "$@" | cut -d' ' -f1; recipe_of_kernel deb; } | sha256_of)
	opt_kernel=deb-$digest name=kernel-deb-$digest
	[ ! -d "$CACHE/$name" ] || return 0
	exec {making}>"$CACHE/.lock"
	flock "$making"
	if [ ! -d "$CACHE/$name" ]; then
		space_check "$name"
		rm -rf --one-file-system "$CACHE/.making-$name"
		mkdir -p "$CACHE/.making-$name/data"
		"$LAB" __bootable "$CACHE/.making-$name/data" "$@" || {
			local status=$?
			rm -rf --one-file-system "$CACHE/.making-$name"
			exit "$status"
		}
		mv "$CACHE/.making-$name" "$CACHE/$name"
	fi
	exec {making}>&-
}

# kernel_can KERNEL CORE...: refuse cores that cannot be had for a kernel that comes as packages
kernel_can() {
	local kernel=$1 core release
	brought "$kernel" || return 0
	shift
	release=$(kernel_release "$kernel")
	for core; do
		case $core-$release in
		stock-*) continue ;;
		*-6.12[.-]* | *-7.*) ;;
		*) lack "our modules are for Linux 6.12 and 7, not $release: name such a kernel, or --core stock" ;;
		esac
		[ -d "$(kernel_kdir "$kernel")" ] ||
			lack "no headers of $release to build modules with: name linux-headers-$release, its -common and linux-kbuild too"
	done
}

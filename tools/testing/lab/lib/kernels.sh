# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The kernels that guests boot: stock, the distribution's; debug, from the same source with
# checkers, fault injection and gcov; kcsan, the same with the checker of data races alone; builtin,
# the debug kernel with our RDMA and its unit tests built in, which is rebuilt in this source tree
# whenever something has changed.

# kernel_parts KERNEL: the later parts that it needs, in the order in which they are made.
kernel_parts() {
	case $1 in
	stock) ;;
	kcsan) echo tools-root debug-kernel kcsan-kernel ;;
	*) echo tools-root debug-kernel ;;
	esac
}

# kernel_part KERNEL: the part that holds one that is not stock
kernel_part() {
	case $1 in
	builtin) echo debug-kernel ;;
	*) echo "$1-kernel" ;;
	esac
}

kernel_release() {
	case $1 in
	stock) guest_kernel ;;
	*) cat "$(part_path "$(kernel_part "$1")")/include/config/kernel.release" ;;
	esac
}

kernel_image() {
	case $1 in
	stock) part_path stock-kernel ;;
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

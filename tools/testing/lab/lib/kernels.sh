# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The kernels that guests boot: stock, the distribution's, and debug, of the same source.

# kernel_parts KERNEL: the later parts that it needs, in the order in which they are made.
kernel_parts() {
	[ "$1" != debug ] || echo tools-root debug-kernel
}

kernel_release() {
	case $1 in
	stock) guest_kernel ;;
	debug) cat "$(part_path debug-kernel)/include/config/kernel.release" ;;
	esac
}

kernel_image() {
	case $1 in
	stock) echo "$(part_path guest-root)/boot/vmlinuz-$(guest_kernel)" ;;
	debug) echo "$(part_path debug-kernel)/arch/x86/boot/bzImage" ;;
	esac
}

kernel_initramfs() {
	case $1 in
	stock) part_path initramfs ;;
	debug) echo "$(part_path debug-kernel)/initramfs" ;;
	esac
}

# The folder of its modules, where the guest root does not hold them.
kernel_modules() {
	[ "$1" != debug ] || echo "$(part_path debug-kernel)/root/usr/lib/modules"
}

kernel_kdir() {
	case $1 in
	stock) part_path kdir ;;
	debug) part_path debug-kernel ;;
	esac
}

trees_dir() {
	case $1 in
	stock) echo "$BUILD/trees" ;;
	*) echo "$BUILD/trees-$1" ;;
	esac
}

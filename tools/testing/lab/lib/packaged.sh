# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# What is otherwise where the lab is the package vhca-lab: nothing of the project is built but modules for
# kernels that the package has none for, and the guests' root has only what programs need to run. Sourced
# after the others.

# nothing is left beside the package's own files
export PYTHONDONTWRITEBYTECODE=1

PARTS="built guest-root qemu-root initramfs stock-kernel"
KERNELS="stock trixie-backports bookworm-backports"
LATER_PARTS="kernel-trixie-backports kernel-bookworm-backports"

GUEST_PACKAGES="linux-image-amd64 kmod xz-utils busybox-static rdma-core ibverbs-utils rdmacm-utils
	perftest opensm infiniband-diags python3-pyverbs iproute2 iputils-ping procps psmisc util-linux
	mount udev"

# with which modules are built
BUILDING_PACKAGES="gcc make libc6-dev libelf1t64 pahole"

HOST_TOOLS="mmdebstrap:mmdebstrap arch-test:arch-test cpio:cpio xz:xz-utils zstd:zstd tshark:tshark
	dot:graphviz python3:python3 vhcad:vhcad unshare:util-linux setpriv:util-linux flock:util-linux"
HOST_LIBS=debian-archive-keyring

usage() {
	cat <<'EOF'
usage:
  vhca-lab run [options] SCRIPT [ARGUMENTS]
                              boot guests, run SCRIPT as root in each of them
  vhca-lab shell [options]    the same guests, interactive
  vhca-lab demo               programs in two guests, figures, packets, a page
  vhca-lab setup              fetch what guests are made of; the others do so, too, when they need it
  vhca-lab path NAME          where a part of that lies: guest-root, qemu-root, initramfs,
                              kernel-trixie-backports, kernel-bookworm-backports
  vhca-lab help               this

options of run and shell:
  --nodes N (2)               guests: node1 to nodeN, addresses 10.77.0.1 to 10.77.0.N
  --kernel stock|trixie-backports|bookworm-backports
                              the kernel of Debian 13 (default) | those of other suites
  --kernel-deb FILE           a kernel by its Debian packages: image, and headers to build modules
                              with (may be repeated)
  --root DIR                  the guests' root is this one, which they do not change
  --core ours|distro|stock[,...]
                              modules: ours (default) | the kernel's own core and our driver | the
                              kernel's own alone; several: SCRIPT runs on one after the other
  --core-of K=CORE            the modules of guest K, where --core names one (may be repeated)
  --load auto|modules|none    load and wait for ACTIVE (default) | load only | leave it to SCRIPT
  --hca N (1)  --ports N (1)  adapters of each guest (0: none), ports of each
  --hca-of K=N                adapters of guest K (may be repeated)
  --link ib|eth[,ib|eth]      link layer of the ports, or of port 1 and port 2
  --link-of K=ib|eth[,ib|eth] the same for guest K (may be repeated)
  --subnet static|none|opensm who gives ports their addresses: vhcad (default) | nobody, or SCRIPT |
                              opensm in node1
  --device-arg ARG            passed to vhcad (may be repeated)
  --append "WORDS"            added to the kernel's command line (may be repeated)
  --cpus N (1)  --mem MB (1024)  --irq msix|msi  --iommu  --pciehp  --icount
  --pin                       for measurements: the guests' processors on those of the host
  --packages "a b"            more Debian packages in the guests
  --confined                  vhcad has to give up its rights
  --capture                   capture the fabric into DIR/capture.pcapng
  --timeout S (300)           give up when nothing new was heard from a guest for S seconds
  --out DIR                   where /lab/out of the guests, consoles, vhcad's log and captures land

in a guest: LAB_NODE, LAB_NODES, LAB_DEV (the first RDMA device), LAB_OUT, and the commands lab-barrier NAME,
lab-fault, lab-vhcactl, lab-core, lab-load, lab-unload, lab-opensm, lab-end: see vhca-lab(1)

exit status: the worst of the guests' (4, a skip, counts less than any other failure); 2 usage, or
    something is missing and the message says what to do; 120 a report of a guest's kernel; 124 time-out;
    125 the lab itself failed (75: the package mirror is inconsistent)
EOF
}

# packaged_command COMMAND [WORD...]: refuse what only a source tree can do
packaged_command() {
	case $1 in
	tools | trees | provider | chroot) usage_error "$1 is for the source tree, not for this package" ;;
	demo) [ $# = 1 ] || usage_error "demo takes no arguments" ;;
	path)
		case ${2:-} in
		'' | guest-root | qemu-root | initramfs | kernel-trixie-backports | kernel-bookworm-backports) ;;
		*) usage_error "no part is called $2: see $LAB_NAME help" ;;
		esac
		;;
	esac
}

# packaged_options: the same for what run_options() has read
packaged_options() {
	[ -z "$opt_sanitize" ] || usage_error "--sanitize is for the source tree, not for this package"
	[ -z "$opt_i386" ] || usage_error "--i386 is for the source tree, not for this package"
}

# The package depends on all of these, and installs nothing by itself.
host_install() {
	local missing
	mapfile -t missing < <(host_missing | sort -u)
	[ ${#missing[@]} = 0 ] || lack "packages are missing: apt install ${missing[*]}"
}

# Module trees, the provider and our programs.
recipe_built() {
	echo 1
	sha256sum <"$TOP/built.tar.xz"
}
make_built() {
	mkdir "$1/data"
	tar -xJf "$TOP/built.tar.xz" -C "$1/data"
}

recipe_guest_root() {
	echo "1 $GUEST_SUITE"
	lines <<<"$GUEST_PACKAGES"
}
make_guest_root() {
	python3 "$LIB/apt-sources.py" "$GUEST_SUITE" | sed 's/^Types: .*/Types: deb/' |
		mmdebstrap --variant=minbase --include="$(commas <<<"$GUEST_PACKAGES")" "$GUEST_SUITE" "$1/data" -
	ls "$1/data/usr/lib/modules" >"$1/kernel"
	[ "$(wc -l <"$1/kernel")" = 1 ] || die "guest-root: expected one kernel, found: $(paste -sd' ' "$1/kernel")"
	mkdir -p "$1/data/lab" "$1/data/lab-core"
}

recipe_stock_kernel() {
	guest_kernel
	cat "$LIB/unpack-kernel.py"
}
make_stock_kernel() {
	python3 "$LIB/unpack-kernel.py" "$(part_path guest-root)/boot/vmlinuz-$(guest_kernel)" >"$1/data"
}

# QEMU's root needs nothing of the guests' and is made beside it. What is said of it comes in its turn.
qemu_root_beside() {
	progress_total=0
	progress_made() { :; }
	part_ready qemu-root
}

end_qemu_root() {
	kill "$beside" 2>/dev/null || true
	wait "$beside" 2>/dev/null || true
	rm -rf --one-file-system "$CACHE/.making-qemu-root" "$CACHE/.said" || true
}

parts_made() {
	local name status=0
	beside=
	if ! part_stamped qemu-root; then
		qemu_root_beside 2>"$CACHE/.said" &
		beside=$!
		trap end_qemu_root EXIT
	fi
	for name; do
		if [ "$name" != qemu-root ] || [ -z "$beside" ]; then
			part_ready "$name"
			continue
		fi
		wait "$beside" || status=$?
		trap - EXIT
		cat "$CACHE/.said" >&2
		rm "$CACHE/.said"
		[ "$status" = 0 ] || exit "$status"
		progress_done=$((progress_done + $(progress_expected qemu-root)))
	done
}

test_roots_ready() { :; }

# fits KERNEL: the package has modules for it. The mirror may have got a newer one of the guests' suite.
fits() { [ "$1" = stock ] && [ "$(cat "$BUILD/kernel")" = "$(guest_kernel)" ]; }

trees_dir() {
	if fits "$1"; then
		echo "$BUILD/trees"
	else
		echo "$CACHE/trees-$(kernel_release "$1")"
	fi
}

trees_ready() {
	local dir
	! fits "$1" || return 0
	dir=$(trees_dir "$1")
	mkdir -p "$dir"
	WRITABLE=$dir trees_built "$@"
}

# The sources change with the package alone, and with them what was built of them.
tree_inputs() {
	kernel_release "$1"
	sha256sum <"$TOP/built.tar.xz"
}

stock_sources() { :; }

building_root() {
	if brought "$1"; then
		printf '%s:' "$(part_path "kernel-$1")/root"
		guest_root_with "$BUILDING_PACKAGES"
	else
		guest_root_with "$BUILDING_PACKAGES linux-headers-$(guest_kernel)"
	fi
}

kernel_kdir() {
	case $1 in
	stock) echo "/usr/src/linux-headers-$(guest_kernel)" ;;
	*) echo "$(part_path "kernel-$1")/root/usr/src/linux-headers-$(kernel_release "$1")" ;;
	esac
}

build_lock() {
	exec {lock}>"$CACHE/.trees"
	flock "$lock"
}

quietly() {
	local what=$1 log=$CACHE/log.$1
	shift
	"$@" >"$log" 2>&1 && return
	tail -n 25 "$log" >&2
	die "$what does not build: the whole log is $log"
}

addon_ready() {
	local built
	built=$(cat "$BUILD/rdma-core")
	[ "$built" = "$(rdma_core_of "$(part_path guest-root)")" ] ||
		lack "this package has a provider for rdma-core $built, and the guests have another: install a newer vhca-lab"
}

daemon_ready() { :; }

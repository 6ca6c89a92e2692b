# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# What is built from this source tree for the guests: module trees, the provider, the
# daemon. It lies under build/ and is brought up to date by make before every run.

# in_root PART COMMAND...: run a command in the guest root or the tools root. This source tree and the cache are at their own
# paths; whatever else is written goes to memory and is gone afterwards.
in_root() {
	local part=$1
	shift
	in_folder "$(part_path "$part")" "$@"
}

# in_folder ROOT COMMAND...: the same in a root by its folder
in_folder() {
	[ $# -gt 1 ] || usage_error "chroot takes a command"
	need_root
	local root=$1 status=0
	shift
	cache_used
	isolated "$LIB/enter-guest-root" "$root" "$TOP" "$CACHE" "$@" || status=$?
	cache_released
	return "$status"
}

build_lock() {
	mkdir -p "$BUILD"
	exec {lock}>"$BUILD/.lock"
	flock "$lock"
}

build_unlock() { exec {lock}>&-; }

# not_built WHAT: gives up, and shows the end of its log
not_built() {
	tail -n 25 "$BUILD/log.$1" >&2
	die "$1 does not build: the whole log is $BUILD/log.$1"
}

# Run a build step quietly; its output is shown when it fails.
quietly() {
	local what=$1
	shift
	"$@" >"$BUILD/log.$what" 2>&1 || not_built "$what"
}

# tree_inputs KERNEL: list the files from which a module tree is made, each with its size and
# ctime, which no program can set. The kernel's configuration has its mtime instead, as in the
# manifest of its part: a link to the cached file changes its ctime.
tree_inputs() {
	kernel_release "$1"
	find "$(kernel_kdir "$1")/include/config/auto.conf" -printf '%p %s %T@\n'
	find "$TOP/Kbuild" "$TOP/drivers" "$TOP/include" "$TOP/tools/testing/selftests/rdma/kverbs" \
		"$LIB/build-tree" -type f \( -name '*.[chS]' -o -name Makefile -o -name 'Kbuild*' -o -name 'Kconfig*' \
		-o -name build-tree \) ! -name '*.mod.c' -printf '%p %s %C@\n' | LC_ALL=C sort
}

# building_root KERNEL: where its modules are built: the guests' root, and over it the kernel's packages
building_root() {
	! brought "$1" || printf '%s:' "$(part_path "kernel-$1")/root"
	part_path guest-root
}

# kdir_there KERNEL: the path of its build folder there
kdir_there() {
	local kdir
	kdir=$(kernel_kdir "$1")
	! brought "$1" || kdir=${kdir#"$(part_path "kernel-$1")/root"}
	echo "$kdir"
}

# stock_sources KERNEL: the source of which the tree has modules of the kernel's own, too
stock_sources() { brought "$1" || part_path linux-source; }

# trees_ready KERNEL [TREE...]
trees_ready() { trees_built "$@"; }

# trees_built KERNEL [TREE...]: they are built here, without Linux's own modules where $opt_own_only says so
#
# The list of inputs is compared first, since every boot calls this and kbuild takes seconds to
# find that there is nothing to do.
trees_built() {
	local kernel=$1 tree dir root log=tree inputs alone='' of
	dir=$(trees_dir "$kernel")
	root=$(building_root "$kernel")
	[ "$kernel" = stock ] || log=tree-$kernel
	shift
	build_lock
	inputs=$(tree_inputs "$kernel")
	of=$inputs
	if [ -n "${opt_own_only:-}" ]; then
		alone="modules of our own alone"
		of+=$'\n'$alone
	fi
	for tree in "${@:-ours}"; do
		case $tree in
		ours | distro) ;;
		stock) continue ;;
		*) usage_error "no module tree is called $tree: ours, distro or stock" ;;
		esac
		[ -r "$TOP/drivers/infiniband/hw/vhca/Makefile" ] ||
			die "module tree $tree: drivers/infiniband/hw/vhca is not in this source tree"
		if [ -d "$dir/$tree/modules" ] && { cmp -s "$dir/$tree/inputs" - <<<"$inputs" ||
			cmp -s "$dir/$tree/inputs" - <<<"$of"; }; then
			continue
		fi
		rm -f "$dir/$tree/inputs"
		quietly "$log-$tree" in_folder "$root" "$LIB/build-tree" "$tree" "$TOP" \
			"$dir/$tree" "$(kernel_release "$kernel")" "$(kdir_there "$kernel")" \
			"$(stock_sources "$kernel")" "$alone"
		echo "$of" >"$dir/$tree/inputs"
	done
	build_unlock
}

# What the guests get beside their packages: the provider, rdma-why, rdma-core's tests, which no
# package contains, and our own programs. Every boot comes here, and entering the root takes longer than
# make does that finds nothing to do: it is entered once.
addon_ready() {
	local failed
	build_lock
	failed=$(in_root guest-root "$LIB/build-addon" "$TOP" "$BUILD" "$(part_path rdma-core-source)") || {
		[ -z "$failed" ] || not_built "$failed"
		die "the guests' root cannot be entered"
	}
	build_unlock
}

# The same for the programs of the 32-bit root, over which it is laid: the provider, rdma-core's
# tests; and the programs of ours, built there. librdmacm is there without its headers.
addon_i386_ready() {
	build_lock
	mkdir -p "$BUILD/include-i386/rdma"
	cp -u "$(part_path rdma-core-source)"/librdmacm/rdma_{cma,verbs}.h "$BUILD/include-i386/rdma"
	quietly provider-i386 in_root i386-root make -C "$TOP/tools/provider" \
		RDMA_CORE="$(part_path rdma-core-source)" B=build/i386 DESTDIR="$BUILD/addon-i386" install
	quietly selftests-i386 in_root i386-root make -C "$TOP/tools/testing/selftests/rdma" \
		B="$BUILD/selftests-i386" CPPFLAGS="-I$BUILD/include-i386" RDMACM=-l:librdmacm.so.1
	mkdir -p "$BUILD/addon-i386/lab" "$BUILD/addon-i386/usr/share/rdma-core"
	cp -ru "$(part_path rdma-core-source)/tests" "$BUILD/addon-i386/usr/share/rdma-core"
	build_unlock
}

# provider_ready SUITE: the provider for rdma-core of another suite, in build/provider-SUITE.
provider_ready() {
	local data
	data=$(part_path "rdma-core-$1")
	build_lock
	quietly "provider-$1" in_root guest-root make -C "$TOP/tools/provider" \
		RDMA_CORE="$data/source" B="$BUILD/provider-$1" \
		LDFLAGS="-L$data/root/usr/lib/x86_64-linux-gnu" all
	build_unlock
	ls "$BUILD/provider-$1"/libvhca-*.so
}

# daemon_ready [san/]vhcad: the daemon, or the one with sanitizers in it, and vhcactl.
daemon_ready() {
	[ -r "$TOP/tools/vhcad/Makefile" ] ||
		die "tools/vhcad is not in this source tree: without the daemon there is no HCA (--hca 0 boots without)"
	build_lock
	quietly vhcad make -C "$TOP/tools/vhcad" all "build/$1"
	build_unlock
}

# Make the guest roots that tests of make check name in their "# lab:" lines.
test_roots_ready() {
	local packages
	grep -L '^# check: no$' "$TOP"/tools/testing/selftests/rdma/*.sh |
		xargs -d '\n' sed -n 's/^# lab:.*--packages \("[^"]*"\|[^ ]*\).*/\1/p' |
		tr -d '"' | LC_ALL=C sort -u | while read -r packages; do
		guest_root_with "$packages" >/dev/null </dev/null
	done
}

# A guest root with more packages in it: a copy, kept under the packages' names.
guest_root_with() {
	local packages name work making why status
	[ -n "$1" ] || {
		part_path guest-root
		return
	}
	packages=$(tr -s ' ,' '\n' <<<"$1" | sed '/^$/d' | LC_ALL=C sort -u | paste -sd' ')
	name=packages-$(echo "$packages $(sha256_of <"$CACHE/guest-root/manifest")" | sha256_of)
	if [ ! -d "$CACHE/$name" ]; then
		exec {making}>"$CACHE/.lock"
		flock "$making"
	fi
	if [ ! -d "$CACHE/$name" ]; then
		space_check "$name"
		say "guest root with $packages: making it (log in $CACHE/$name.log)"
		work=$CACHE/.making-$name
		rm -rf --one-file-system "$work"
		cp -a "$(part_path guest-root)" "$work" || die "the guest root cannot be copied to $work"
		isolated "$LIB/add-packages" "$work" "$packages" >"$CACHE/$name.log" 2>&1 || {
			rm -rf --one-file-system "$work"
			why_not "$CACHE/$name.log"
			die_with "$status" "the packages $packages could not be installed: $why (log: $CACHE/$name.log)"
		}
		mv "$work" "$CACHE/$name"
		rm -f "$CACHE/$name.log"
	fi
	[ -z "${making:-}" ] || exec {making}>&-
	echo "$CACHE/$name"
}

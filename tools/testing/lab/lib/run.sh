# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab run and lab shell: read the options, have everything ready, hand over to lab-vm.py.

number() {
	if ! [[ $2 =~ ^[0-9]{1,7}$ ]] || [ "$2" -lt "$3" ] || [ "$2" -gt "$4" ]; then
		usage_error "$1 takes a number from $3 to $4, not '$2'"
	fi
}

one_of() {
	local option=$1 value=$2 word
	shift 2
	for word; do [ "$value" != "$word" ] || return 0; done
	usage_error "$option takes one of: $*; not '$value'"
}

# links OPTION VALUE: VALUE is the link layer of all ports, or of each
links() {
	local word
	# shellcheck disable=SC2086
	for word in ${2//,/ }; do one_of "$1" "$word" ib eth; done
	[[ $2 != *,* ]] || [[ $2,$opt_ports =~ ^[a-z]+,[a-z]+,2$ ]] ||
		usage_error "$1 $2 names other ports than --ports $opt_ports"
}

# of_guest OPTION WORD: WORD is K=VALUE with a guest's number; prints VALUE
of_guest() {
	number "$1" "${2%%=*}" 1 "$opt_nodes"
	[[ $2 = *=* ]] || usage_error "$1 $2 lacks =VALUE"
	echo "${2#*=}"
}

# most_hcas: of all guests
most_hcas() {
	local word most=$opt_hca
	for word in "${opt_hca_of[@]}"; do [ "${word#*=}" -le "$most" ] || most=${word#*=}; done
	echo "$most"
}

# hcas_of K: of guest K
hcas_of() {
	local word hcas=$opt_hca
	for word in "${opt_hca_of[@]}"; do [ "${word%%=*}" != "$1" ] || hcas=${word#*=}; done
	echo "$hcas"
}

# Sets opt_* and leaves the words after the options in $rest.
run_options() {
	local core word value
	opt_nodes=2 opt_core=ours opt_load=auto opt_hca=1 opt_ports=1 opt_link=ib opt_subnet=static
	opt_irq=msix opt_cpus=1 opt_mem='' opt_timeout='' opt_packages='' opt_out='' opt_trees=''
	opt_sanitize='' opt_own_only='' opt_confined='' opt_kernel=stock opt_i386='' opt_root=''
	flags=() opt_then=() opt_kernel_deb=() opt_core_of=() opt_hca_of=() opt_link_of=()
	while [ $# -gt 0 ]; do
		case $1 in
		--sanitize)
			opt_sanitize=san/
			shift
			continue
			;;
		--own-only)
			opt_own_only=1
			shift
			continue
			;;
		--i386)
			opt_i386=1
			shift
			continue
			;;
		--confined)
			opt_confined=$1
			flags+=("$1")
			shift
			continue
			;;
		--icount | --iommu | --pciehp | --capture | --coverage | --pin)
			flags+=("$1")
			shift
			continue
			;;
		--nodes | --core | --load | --hca | --ports | --link | --subnet | --irq | --cpus | --mem | \
			--core-of | --hca-of | --link-of | --timeout | --packages | --out | --device-arg | \
			--append | --kernel | --kernel-deb | --root | --trees | --then) ;;
		--)
			shift
			break
			;;
		-*) usage_error "no option is called $1: see $LAB_NAME help" ;;
		*) break ;;
		esac
		[ $# -ge 2 ] || usage_error "$1 takes a value"
		case $1 in
		--device-arg) flags+=("--device-arg=$2") ;;
		--append) flags+=("--append=$2") ;;
		--then) opt_then+=("$2") flags+=("--then=$2") ;;
		--kernel-deb) opt_kernel_deb+=("$2") ;;
		--core-of) opt_core_of+=("$2") ;;
		--hca-of) opt_hca_of+=("$2") ;;
		--link-of) opt_link_of+=("$2") flags+=("--link-of=$2") ;;
		*) declare -g "opt_${1#--}=$2" ;;
		esac
		shift 2
	done
	rest=("$@")

	number --nodes "$opt_nodes" 1 9
	number --hca "$opt_hca" 0 16
	number --ports "$opt_ports" 1 2
	number --cpus "$opt_cpus" 1 64
	[ -n "${opt_core//,/}" ] || usage_error "--core takes at least one of: ours distro stock"
	# shellcheck disable=SC2086
	for core in ${opt_core//,/ }; do one_of --core "$core" ours distro stock; done
	one_of --load "$opt_load" auto modules none
	one_of --irq "$opt_irq" msix msi
	links --link "$opt_link"
	one_of --subnet "$opt_subnet" static none opensm
	# shellcheck disable=SC2086
	one_of --kernel "$opt_kernel" $KERNELS
	if [ ${#opt_kernel_deb[@]} -gt 0 ]; then
		[ "$opt_kernel" = stock ] || usage_error "--kernel-deb names another kernel than --kernel $opt_kernel"
		[ -z "$opt_i386" ] || usage_error "--kernel-deb does not go with --i386"
		for word in "${opt_kernel_deb[@]}"; do
			[ -r "$word" ] || usage_error "--kernel-deb: there is no file $word"
		done
	fi
	if [ -n "$opt_root" ]; then
		[ -z "$opt_packages" ] || usage_error "--packages are those of the lab's own root, not of --root $opt_root"
		root_can "$opt_root"
	fi
	if [ -z "$opt_mem" ]; then
		# KASAN's shadow and kmemleak's records need memory.
		checking "$opt_kernel" && opt_mem=2048 || opt_mem=1024
	fi
	number --mem "$opt_mem" 256 65536
	if [ -z "$opt_timeout" ]; then
		# There every process that is started costs several times as much.
		checking "$opt_kernel" && opt_timeout=600 || opt_timeout=300
		for core in ${opt_core//,/ }; do [ "$core" = "${opt_core%%,*}" ] || opt_timeout=$((2 * opt_timeout)); done
	fi
	number --timeout "$opt_timeout" 1 86400
	for word in "${opt_core_of[@]}"; do
		value=$(of_guest --core-of "$word")
		one_of "--core-of ${word%%=*}" "$value" ours distro stock
	done
	[ ${#opt_core_of[@]} = 0 ] || [[ $opt_core != *,* ]] ||
		usage_error "--core-of goes with one --core, not with $opt_core"
	for word in "${opt_hca_of[@]}"; do
		value=$(of_guest --hca-of "$word")
		number "--hca-of ${word%%=*}" "$value" 0 16
	done
	for word in "${opt_link_of[@]}"; do
		value=$(of_guest --link-of "$word")
		links "--link-of ${word%%=*}" "$value"
	done
	[ "$opt_subnet" != opensm ] || [ "$(hcas_of 1)" -gt 0 ] ||
		usage_error "--subnet opensm needs an HCA in node1 to run on"
	[ -z "$opt_confined" ] || [ -z "$opt_sanitize" ] ||
		usage_error "--confined is not what --sanitize can be"
	[[ " ${flags[*]} " != *" --coverage "* ]] || [ "$opt_kernel" = debug ] ||
		usage_error "--coverage is what --kernel debug can count"
	[ "$opt_kernel" != builtin ] || [ "$opt_core${opt_core_of[*]}" = ours ] ||
		usage_error "--kernel builtin has our core in it, not --core $opt_core ${opt_core_of[*]}"
	! packaged || packaged_options
}

# root_can DIR: refuse a root of the user's that no guest could start from
root_can() {
	local program lacks=()
	[ -d "$1" ] || usage_error "--root: there is no folder $1"
	for program in bash ip modprobe mount setsid; do
		[ -n "$(find -L "$1"/usr/bin "$1"/usr/sbin "$1"/bin "$1"/sbin -maxdepth 1 -name "$program" -print -quit 2>/dev/null)" ] ||
			lacks+=("$program")
	done
	[ ${#lacks[@]} = 0 ] ||
		lack "--root $1 has no ${lacks[*]}: install bash, iproute2, kmod, mount and util-linux in it"
}

# rdma_core_of ROOT: the release of its libibverbs; nothing without one
rdma_core_of() {
	sed -n '/^Package: libibverbs1$/,/^$/s/^Version: \([0-9.]*\).*/\1/p' "$1/var/lib/dpkg/status" 2>/dev/null || true
}

# root_fits DIR: refuse a root of the user's with another libibverbs than the provider is for
root_fits() {
	local theirs ours
	theirs=$(rdma_core_of "$1") ours=$(rdma_core_of "$(part_path guest-root)")
	[ -z "$theirs" ] || [ "$theirs" = "$ours" ] ||
		lack "--root $1 has rdma-core $theirs, and the provider is for $ours: take a root of $GUEST_SUITE"
}

# A trial boot decides which accelerator is used, since a /dev/kvm may not work. It is tried
# once for each pair of host and guest kernel.
accelerator() {
	local key answer=tcg new
	key="$(uname -r) $(guest_kernel)"
	[ ! -w /dev/kvm ] || key+=" with /dev/kvm"
	if [ "$(sed -n 1p "$CACHE/accelerator" 2>/dev/null)" != "$key" ]; then
		if [ -w /dev/kvm ] && python3 "$LABDIR/host/lab-vm.py" probe "$(part_path qemu-root)" \
			"$(kernel_image stock)" "$(part_path initramfs)"; then
			answer=kvm
		fi
		new=$(mktemp "$CACHE/.accelerator.XXXXXX")
		printf '%s\n%s\n' "$key" "$answer" >"$new"
		mv "$new" "$CACHE/accelerator"
	fi
	sed -n 2p "$CACHE/accelerator"
}

boot_guests() {
	local mode=$1 core accel root modules addon='' i386='' vhcad='' vhcactl=''
	shift
	need_root
	memory_check "$opt_nodes" "$opt_mem"
	# shellcheck disable=SC2046
	parts_ready $(kernel_parts "$opt_kernel") ${opt_i386:+i386-root}
	[ ${#opt_kernel_deb[@]} = 0 ] || kernel_of_packages "${opt_kernel_deb[@]}"
	root=$(guest_root_with "$opt_packages")
	modules=$(kernel_modules "$opt_kernel")
	if [ -n "$opt_root" ]; then
		root_fits "$opt_root"
		root=$(readlink -f "$opt_root")
		modules=${modules:-$(part_path guest-root)/usr/lib/modules}
	fi
	local trees=${opt_trees//,/ }
	for core in ${opt_core//,/ } "${opt_core_of[@]#*=}"; do [ "$core" = stock ] || trees="$trees $core"; done
	# shellcheck disable=SC2086
	kernel_can "$opt_kernel" $trees
	if [ "$opt_kernel" = builtin ]; then
		builtin_ready
		opt_core=builtin
	elif [ -n "${trees// /}" ]; then
		# shellcheck disable=SC2086
		trees_ready "$opt_kernel" $trees
	fi
	if [ -z "${trees// /}" ]; then
		opt_hca=0 opt_hca_of=()
	else
		addon_ready
		[ ! -d "$BUILD/addon" ] || addon=$BUILD/addon
		if [ "$(most_hcas)" -gt 0 ]; then
			daemon_ready "${opt_sanitize}vhcad"
			vhcad=$TOP/tools/vhcad/build/${opt_sanitize}vhcad
			vhcactl=$TOP/tools/vhcad/build/vhcactl
		fi
	fi
	if [ -n "$opt_i386" ]; then
		addon_i386_ready
		i386=$(part_path i386-root)
	fi
	accel=$(accelerator)
	mkdir -p "$(trees_dir "$opt_kernel")"
	cache_used
	exec python3 "$LABDIR/host/lab-vm.py" \
		--cache "$CACHE" --top "$TOP" --labdir "$LABDIR" --trees "$(trees_dir "$opt_kernel")" \
		--qemu-root "$(part_path qemu-root)" --guest-root "$root" \
		--kernel "$(kernel_image "$opt_kernel")" --initramfs "$(kernel_initramfs "$opt_kernel")" \
		--modules "$modules" --build "$(! packaged || echo "$BUILD")" --addon "$addon" --i386 "$i386" \
		--vhcad "$vhcad" --vhcactl "$vhcactl" --out "$opt_out" --accel "$accel" --mode "$mode" \
		--nodes "$opt_nodes" --hca "$opt_hca" --ports "$opt_ports" --cpus "$opt_cpus" \
		--mem "$opt_mem" --timeout "$opt_timeout" --core "$opt_core" --load "$opt_load" \
		--link "$opt_link" --subnet "$opt_subnet" --irq "$opt_irq" "${flags[@]}" \
		"${opt_core_of[@]/#/--core-of=}" "${opt_hca_of[@]/#/--hca-of=}" -- "$@"
}

lab_run() {
	run_options "$@"
	[ ${#rest[@]} -gt 0 ] || usage_error "run takes a script: see $LAB_NAME help"
	local script
	for script in "${rest[0]}" "${opt_then[@]}"; do
		[ -r "$script" ] || usage_error "there is no script $script"
	done
	boot_guests run "${rest[@]}"
}

lab_shell() {
	run_options --timeout 86400 "$@"
	[ $((${#rest[@]} + ${#opt_then[@]})) = 0 ] || usage_error "shell takes no script"
	[ -t 0 ] || usage_error "shell needs a terminal: scripts are for $LAB_NAME run"
	boot_guests shell
}

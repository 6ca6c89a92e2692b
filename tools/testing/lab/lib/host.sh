# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Requirements on the host, and the packages that the lab installs on it.

# The size of the cache's large parts in MB, with some reserve; 100 is enough for any other.
space_of() {
	case $1 in
	guest-root | packages-*) echo 1200 ;;
	kernel-*) echo 700 ;;
	qemu-root | rdma-core-sid | rdma-core-bookworm) echo 400 ;;
	linux-source) echo 1900 ;;
	tools-root) echo 1500 ;;
	debug-kernel | kcsan-kernel) echo 2000 ;;
	i386-root) echo 1000 ;;
	*) echo 100 ;;
	esac
}
HOST_TOOLS="mmdebstrap:mmdebstrap arch-test:arch-test rsync:rsync cpio:cpio xz:xz-utils zstd:zstd patch:patch
	make:make gcc:gcc tshark:tshark dot:graphviz python3:python3 pkg-config:pkg-config shellcheck:shellcheck
	unshare:util-linux setpriv:util-linux flock:util-linux"
HOST_LIBS="git perl python3 libc6-dev libcmocka-dev libjson-c-dev libisal-dev zlib1g-dev libseccomp-dev debian-archive-keyring"

host_check() {
	local id='' version=''
	need_root
	[ "$(uname -m)" = x86_64 ] || lack "needs an x86-64 host: this one is $(uname -m)"
	if [ -r /etc/os-release ]; then
		id=$(. /etc/os-release && echo "${ID:-}")
		version=$(. /etc/os-release && echo "${VERSION_ID:-}")
	fi
	case "$id-$version" in
	debian-12 | debian-13) ;;
	*) lack "needs a Debian 12 or 13 host (this is ${id:-unknown} ${version}): run it in a Debian virtual machine" ;;
	esac
}

host_missing() {
	local pair lib
	for pair in $HOST_TOOLS; do
		command -v "${pair%%:*}" >/dev/null || echo "${pair##*:}"
	done
	for lib in $HOST_LIBS; do
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$lib" 2>/dev/null)" = installed ] || echo "$lib"
	done
}

host_install() {
	local missing log why status
	mapfile -t missing < <(host_missing | sort -u)
	[ ${#missing[@]} -gt 0 ] || return 0
	say "host: installing ${missing[*]}"
	log=$CACHE/host-install.log
	# a host that has just booted may be updating itself
	if ! { DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 update &&
		DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 install -y --no-install-recommends "${missing[@]}"; } \
		>"$log" 2>&1; then
		why_not "$log"
		lack "host: ${missing[*]} could not be installed: $why (log: $log; apt install ${missing[*]})"
	fi
}

# memory_check NODES MB: the host has as much memory as its guests have together
memory_check() {
	local there needed=$(($1 * $2))
	there=$(awk '/^MemTotal:/ { print int($2 / 1024) }' /proc/meminfo)
	[ "$there" -ge "$needed" ] ||
		lack "needs $needed MB of memory for $1 guests, this host has $there: take fewer (--nodes), or smaller ones (--mem)"
}

# space_check PART...: make sure that there is room for them
space_check() {
	local free name needed=0
	for name; do needed=$((needed + $(space_of "$name"))); done
	free=$(df -Pm "$CACHE" | awk 'NR == 2 { print $4 }')
	[ "$free" -ge "$needed" ] ||
		lack "needs $needed MB free in $CACHE, there are $free: free some, or set VHCA_CACHE to a larger place"
}

# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The short form of the guest tests, for kernels of other suites: sourced with the beginning of the kernel's
# release. Programs of make demo, rdma-core's own tests, unloading, a device that is removed.
# shellcheck shell=bash
. /lab/src/tools/testing/selftests/rdma/lib.sh

# whose_core: "ours", or "distro" where the kernel's own is loaded, by a symbol that ours alone has
whose_core()
{
	if grep -q ' rdma_refuse_for[[:space:]]*\[ib_core\]' /proc/kallsyms; then
		echo ours
	else
		echo distro
	fi
}

# own_driver: vhca is the one that was built for this kernel
own_driver() { [[ $(modinfo -n vhca) == */"$(uname -r)"/updates/vhca.ko* ]] && [ -e /sys/module/vhca ]; }

active() { rdma link show "$LAB_DEV/1" | grep 'state ACTIVE'; }

pyverbs()
{
	echo 16 >/proc/sys/vm/nr_hugepages
	/lab/src/tools/testing/selftests/rdma/pyverbs_tap.py --least 100 "$LAB_DEV"
}

unloaded() { lab-unload && [ ! -e /sys/module/ib_core ]; }

# The device is removed while a program waits for its events, which is told. On our core it then
# hears that no more will come, and ends with 1; on the distribution's it waits for ever, so that it
# is killed.
goes()
{
	local watcher status log=$LAB_OUT/watch.node$LAB_NODE
	pci=$(readlink -f "/sys/class/infiniband/$LAB_DEV/device")
	stdbuf -oL ibv_asyncwatch -d "$LAB_DEV" >"$log" 2>&1 &
	watcher=$!
	until grep -q 'async event FD' "$log"; do
		alive $watcher || return 1
		moment
	done
	echo 1 >"$pci/remove"
	until grep -q 'event_type IBV_EVENT_DEVICE_FATAL' "$log"; do
		alive $watcher || break
		moment
	done
	[ "$LAB_CORE" = ours ] || kill $watcher
	status=0
	ended $watcher || status=$?
	cat "$log"
	echo "ibv_asyncwatch has ended with $status"
	[ "$status" = "$([ "$LAB_CORE" = ours ] && echo 1 || echo 143)" ] &&
		[ "$(grep -c 'IBV_EVENT_DEVICE_FATAL' "$log")" = 1 ] &&
		[ ! -e "/sys/class/infiniband/$LAB_DEV" ]
}

comes_back() { echo 1 >/sys/bus/pci/rescan && lab-load auto && active; }

plan $((14 - LAB_NODE))
ok "the kernel is $1" test "$(uname -r | grep -c "^$1")" = 1
is "the core is that of this run" "$LAB_CORE" "$(whose_core)"
ok "vhca was built for this kernel" own_driver
ok "rdma link: the port is ACTIVE" active
ok "ibv_devinfo -v" ibv_devinfo -v -d "$LAB_DEV"
ok "ibv_rc_pingpong: data is checked" pair rc 18515 ibv_rc_pingpong -d "$LAB_DEV" -c
ok "ib_write_bw" pair write_bw 18515 ib_write_bw -d "$LAB_DEV" -F --report_gbits -s 65536 -n 5000
ok "ib_send_lat" pair send_lat 18515 ib_send_lat -d "$LAB_DEV" -F -s 64 -n 1000
# in one of the guests, since it takes minutes
[ "$LAB_NODE" = 2 ] || ok "rdma-core's own tests" pyverbs
lab-barrier tested
ok "all of it unloads" unloaded
ok "it loads again" lab-load auto
ok "the device goes under a program" goes
ok "and comes back" comes_back
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --ports 2 --link eth --core ours,distro --load none --timeout 900
# check: no
# long: --timeout 1800 -- 300 22
# gid_changes.sh [CHANGES [SEED]]: GID tables of Ethernet ports follow net devices through random changes,
# and so do those of rdma_rxe on the same net devices; after each they are as the distribution's core makes
# them for the same change. Monitors of the device are notified of the net device of a port.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
here=/lab/src/tools/testing/selftests/rdma
changes=${1:-24} seed=${2:-6}

nic=$(readlink -f /sys/class/net/eth1/device) mac=$(</sys/class/net/eth1/address)
nic=${nic##*/}

# lonely: how often the kernel has logged that the second port has no net device
lonely() { dmesg | grep -c "port 2 is down: no net device has its address $mac"; }
said_again() { [ "$(lonely)" -gt "$said" ]; }

# The driver finds no net device of the second port. What is reported about net devices depends on the order
# of notifications: the core is notified after the net devices above others.
without_net()
{
	local said
	modprobe -a 8021q macvlan && modprobe bonding max_bonds=0 || return 1
	said=$(lonely)
	echo "$nic" >/sys/bus/virtio/drivers/virtio_net/unbind && lab-load modules && within said_again &&
		grep DOWN /sys/class/infiniband/*/ports/2/state
}

with_net()
{
	echo "$nic" >/sys/bus/virtio/drivers/virtio_net/bind && ip link set eth1 up && lab-load auto &&
		modprobe -a crc32_generic rdma_rxe
}

# told: the monitor's output, without the device's number, which differs from core to core
told() { sed -E 's/[[:space:]]+/ /g; s/\<(dev|netdev) [0-9]+/\1 N/g' "$LAB_OUT/told"; }

# tells WORDS: waits until the monitor's last output is this
tells() { [[ "$(told | tail -n 1)" = *"$*"* ]] || { told; return 1; }; }

# The net device of the second port moves to another network namespace, and comes back.
monitor()
{
	local pid rc=0
	ip netns add monitored
	stdbuf -oL rdma monitor >"$LAB_OUT/told" 2>&1 &
	pid=$!
	within monitored && ip link set eth1 netns monitored &&
		ip -n monitored link set eth1 netns 1 && ip link set eth1 up &&
		within tells "[NETDEV_ATTACH] dev N $LAB_DEV port 2 netdev N eth1" &&
		told | grep -F "[NETDEV_DETACH] dev N $LAB_DEV port 2" || { rc=1; told; }
	kill "$pid"
	ip netns del monitored
	return "$rc"
}

has_no_gid() { ! cat "/sys/class/infiniband/$LAB_DEV/ports/1/gid_attrs/$1/200" 2>&1; }

ours=$LAB_OUT/../ours/gid_changes.log
[ "$LAB_CORE" = distro ] && plan 7 || plan 6
ok "a port without a net device is down, and the log says why" without_net
ok "both ports are active when it is there" with_net
LAB_DEV=$(ls /sys/class/infiniband)
ok "tables follow $changes changes, seed $seed" \
	python3 -B $here/gid_changes.py "$LAB_DEV" "$seed" "$changes" "$LAB_OUT/gid_changes.log"
[ "$LAB_CORE" != distro ] ||
	ok "tables of both cores are the same after each" diff -U 30 "$ours" "$LAB_OUT/gid_changes.log"
ok "a place without a GID has no type" has_no_gid types
ok "and no net device" has_no_gid ndevs
ok "rdma monitor tells of a port's net device" monitor
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours --subnet none --load modules --timeout 900
# check: no
# long: --kernel debug --timeout 1800
# The device is removed amid a sweep while management is in use: opensm has its umad and issm, saquery and
# eight threads of the kernel ask opensm, and smpquery waits for an answer that was lost. First it is the
# device of the standby manager, then that of the master, which sweeps.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
plan $((12 + (LAB_NODE == 1 ? 2 : 0)))

params=/sys/module/rdma_kpaths/parameters
queries=160000	# more than are answered until the device goes
device=$(readlink -f "/sys/class/infiniband/$LAB_DEV/device")
device=${device##*/}

active() { [ "$(port_state "$LAB_DEV")" = "4: ACTIVE" ]; }
struck() { lab-vhcactl status | grep "struck [1-9]"; }
# opensm is a subnet manager to the kernel, whether it manages or waits
holds_issm() { find "/proc/$(</run/lab/opensm)/fd" -lname '/dev/infiniband/issm*' | grep .; }

# managed NAME: both nodes have an opensm, and node 1's is the master
managed()
{
	lab-fault clear all
	lab-barrier "$1-calm"
	[ "$LAB_NODE" != 1 ] || lab-opensm -F /tmp/opensm.conf -p 10
	within active || return 1
	lab-barrier "$1-active"
	[ "$LAB_NODE" != 2 ] || lab-opensm -F /tmp/opensm.conf -p 5
	within holds_issm || return 1
	[ "$LAB_NODE" != 2 ] || within says SMINFO_STANDBY sminfo "$(($(<"$port/lid")))"
}

# amid_sweep: node 1's opensm sweeps, and waits for an answer that is never sent
amid_sweep()
{
	lab-fault loss all permille=1000 mgmt_class=129
	kill -HUP "$(</run/lab/opensm)"
	within struck
}

# all_ends: the device is removed while all of it is in use
all_ends()
{
	local kernel asker waiter

	echo $queries >$params/run &
	kernel=$!
	{ while [ -e "$port" ]; do saquery --smkey 1 NR >/dev/null 2>&1; done; true; } &
	asker=$!
	smpquery -t 600000 -D nodeinfo 0,1 >/dev/null 2>&1 &
	waiter=$!
	ok "the kernel asks" within pgrep -x kpaths-7
	ok "opensm answers meanwhile" within says "NodeRecord dump" saquery --smkey 1 NR
	echo "$device" >/sys/bus/pci/drivers/vhca/unbind
	ended $waiter
	ok "who has waited for an answer ends" test $? != 137	# killed
	ended $asker
	is "so does who asks" 0 $?
	ended $kernel
	is "each query of the kernel has ended once" "$queries 0" \
		"$(($(<$params/answered) + $(<$params/failed))) $(<$params/wrong)"
	ok "some were answered" test "$(<$params/answered)" -gt 0
	ok "others failed" test "$(<$params/failed)" -gt 0
}

# A sweep waits for a lost answer longer than the test runs.
printf '%s\n' "transaction_timeout 600000" "sweep_interval 0" >/tmp/opensm.conf
modprobe ib_umad
modprobe rdma_kpaths
for goes in 2 1; do
	ok "node 1 manages, and node 2 waits" managed "$goes"
	know_lids
	cut -d: -f5-8 "$port/gids/0" | tr -d : >"$LAB_OUT/guid.$LAB_NODE"
	lab-barrier "$goes-managed"
	echo "${lid[3 - LAB_NODE]}" >$params/peer_lid
	echo "0x$(<"$LAB_OUT/guid.$((3 - LAB_NODE))")" >$params/peer_id
	[ "$LAB_NODE" != 1 ] || ok "a sweep is under way" amid_sweep
	lab-barrier "$goes-sweeps"
	[ "$LAB_NODE" != "$goes" ] || all_ends
	lab-barrier "$goes-gone"
	manager_killed
	[ "$LAB_NODE" != "$goes" ] || echo "$device" >/sys/bus/pci/drivers/vhca/bind
	lab-barrier "$goes-back"
done
ok "all of it works again" managed last
lab-barrier managed-again
ok "data arrive" pair last 18515 ibv_rc_pingpong -d "$LAB_DEV" -c -n 100
manager_killed
ok "nothing holds the modules" sh -c "modprobe -r rdma_kpaths && modprobe -r ib_umad"
lab-barrier judged
finish

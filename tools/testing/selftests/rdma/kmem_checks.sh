# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Sourced by the tests of kernel consumers that register memory.
# shellcheck shell=bash disable=SC2034
kmem_plan=7		# points of each call
kmem_left_plan=8

kmem() { echo "/sys/module/rdma_kmem/parameters/$1"; }

# kmem_checks NAME MRS: node 1 is the server, node 2 the client; MRS: do R/W contexts have MRs?
kmem_checks()
{
	ok "$1: the module meets the device" modprobe rdma_kmem
	cat "$(kmem address)" >"$LAB_OUT/kmem.$LAB_NODE"
	lab-barrier "kmem-$1-addresses"
	ok "$1: the sides connect" cp "$LAB_OUT/kmem.$((3 - LAB_NODE))" "$(kmem peer)"
	[ "$LAB_NODE" = 2 ] || echo 1 >"$(kmem serve)"
	lab-barrier "kmem-$1-connected"
	[ "$LAB_NODE" = 1 ] || echo 1 >"$(kmem run)"
	lab-barrier "kmem-$1-done"
	is "$1: all checks hold" 0 "$(cat "$(kmem failed)")"
	ok "$1: there were checks" test "$(cat "$(kmem passed)")" -gt $((LAB_NODE == 1 ? 600 : 40))
	is "$1: MRs are where they are wanted" "$2" "$(($(cat "$(kmem rw_mrs)") > 0))"
	ok "$1: the module goes" rmmod rdma_kmem
	ok "$1: and nothing stays" sh -c '! rdma resource show mr 2>/dev/null | grep -q rdma_kmem'
}

# R/W contexts of this core have MRs from now on
kmem_force_mr()
{
	lab-barrier kmem-forces
	ok "the core is loaded anew" sh -c 'rmmod vhca && modprobe -r ib_uverbs &&
		{ ! grep -q "^ib_core " /proc/modules || rmmod ib_core; } &&
		modprobe ib_core force_mr=1 && lab-load auto'
}

kmem_pci() { basename "$(readlink -f /sys/class/infiniband/*/device)"; }

# On our core: a consumer that leaves objects behind
kmem_left_checks()
{
	local pci
	pci=$(kmem_pci)

	modprobe rdma_kmem
	echo 1 >"$(kmem leave)"
	ok "objects are left" sh -c 'rdma resource show qp | grep -q rdma_kmem'
	ok "and the module goes all the same" rmmod rdma_kmem
	ok "they are named" sh -c \
		'dmesg | grep -q "rdma_kmem was unloaded and left behind: 1 PD, 1 CQ, 1 QP, 1 MR"'
	ok "and have gone" sh -c '! rdma resource show | grep -q rdma_kmem && ! rdma resource show qp | grep -q rdma_kmem'

	modprobe rdma_kmem
	echo 2 >"$(kmem leave)"
	ok "objects that their owner reaps go with the device" \
		sh -c "echo $pci >/sys/bus/pci/drivers/vhca/unbind"
	is "without a word" 1 "$(dmesg | grep -c 'left behind')"
	rmmod rdma_kmem
	ok "the device comes back" sh -c "echo $pci >/sys/bus/pci/drivers/vhca/bind && lab-load auto"
	is "nothing failed" "" "$(dmesg | grep -o 'rdma_kmem: kmem.*')"
}

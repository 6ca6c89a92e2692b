# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Sourced by the tests of kernel consumers that register memory.
# shellcheck shell=bash disable=SC2034
kmem_plan=6

kmem() { echo "/sys/module/rdma_kmem/parameters/$1"; }

# kmem_checks: node 1 serves, node 2 asks
kmem_checks()
{
	ok "the module meets the device" modprobe rdma_kmem
	cat "$(kmem address)" >"$LAB_OUT/kmem.$LAB_NODE"
	lab-barrier kmem-addresses
	ok "the sides connect" cp "$LAB_OUT/kmem.$((3 - LAB_NODE))" "$(kmem peer)"
	[ "$LAB_NODE" = 2 ] || echo 1 >"$(kmem serve)"
	lab-barrier kmem-connected
	[ "$LAB_NODE" = 1 ] || echo 1 >"$(kmem run)"
	lab-barrier kmem-done
	is "all checks hold" 0 "$(cat "$(kmem failed)")"
	ok "there were checks" test "$(cat "$(kmem passed)")" -gt $((LAB_NODE == 1 ? 600 : 20))
	ok "the module goes" rmmod rdma_kmem
	ok "and nothing stays" sh -c '! rdma resource show mr 2>/dev/null | grep -q rdma_kmem'
}

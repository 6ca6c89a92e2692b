# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Helpers of the tests of SMC: sourced behind connections.sh and roce_checks.sh. Each node has a network
# of its own, and the other one is the gateway to it: two hosts of one network need GIDs of RoCE v1 as
# well, since the proposal of a host that has none lacks the hardware address that the peer would send to.
# shellcheck shell=bash

smc_own=10.81.$LAB_NODE.1 smc_server=10.81.1.1
smc_peer=10.81.$((3 - LAB_NODE)).1
smc_sockets=/lab/src/tools/testing/selftests/rdma/smc_sockets.py

# smc_up: QPs that rest for 30 s need not answer within two
smc_up() { modprobe smc && put 0 /proc/sys/net/smc/smcr_testlink_time; }

# routed: this node has a network, which the other one reaches by a gateway, and no other
routed()
{
	local net
	roce_up || return 1
	net=$(roce_netdev)
	ip -4 addr flush dev "$net" scope global && ip addr add "$smc_own/24" dev "$net" &&
		within find_gid "$smc_own" && within no_other_gid || return 1
	lab-barrier networks
	ip route add "${smc_peer%.1}.0/24" via "$smc_peer" dev "$net" onlink &&
		within ping -q -c 1 -W 20 "$smc_peer"
}
no_other_gid() { ! find_gid "$roce4"; }

# own_network: this node has its address as it was, which the next core's run expects
own_network()
{
	local net
	net=$(roce_netdev)
	ip -4 addr flush dev "$net" scope global && ip addr add "$roce4/24" dev "$net" && within find_gid "$roce4"
}

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours,distro --link eth --timeout 900
# The kernel's own SMC-R over RoCE v2, which is version 2 of SMC: hosts that have a common name may use
# it. Two hosts of one network need GIDs of RoCE v1 as well: the proposal of a host that has none lacks
# the hardware address that the peer would send to. So each has a network of its own here, and the other
# is the gateway to it.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/roce_checks.sh
. /lab/src/tools/testing/selftests/rdma/storage.sh
plan 12

CM_PATIENCE=900
own=10.81.$LAB_NODE.1 server=10.81.1.1 peer=10.81.$((3 - LAB_NODE)).1
bytes=$((32 << 20))		# that smc_sockets.py sends in each direction
sockets=/lab/src/tools/testing/selftests/rdma/smc_sockets.py
serves() { said "$1" '^serves'; }

# smc_up: QPs that rest for 30 s need not answer within two
smc_up() { modprobe smc && put 0 /proc/sys/net/smc/smcr_testlink_time; }

# talk NAME rdma|tcp
talk() { served "$1" serves ended "$sockets serve $2 $server" $sockets talk "$2" "$own" $server; }

# routed: this node has a network, which the other one reaches by a gateway, and no other
routed()
{
	local net
	roce_up || return 1
	net=$(roce_netdev)
	ip -4 addr flush dev "$net" scope global && ip addr add "$own/24" dev "$net" && within find_gid "$own" &&
		within no_other_gid || return 1
	lab-barrier networks
	ip route add "${peer%.1}.0/24" via "$peer" dev "$net" onlink && within ping -q -c 1 -W 20 "$peer"
}
no_other_gid() { ! find_gid "$roce4"; }

# as_before: and has its address as it was, which the next core's run expects
as_before()
{
	local net
	net=$(roce_netdev)
	ip -4 addr flush dev "$net" scope global && ip addr add "$roce4/24" dev "$net" && within find_gid "$roce4"
}

# rdma_bytes: what the port has sent, which is RoCE alone
rdma_bytes() { echo $(($(port_attr counters/port_xmit_data) * 4)); }
went_by_rdma() { echo "$(($(rdma_bytes) - before)) bytes" && [ $(($(rdma_bytes) - before)) -ge $bytes ]; }
none_went_by_rdma() { echo "$(($(rdma_bytes) - before)) bytes" && [ $(($(rdma_bytes) - before)) -lt 65536 ]; }

everywhere "each has a network" routed
everywhere "the module" modules smc
everywhere "it is there" smc_up
before=$(rdma_bytes)
lab-barrier counted
everywhere "without a common name data go by TCP" talk tcp tcp
everywhere "and the port has sent none of them" none_went_by_rdma
everywhere "a common name" $sockets eid VHCA-LAB
before=$(rdma_bytes)
lab-barrier counted
everywhere "with it, data there and back by RDMA" talk rdma rdma
everywhere "which the port has sent" went_by_rdma
everywhere "and by another connection" talk again rdma
everywhere "the module goes" within modprobe -r smc
everywhere "its QPs are gone" within qps_are 0
everywhere "each has its address again" as_before
finish

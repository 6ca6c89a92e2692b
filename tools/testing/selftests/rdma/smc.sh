#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours,distro --link eth --timeout 1800
# The kernel's own SMC-R over RoCE v2, which is version 2 of SMC: hosts that have a common name may use
# it. SMC connects by Ethernet ports only.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/roce_checks.sh
. /lab/src/tools/testing/selftests/rdma/smc_checks.sh
. /lab/src/tools/testing/selftests/rdma/storage.sh
plan 13

CM_PATIENCE=900
bytes=$((32 << 20))		# that smc_sockets.py sends in each direction
turns=100
serves() { said "$1" '^serves'; }

# talk NAME rdma|tcp [TIMES [BYTES]]
talk()
{
	served "$1" serves ended "$smc_sockets serve $2 $smc_server ${3:-1}" \
		$smc_sockets talk "$2" "$smc_own" $smc_server "${@:3}"
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
everywhere "a common name" $smc_sockets eid VHCA-LAB
before=$(rdma_bytes)
lab-barrier counted
everywhere "with it, data there and back by RDMA" talk rdma rdma
everywhere "which the port has sent" went_by_rdma
everywhere "and by another connection" talk again rdma
everywhere "connect, use, disconnect: $turns times" talk turns rdma $turns 65536
everywhere "the module goes" within modprobe -r smc
everywhere "its QPs are gone" within qps_are 0
everywhere "each has its address again" own_network
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours,distro --subnet opensm --timeout 2400
# rds.sh [ib|eth [TURNS]]: the kernel's own RDS over RDMA: messages there and back by a connected QP,
# memory that the peer reads and writes. A connection lasts as long as the module, which is unloaded and
# loaded again as often as there are turns.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/storage.sh
link=${1:-ib} turns=${2:-100}
ports_up=connections_up own=$own4
if [ "$link" = eth ]; then
	. /lab/src/tools/testing/selftests/rdma/roce_checks.sh
	ports_up=roce_up own=$roce4
fi
plan 11

CM_PATIENCE=1800
sockets=/lab/src/tools/testing/selftests/rdma/rds_sockets.py
serves() { said "$1" '^serves'; }
talk() { served "$1" serves ended "$sockets serve $server4" $sockets talk "$own" $server4; }

# all_turns: node 2 connects, uses and disconnects, while node 1 has its module
all_turns()
{
	served turns serves stopped "$sockets serve $server4" $sockets turns "$own" $server4 "$turns"
}
# no_module: node 2 has unloaded its own
no_module() { modprobe -r rds_rdma && [ ! -e /sys/module/rds ]; }

everywhere "ports have addresses" $ports_up
everywhere "the module" modules rds_rdma
for one in first second; do
	everywhere "$one: it is there" modprobe rds_rdma
	everywhere "$one: messages there and back, and memory" talk "$one"
	everywhere "$one: the module goes" modprobe -r rds_rdma
done
[ "$LAB_NODE" = 2 ] || modprobe rds_rdma
everywhere "connect, use, disconnect: $turns times" all_turns
everywhere "no module is left" no_module
everywhere "its QPs are gone" within qps_are 0
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours,distro --subnet opensm
# The kernel's own RDS over RDMA: messages there and back by a connected QP, memory that the peer reads and
# writes, again by other QPs when the module was unloaded and loaded.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/storage.sh
plan 9

CM_PATIENCE=900
sockets=/lab/src/tools/testing/selftests/rdma/rds_sockets.py
serves() { said "$1" '^serves'; }
talk() { served "$1" serves ended "$sockets serve $server4" $sockets talk "$own4" $server4; }

everywhere "ports have addresses" connections_up
everywhere "the module" modules rds_rdma
for one in first second; do
	everywhere "$one: it is there" modprobe rds_rdma
	everywhere "$one: messages there and back, and memory" talk "$one"
	everywhere "$one: the module goes" modprobe -r rds_rdma
done
everywhere "its QPs are gone" within qps_are 0
finish

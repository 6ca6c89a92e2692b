#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours --subnet opensm --timeout 600
# check: no
# long: --core ours,distro
# Kernel consumers that connect by IP address, to the other guest and to themselves: a word on each
# connection, rejects by the consumer and without a listener.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
plan 8

kcma() { cat "/sys/module/rdma_kcma/parameters/$1"; }
connect() { echo "$1" >/sys/module/rdma_kcma/parameters/connect; }
heard() { [ "$(kcma received)" = "$1" ]; }

ok "ports have addresses" connections_up
ok "the consumer listens" modprobe rdma_kcma
lab-barrier listening
ok "it connects to itself" connect "$own4"
ok "it has heard itself" within heard 1
lab-barrier alone
ok "it connects to the other guest" connect "10.78.0.$((3 - LAB_NODE))"
ok "it has heard the other guest" within heard 2
lab-barrier heard
dmesg | grep rdma_kcma: | commented
is "all of its checks hold" 0 "$(kcma failed)"
ok "it goes" rmmod rdma_kcma
finish

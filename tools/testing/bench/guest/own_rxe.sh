#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# own_rxe.sh: what bench/ethernet starts in a guest that counts instructions: rdma_rxe, on whichever core
# there is, talks to itself and connects to itself. The figures land in $LAB_OUT/messages and connect.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/roce_checks.sh
. /lab/src/tools/testing/bench/guest/devices.sh
guest=/lab/src/tools/testing/bench/guest
own=10.79.0.1

gcc -O2 -Wall -Wextra -Werror -o /tmp/messages $guest/messages.c -libverbs &&
	gcc -O2 -Wall -Wextra -Werror -o /tmp/connect $guest/connect.c -lrdmacm -libverbs || die "no programs"
# no other node sends anything
ip link add own0 address 02:00:00:00:79:01 type dummy && ip link set own0 up && ip addr add $own/24 dev own0 &&
	rxe_on own0 && modprobe rdma_ucm || die "no rxe0"
LAB_DEV=rxe0
within find_gid $own || die "$own has no GID"
/tmp/messages rxe0 "$(find_gid $own)" >"$LAB_OUT/messages" && /tmp/connect $own steps >"$LAB_OUT/connect" ||
	die "rdma_rxe fails"
cat "$LAB_OUT/messages" "$LAB_OUT/connect"

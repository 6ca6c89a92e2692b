#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# sweep.sh HOSTS LINKS: what bench/subnet starts in the one guest of a large fabric: how many seconds
# opensm takes from its start until the subnet is up lands in $LAB_OUT/sweep, if all of it is up.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh

is_up() { grep -q "SUBNET UP" "$log"; }

modprobe ib_umad || exit 1
before=$(cut -d' ' -f1 /proc/uptime)
lab-opensm || exit 1
patience=300 within is_up || exit 1
after=$(cut -d' ' -f1 /proc/uptime)
counts "$1" '^Ca' ibhosts >/dev/null && counts $((2 * $2)) 'Active/  LinkUp' iblinkinfo -l >/dev/null || {
	echo "not all of it is up: $(ibhosts | wc -l) adapters, $(iblinkinfo -l | grep -c Active) ends of links"
	exit 1
}
no_errors || exit 1
awk "BEGIN { print $after - $before }" | tee "$LAB_OUT/sweep"

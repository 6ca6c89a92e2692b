#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours --subnet opensm --timeout 400
# long: --core ours,distro
# librdmacm's calls and the events of connections between two guests; see cm_calls.c.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh

listens_now() { said "$1" '# listens'; }

mapfile -t cases < <($programs/cm_calls names)
plan 22
ok "ports have addresses" connections_up
for ((i = 1; i <= ${#cases[@]}; i++)); do
	ok "${cases[i - 1]}" served "case$i" listens_now ended \
		"$programs/cm_calls server $server4 $server4 $i" \
		$programs/cm_calls client "$own4" $server4 "$i"
done
ok "no id is left" no_ids
finish

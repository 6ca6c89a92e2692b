#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours --kernel debug --cpus 2 --subnet opensm --mem 3072 --timeout 5400 --append "kmemleak=off dma_debug=off" --packages "fio nfs-common nfs-kernel-server nvme-cli open-iscsi srptools targetcli-fb" -- 300
# storage_debug.sh SECONDS [PROTOCOL...]: the kernel's own NVMe, iSER, SRP, NFS, RNBD, RDS and 9P, or smc, in
# the debug kernel: each for so long under a load that writes, reads back and compares, while all checks
# look on. kmemleak is off, since it takes half of the time. So is dma_debug: nvme-rdma and smc map buffers
# of which several are in a line of the cache, and ib_isert synchronises headers before it maps them, on the
# distribution's core as well; after its first report it would say nothing more.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/storage.sh
. /lab/src/tools/testing/selftests/rdma/storage_load.sh
. /lab/src/tools/testing/selftests/rdma/load_faults.sh
. /lab/src/tools/testing/selftests/rdma/ulp_load.sh

seconds=$1
protocols=${*:2}
protocols=${protocols:-nvme iscsi srp nfs rnbd p9 rds}
ports_up=connections_up again=0
if [ "$protocols" = smc ]; then
	. /lab/src/tools/testing/selftests/rdma/roce_checks.sh
	. /lab/src/tools/testing/selftests/rdma/smc_checks.sh
	ports_up=routed again=1
fi
count=$(wc -w <<<"$protocols")
plan $((again + (LAB_NODE == 1 ? 2 + count * 3 : 1 + count * 7)))

patience=600
at="rdma $server4 lab"
nvme_options="-i 2"

# loaded PROTOCOL: its load goes on for so long, and has not failed
loaded()
{
	if declare -F "$1_load" >/dev/null; then "$1_load"; else load_begins "$("$1_file")"; fi || return 1
	read -r -t "$seconds" -u "$lab_silence"
	load_ends && echo "$(passes) times"
}

# stays PROTOCOL written|kept
stays()
{
	if declare -F "$1_$2" >/dev/null; then "$1_$2"; else "$2" "$("$1_file")"; fi
}

everywhere "ports have addresses" $ports_up
guids
[ "$LAB_NODE" != 1 ] || disk lab 256
on 1 "a disk" test -b /dev/lab
for one in $protocols; do
	# RDS takes rds_trans_sem when an id calls it, and destroys an id under it
	[ "$one" != rds ] || echo 0 >/sys/module/lockdep/parameters/prove_locking
	# shellcheck disable=SC2086
	on 1 "$one: node 1 serves" ${one}_served $at
	on 2 "$one: what the client needs" ${one}_client_up
	# shellcheck disable=SC2086
	on 2 "$one: connect" ${one}_begins $at
	on 2 "$one: data that stay" stays $one written
	on 2 "$one: others again and again, for $seconds s" loaded $one
	on 2 "$one: the data that stay are there" stays $one kept
	# shellcheck disable=SC2086
	given_back $one $at
done
[ "$protocols" != smc ] || everywhere "each has its address again" own_network
# the debug kernel's run ends when every module is unloaded, and these have users
if [ "$LAB_NODE" = 1 ]; then
	[ ! -d "$lio/iscsi" ] || rmdir "$lio/iscsi"
	no_disk lab
fi
finish

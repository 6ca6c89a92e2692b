#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core distro,ours --subnet opensm --mem 2048 --timeout 2400 --packages "fio nfs-common nfs-kernel-server nvme-cli open-iscsi srptools targetcli-fb"
# ulp_faults.sh [PROTOCOL...]: the kernel's own RDS and RNBD, or smc, amid faults, as storage_faults has
# NVMe, iSER, SRP and NFS. RDS goes on after each of them. The others lose their connection by some: then
# what is under way fails, nothing of what was written before is lost, and a new connection is as good as
# the first. Debian's kernel is built without RNBD. 9P is not among them: on the distribution's core, too, its
# client never frees the buffer of a receive that fails, which the kernel reports when it is unmounted.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/storage.sh
. /lab/src/tools/testing/selftests/rdma/storage_load.sh
. /lab/src/tools/testing/selftests/rdma/load_faults.sh
. /lab/src/tools/testing/selftests/rdma/ulp_load.sh

protocols=${*:-rds rnbd}
[ "$LAB_CORE" = ours ] || protocols=${protocols/rnbd/}
faults="loss short long removal fatal"
# faults after which a protocol goes on as if nothing had been
declare -A survived=([rds]=$faults [rnbd]="loss short" [smc]="loss")
declare -A words=([loss]="1 % of the packets are lost" [short]="the link is cut for three seconds"
	[long]="the link is cut until the client gives the connection up"
	[removal]="the client's device is removed and added again" [fatal]="and has a fatal error")
ports_up=connections_up addresses_back=own_addresses again=0
if [ "$protocols" = smc ]; then
	. /lab/src/tools/testing/selftests/rdma/roce_checks.sh
	. /lab/src/tools/testing/selftests/rdma/smc_checks.sh
	ports_up=routed addresses_back="within find_gid $smc_own" again=1
	faults="loss short removal fatal"	# the first event of a port ends its connections
fi
count=$(wc -w <<<"$protocols")
struck=$(wc -w <<<"$faults")
plan $((LAB_NODE == 1 ? 2 + count * 3 + again : 1 + count * (8 + struck) + again))

# A protocol's own timers decide when it notices.
patience=600
at="rdma $server4 lab"

# ---- faults, and what comes of them --------------------------------------------------------------------

# goes_on_amid FAULT: the load does not notice
goes_on_amid()
{
	local was
	case $1 in
	loss) lossy ;;
	short) link_cut three_seconds ;;
	long) link_cut given_up_under_way && wait $! ;;
	removal | fatal)
		was=$(which_device)
		"$(how "$1")" && within another_device "$was" && $addresses_back && goes_on
		;;
	esac
}

# given_up_under_way: an adapter gives a connection up when it sends and nothing answers. The load may just wait
# for what the other one sends.
given_up_under_way() { { rds_once & } && until_given_up; }

how() { [ "$1" = removal ] && echo by_hand || echo by_error; }

# breaks_by PROTOCOL FAULT: its connection ends, and another one is there when it is over
breaks_by()
{
	case $2 in
	loss)
		lab-fault loss all permille=10 seed=7 && "$1_down" && lab-fault clear all && "$1_breaks"
		;;
	short) link_is_cut three_seconds && "$1_breaks" ;;
	long) link_is_cut "$1_down" && "$1_breaks" ;;
	*) device_breaks "$1" "$(how "$2")" ;;
	esac && "$1_again" && "$1_load"
}

# device_breaks PROTOCOL HOW: the device may wait for the protocol's users before it goes
device_breaks()
{
	local was pid
	was=$(which_device)
	taken "$2" >/tmp/taken 2>&1 &
	pid=$!
	"$1_breaks" && wait $pid && given "$2" && within another_device "$was" && $addresses_back
}

# strikes PROTOCOL FAULT
strikes()
{
	case " ${survived[$1]} " in
	*" $2 "*) goes_on_amid "$2" ;;
	*) breaks_by "$1" "$2" ;;
	esac
}

everywhere "ports have addresses" $ports_up
[ "$LAB_NODE" != 1 ] || disk lab 256
on 1 "a disk" test -b /dev/lab
for one in $protocols; do
	# shellcheck disable=SC2086
	on 1 "$one: node 1 serves" ${one}_served $at
	on 2 "$one: what the client needs" ${one}_client_up
	# shellcheck disable=SC2086
	on 2 "$one: connect" ${one}_begins $at
	on 2 "$one: data are written" ${one}_written
	on 2 "$one: others again and again" ${one}_load
	for fault in $faults; do
		on 2 "$one: ${words[$fault]}" strikes $one $fault
	done
	on 2 "$one: the load ends" load_ends
	on 2 "$one: data are as they should be" ${one}_kept
	# shellcheck disable=SC2086
	given_back $one $at
done
[ "$protocols" != smc ] || everywhere "each has its address again" own_network
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours --link eth --timeout 600
# check: no
# What cm_programs, cm_calls and cm_removal show on InfiniBand, on Ethernet ports: programs connect by
# address, join groups by IGMP and MLD, and lose their device.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/roce_checks.sh
own4=$roce4 own6=$roce6

# member FILE GROUP: the net device is in an IP group, which a file of /proc/net shows
member() { grep -qi "$2" "/proc/net/$1"; }
no_member() { ! member "$@"; }

# group SERVER OWN GROUP READY OPTION...: node 1 receives what node 2 sends to a multicast group
group()
{
	local server=$1 own=$2 group=$3 ready=$4
	shift 4
	served "mckey$group$*" "$ready" mckey_ended "mckey -b $server -C 20 -m $group" \
		mckey -b "$own" -s -C 20 -m "$group" "$@"
}
received4() { mckey_receives "$1" && member igmp 030201EF; }
received6() { mckey_receives "$1" && member igmp6 ff150000000000000000000000004711; }

# unreachable6: the case of that name over the other family
unreachable6()
{
	local case
	case=$($programs/cm_calls names eth | sed -n 's/ UNREACHABLE .*//p')
	served unreachable6 listens_now ended "$programs/cm_calls server $server6 $server6 $case" \
		$programs/cm_calls client "$own6" $server6 "$case"
}

call_plan=$($programs/cm_calls names eth | wc -l)
plan $((16 + call_plan + (LAB_NODE == 2 ? 6 : 0) + 2))
ok "addresses have GIDs" roce_up
ok "there are programs' connections" modprobe rdma_ucm
ok "and settings of ports" settings
ok "udaddy" over4 udaddy -c 10 -C 20
ok "udaddy over IPv6" over6 udaddy
ok "ucmatose, 20 connections" over4 ucmatose -c 20 -C 5
ok "ucmatose over IPv6" over6 ucmatose
ok "ucmatose to another channel" over4 ucmatose -c 5 -m
ok "mckey" group $server4 "$own4" 239.1.2.3 received4
ok "the group is left" no_member igmp 030201EF
ok "mckey over IPv6" group $server6 "$own6" ff15::4711 received6
ok "the group is left" no_member igmp6 ff150000000000000000000000004711
ok "mckey, who only sends" group $server4 "$own4" 239.1.2.3 received4 -o
ok "cmtime" roce_cmtime
call_cases eth
ok "UNREACHABLE over IPv6" unreachable6
ok "no id is left" no_ids

before=$(left)
if [ "$LAB_NODE" = 2 ]; then
	lost_at_every_stage
	ok "addresses have GIDs again" gids
	ok "there is what there was" within as_before
fi
lab-barrier back
ok "rping" roce_ping $server4 -C 10
ok "no id is left" no_ids
finish

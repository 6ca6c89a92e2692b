#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours --subnet opensm --timeout 900
# MADs are lost, come twice, late and in another order, on every link: a sweep of the distribution's
# opensm, its programs that ask it and walk the fabric, and kernel consumers end, if late. What they
# say meanwhile is either right or an error; afterwards all is as it was.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh

nodes() { saquery --smkey 1 NR; }
walk() { ibnetdiscover; }
known() { [ "$(nodes | grep -c 'NodeRecord dump')" = 3 ]; }

# ends NAME PROGRAM: it does before long, with what it said without faults or with an error
ends()
{
	local rc=0
	timeout "$patience" bash -c "$(declare -f "$2"); $2" >"/tmp/$1" 2>"/tmp/$1.errors" || rc=$?
	echo "exit status $rc"
	cat "/tmp/$1.errors"
	[ $rc != 124 ] || return 1
	[ $rc != 0 ] || [ -s "/tmp/$1.errors" ] ||
		diff <(grep -v '^#' "/tmp/calm.$2") <(grep -v '^#' "/tmp/$1")
}

sweeps() { grep -c 'SUBNET UP' "$log"; }
swept() { [ "$(sweeps)" -gt "$1" ]; }
# sweep: the manager looks at all there is, and is done with it
sweep()
{
	local before
	before=$(sweeps)
	kill -HUP "$(</run/lab/opensm)" && within swept "$before"
}

faults=(loss twice late)
params=/sys/module/rdma_ksa/parameters
plan $((LAB_NODE == 1 ? 17 : 2))
know_lids
modprobe rdma_ksa peer_lid="${lid[3 - LAB_NODE]}"
ok "a class of MADs is served at a QP of its own" sh -c "echo 1 >$params/svc"
cat $params/svc_qpn >"$LAB_OUT/svc_qpn.$LAB_NODE"
lab-barrier served
if [ "$LAB_NODE" = 1 ]; then
	before=$(<$params/passed)
	nodes >/tmp/calm.nodes
	walk >/tmp/calm.walk
	ok "two guests and a switch are known" known
	for name in "${faults[@]}"; do
		case $name in
		loss) fault="loss all permille=100" ;;
		twice) fault="duplicate all permille=200 usec=1000" ;;
		late) fault="reorder all permille=200 usec=20000 jitter=20000" ;;
		esac
		# shellcheck disable=SC2086
		lab-fault $fault
		ok "$name: opensm sweeps" sweep
		ok "$name: saquery ends" ends "$name.nodes" nodes
		ok "$name: ibnetdiscover ends" ends "$name.walk" walk
		cat "$LAB_OUT/svc_qpn.2" >$params/svc_ask
		ok "$name: packets were struck" sh -c 'lab-vhcactl status | grep "struck [1-9]"'
		lab-fault clear all
	done
	is "messages of many packets are whole, from QP1 and from another QP" \
		"$((11 * ${#faults[@]})) 0" "$(($(<$params/passed) - before)) $(<$params/failed)"
	ok "without faults, all is known again" within known
	ok "and as it was" ends calm.again walk
fi
lab-barrier struck
[ "$LAB_NODE" = 1 ] || is "messages of many packets are whole" 0 "$(<$params/failed)"
rmmod rdma_ksa
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours --subnet none --load modules --timeout 3600 --device-arg --topology --device-arg /lab/src/tools/testing/selftests/rdma/pair.json
# On every link one MAD of ten is lost, one comes twice, and one late, all at once: each program of the
# distribution that sends MADs ends, with an answer or an error, and so do flows of osmtest; and
# the opensm that waits takes over from the one that is killed. The programs run in node 2, so that what
# they ask the other node's opensm uses the links. mad_faults.sh looks at what is answered.
#
# The switch has two ports, since flow q asks for every pair of them. Flow f asks for tables (-s 2), and ends
# with the first that does not come; of short queries it goes on, until a hundred have had no answer or it has
# asked a hundred thousand times.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh

active() { [ "$(port_state "$LAB_DEV")" = "4: ACTIVE" ]; }
managed_by() { [ "$(($(<"$port/sm_lid")))" = "$1" ] && active; }
struck() { [ "$(lab-vhcactl status | grep -c "struck [1-9]")" -ge 3 ]; }

# ends COMMAND...: it does so by itself, and says why it fails if it does
ends()
{
	local rc=0 began=$SECONDS
	timeout "$patience" "$@" >/tmp/ends 2>&1 || rc=$?
	echo "exit status $rc after $((SECONDS - began)) s"
	tail -n 3 /tmp/ends
	# Most of them exit with -1 when they fail, which is no signal's number.
	[ "$rc" = 0 ] || [ -s /tmp/ends ] && { [ "$rc" -lt 124 ] || [ "$rc" = 255 ]; }
}

flows="c a v s f m q"
records="CPI NR PIR SL2VL PKTR VLAR LR PR LFTR GIR SWIR SMIR SR IIR MCMR MFTR"
attributes="nodeinfo nodedesc portinfo portinfoextended pkeys guidinfo sl2vl vlarb mlnxextportinfo"
# PEER, OWN and SWITCH stand for LIDs
commands=("ibstat" "ibstatus" "ibhosts" "ibswitches" "ibnetdiscover" "iblinkinfo -l" "ibroute SWITCH"
	"ibroute -M SWITCH" "ibtracert OWN PEER" "ibping -c 3 PEER" "sminfo" "smpquery switchinfo SWITCH"
	"saquery --src-to-dst OWN:PEER" "perfquery PEER 1" "perfquery -x PEER 1" "perfquery -R PEER 1"
	"perfquery -a SWITCH" "ibportstate PEER 1 query" "ibqueryerrors" "smpdump -D 0 0x11" "smpdump PEER 0x15 1"
	"ibaddr PEER" "ibsysstat PEER host" "ibccquery CongestionInfo PEER" "vendstat -N PEER")
plan $((LAB_NODE == 1 ? 5 : 9 + ${#commands[@]} + $(wc -w <<<"$flows $records $attributes")))

printf '%s\n' "sminfo_polling_timeout 1000" "polling_retry_number 8" "sweep_interval 5" >/tmp/opensm.conf
modprobe ib_umad
[ "$LAB_NODE" != 1 ] || lab-opensm -F /tmp/opensm.conf -p 10
ok "the port becomes ACTIVE" within active
know_lids
if [ "$LAB_NODE" = 2 ]; then
	ok "a second opensm starts" lab-opensm -F /tmp/opensm.conf -p 5
	ok "and waits" within says SMINFO_STANDBY sminfo "${lid[2]}"
else
	ibping -S >/dev/null 2>&1 &
	servers=$!
	ibsysstat -S >/dev/null 2>&1 &
	servers="$servers $!"
fi
lab-barrier waits

if [ "$LAB_NODE" = 2 ]; then
	sw=$(switch_lids | head -n 1)
	cd /tmp || exit 1	# osmtest writes there.
	ok "osmtest knows what there is" osmtest -f c -i /tmp/osmtest.dat -M 1
	for fault in loss "duplicate usec=1000" "reorder usec=20000 jitter=20000"; do
		read -r kind more <<<"$fault"
		# shellcheck disable=SC2086
		lab-fault "$kind" all permille=100 $more
	done
	for one in "${commands[@]}"; do
		one=${one//PEER/${lid[1]}}
		one=${one//OWN/${lid[2]}}
		# shellcheck disable=SC2086
		ok "$one" ends ${one//SWITCH/$sw}
	done
	for one in $attributes; do ok "smpquery $one" ends smpquery "$one" "${lid[1]}" 1; done
	for one in $records; do ok "saquery $one" ends saquery --smkey 1 "$one"; done
	# Each answer is waited for 0.1 s (-t).
	for one in $flows; do
		inventory=/tmp/osmtest.dat
		[ "$one" != c ] || inventory=/tmp/struck.dat
		ok "osmtest, flow $one" ends osmtest -f "$one" -i $inventory -M 1 -t 100 -s 2
	done
	ok "packets met each of the faults" struck
fi
lab-barrier asked
[ "$LAB_NODE" != 1 ] || kill -9 "$(</run/lab/opensm)"
ok "the manager is killed, and node 2 manages" within managed_by "${lid[2]}"
lab-barrier taken-over
[ "$LAB_NODE" != 2 ] || lab-fault clear all
lab-barrier calm
# shellcheck disable=SC2086
[ "$LAB_NODE" != 1 ] || kill $servers
ok "without faults, all is known" within counts 2 '^Ca' ibhosts
ok "and who manages" says "sm lid ${lid[2]} .*SMINFO_MASTER" sminfo
ok "data arrive" pair last 18515 ibv_rc_pingpong -d "$LAB_DEV" -c -n 100
lab-barrier judged
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 3 --core ours,distro --subnet none --load modules --timeout 1200 --device-arg --topology --device-arg /lab/src/tools/testing/selftests/rdma/tree.json
# What opensm can be told: each way to find routes, one LID a port and four, partitions, quality of
# service; and its own test, osmtest, against it.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh

engines="minhop updn lash ftree"
with_four="minhop updn lash"	# ftree knows one LID a port
flows="c a v s f m q"
plan $((2 + $(wc -w <<<"$engines $with_four") * 2 + 14 +
	(LAB_NODE == 1 ? $(wc -w <<<"$flows $engines $engines $with_four $with_four $with_four") + 16 : 0) +
	(LAB_NODE == 3 ? 1 : 0)))

four() { active && [ "$(($(<"$port/lid_mask_count")))" = 2 ]; }
one_lid() { active && [ "$(($(<"$port/lid_mask_count")))" = 0 ]; }
active() { [ "$(port_state "$LAB_DEV")" = "4: ACTIVE" ]; }

# manager NAME OPTION...: opensm runs in node 1 with these options, and has swept
manager()
{
	local name=$1 pid=
	shift
	[ "$LAB_NODE" = 1 ] || { lab-barrier "$name"; return; }
	[ ! -e /run/lab/opensm ] || pid=$(</run/lab/opensm)
	if [ -n "$pid" ]; then
		kill "$pid"
		within sh -c "! kill -0 $pid"
		mv "$log" "$LAB_OUT/opensm.before-$name.log"
	fi
	lab-opensm "$@" && within grep -q "SUBNET UP" "$log"
	lab-barrier "$name"
}

# settled: a trap has told this manager that there is a manager on its port, after the sweep in which it
# came up or amid it, and it has swept for that, too: osmtest compares what it finds with what it found
# before
settled() { awk '/num:144/ { told = 1; up = 0 } /SUBNET UP/ { up = told; sweeps++ } END { exit !up || sweeps < 2 }' "$log"; }

# A full member of the default partition has the manager's P_Key first.
pkeys() { cat "$port"/pkeys/* | grep -v 0x0000 | sort | paste -sd' '; }

# ibqueryerrors fails when it finds any.
dropped_by_switch() { ibqueryerrors | grep PortXmitConstraintErrors; }
violations() { cat "$port/hw_counters/pkey_violations"; }

# half NAME RESULT SERVER CLIENT: the result of ib_send_bw in partition 3, from node CLIENT to node SERVER:
# "sent" or "unanswered". A server waits without end for what does not arrive.
half()
{
	local name=$1 result=$2 server=$3 client=$4 pid='' rc=0 index
	index=$(grep -lx "0x[08]003" "$port"/pkeys/*)
	set -- ib_send_bw -d "$LAB_DEV" -F -n 100 --pkey_index="${index##*/}"
	if [ "$LAB_NODE" = "$server" ]; then
		"$@" >"$LAB_OUT/$name.server" 2>&1 &
		pid=$!
		wait_listen 18515 "$pid" || true
	fi
	lab-barrier "$name-listens"
	if [ "$LAB_NODE" = "$client" ]; then
		if "$@" "10.77.0.$server" >/tmp/half 2>&1; then
			echo sent
		elif grep -q "Failed status 12" /tmp/half; then
			echo unanswered
		fi >"$LAB_OUT/$name.result"
		cat /tmp/half
	fi
	lab-barrier "$name-asked"
	if [ -n "$pid" ]; then
		[ "$result" = sent ] || kill "$pid"
		ended "$pid" || [ "$result" != sent ] || rc=1
	fi
	[ "$(<"$LAB_OUT/$name.result")" = "$result" ] && return $rc
}

guid() { tr -d : <"$port/gids/0" | cut -c17-; }

# each_lid: node 1 reaches all nodes by each of their LIDs
each_lid()
{
	local k i
	for ((k = 1; k <= LAB_NODES; k++)); do
		for ((i = 0; i < 4; i++)); do
			says "PortGuid:.*0x$(<"$LAB_OUT/guid.$k")" smpquery nodeinfo $((lid[k] + i)) || return 1
		done
	done
}

modprobe ib_umad
manager first
ok "the port becomes ACTIVE" within active
know_lids
is "the manager is in node 1" "${lid[1]}" "$(($(<"$port/sm_lid")))"

for one in $engines; do
	manager "$one" -R "$one"
	[ "$LAB_NODE" != 1 ] || ok "$one made the tables" grep "$one tables configured" "$log"
	ok "$one: the port is ACTIVE" within active
	[ "$LAB_NODE" != 1 ] || ok "$one: every switch knows the way to every port" every_table
	ok "$one: data arrive" pair "$one" 18515 ibv_rc_pingpong -d "$LAB_DEV" -c -n 50
done

guid >"$LAB_OUT/guid.$LAB_NODE"
lab-barrier guids
for one in $with_four; do
	manager "$one-four" -R "$one" -l 2
	[ "$LAB_NODE" != 1 ] || ok "$one, four LIDs: the tables" grep "$one tables configured" "$log"
	ok "$one, four LIDs: the port is ACTIVE and has them" within four
	know_lids
	[ "$LAB_NODE" != 1 ] || ok "$one, four LIDs: every switch knows the ways to every port" every_table 4
	[ "$LAB_NODE" != 1 ] || ok "$one, four LIDs: each leads to its port" each_lid
	ok "$one, four LIDs: data arrive" pair "$one-four" 18515 ibv_rc_pingpong -d "$LAB_DEV" -c -n 50
done

# Nodes 1 and 2 in a partition of their own; all in one whose only full member is node 1; and all in the
# default one, node 3 as a limited member.
read -r one <"$LAB_OUT/guid.1"
read -r two <"$LAB_OUT/guid.2"
read -r three <"$LAB_OUT/guid.3"
cat >/tmp/partitions.conf <<EOT
Default=0x7fff, ipoib : ALL=limited, SELF=full, 0x$two=full ;
pair=0x0002 : 0x$one=full, 0x$two=full ;
half=0x0003 : 0x$one=full, 0x$two=limited, 0x$three=limited ;
EOT
cat >/tmp/qos.conf <<EOT
qos TRUE
qos_max_vls 4
qos_high_limit 3
qos_vlarb_high 0:4,1:8
qos_vlarb_low 2:16,3:32
qos_sl2vl 0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3
EOT
manager partitions -P /tmp/partitions.conf
ok "partitions: the port has one LID again" within one_lid
know_lids
case $LAB_NODE in
1) expected="0x8002 0x8003 0xffff" ;;
2) expected="0x0003 0x8002 0xffff" ;;
3) expected="0x0003 0x7fff" ;;
esac
ok "partitions: the P_Keys of this port" within says "^$expected\$" pkeys
[ "$LAB_NODE" != 1 ] || ok "partitions: every switch knows the way to every port" every_table
[ "$LAB_NODE" != 1 ] || ibqueryerrors -k >/dev/null
before=$(violations)
lab-barrier partitioned
ok "partitions: data arrive in the second" pair inside 18515 ib_send_bw -d "$LAB_DEV" -F -n 100 --pkey_index=1
lab-barrier inside
ok "partitions: the manager answers, also a limited member" says ClassPortInfo saquery CPI
ok "partitions: a full member sends to a limited one" half full-limited sent 3 1
ok "partitions: a limited one to a full one" half limited-full sent 1 2
ok "partitions: but not to a limited one" half limited-limited unanswered 3 2
[ "$LAB_NODE" != 1 ] || ok "partitions: a switch drops it" dropped_by_switch
is "partitions: no adapter sees it" "$before" "$(violations)"
lab-barrier dropped
manager adapters -P /tmp/partitions.conf -Z off
ok "without switches: a full member sends to a limited one" half adapters-sent sent 3 1
ok "without switches: no limited one to a limited one" half adapters-unanswered unanswered 3 2
[ "$LAB_NODE" != 3 ] || ok "without switches: the adapter drops it" [ "$(violations)" -gt "$before" ]

manager qos -F /tmp/qos.conf
ok "quality of service: the port is ACTIVE" within active
[ "$LAB_NODE" != 1 ] || ok "every switch knows the way to every port" every_table
ok "its SLs share four VLs" says "0| 1| 2| 3| 0| 1| 2| 3" smpquery sl2vl "${lid[1]}" 1
ok "and its VLs have their weights" says "WEIGHT: |0x4 *|0x8" smpquery vlarb "${lid[1]}" 1
ok "data arrive on the last SL" pair qos 18515 ib_send_bw -d "$LAB_DEV" -F -n 100 --sl=15

manager last
if [ "$LAB_NODE" = 1 ]; then
	for one in $log "$LAB_OUT"/opensm.before-*.log; do
		ok "opensm has nothing to complain of: ${one##*/}" no_errors "$one"
	done
	ok "opensm has nothing more to sweep for" within settled
	# It asks for what does not exist, too, and opensm says so. -s 2: 10,000 queries with long answers.
	cd /tmp || exit 1	# It writes there.
	for one in $flows; do
		ok "osmtest, flow $one" osmtest -f "$one" -i /tmp/osmtest.dat -M 1 -s 2
	done
fi
lab-barrier tested
finish

# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Checks of cm_loss.sh and cm_debug.sh: sourced behind lib.sh, subnet.sh and connections.sh. $many
# connections at once while the CM's messages are lost, duplicated, delayed and reordered: both sides agree
# about each, and nothing is left.
# shellcheck shell=bash disable=SC2034

# Three times as long as cm_storm waits for an event: to be connected, to be disconnected, and for the
# machine's own work. A client that is killed prints no outcomes.
CM_PATIENCE=540

# storm NAME FAULT...: that many connections with these faults of the links
storm()
{
	local name=$1 rc=0
	shift
	[ "$LAB_NODE" != 1 ] || lab-fault "$@" || return 1
	local began=$SECONDS
	served "$name" cm_listens stopped_well "$programs/cm_storm server $many $server4" \
		$programs/cm_storm client $many $server4 || rc=1
	echo "$((SECONDS - began)) s"
	if [ "$LAB_NODE" = 1 ]; then
		[ "$1" = clear ] || lab-vhcactl status | grep "struck [1-9]" || rc=1
		lab-fault clear all || rc=1
	fi
	lab-barrier "$name-calm"
	return $rc
}
stopped_well() { kill "$1" && ended "$1" 200; }

# agreed NAME: each is established, and disconnected by now, or refused, in both accounts
agreed()
{
	diff <(grep '^[0-9]' "$LAB_OUT/$1.node1") <(grep '^[0-9]' "$LAB_OUT/$1.node2") || return 1
	awk '/^[0-9]/ { n[$2]++ } END { for (one in n) print n[one], one; exit !(n["gone"] == '$many' * 9 / 10 &&
		n["refused"] == '$many' / 10) }' "$LAB_OUT/$1.node$LAB_NODE"
}

storm_plan=13
storm_checks()
{
	local name fault qps_before
	qps_before=$(storm_qps)
	for name in calm loss twice late; do
		case $name in
		calm) fault="clear all" ;;
		loss) fault="loss all permille=100 mgmt_class=7" ;;
		twice) fault="duplicate all permille=200 usec=1000 mgmt_class=7" ;;
		late) fault="reorder all permille=200 usec=20000 jitter=20000 mgmt_class=7" ;;
		esac
		# shellcheck disable=SC2086
		ok "$name: $many connections" storm "$name" $fault
		ok "$name: both sides agree about each" agreed "$name"
		ok "$name: no id is left" no_ids
	done
	is "nor a QP of the device" "$qps_before" "$(storm_qps)"
}
storm_qps() { lab-vhcactl qps "node$LAB_NODE-0" | wc -l; }

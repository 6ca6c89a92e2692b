# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Helpers of the tests that look at ports and their subnet: sourced behind lib.sh.
# shellcheck shell=bash

port=/sys/class/infiniband/$LAB_DEV/ports/1
log=$LAB_OUT/opensm.n$LAB_NODE.log
declare -a lid

# within COMMAND...: until COMMAND succeeds; fails after $patience
within()
{
	local deadline=$((SECONDS + patience))
	until "$@" >/tmp/within 2>&1; do
		[ "$SECONDS" -lt "$deadline" ] || { cat /tmp/within; return 1; }
		moment
	done
}

# know_lids: lid[K] is node K's LID, for all nodes; they meet here
know_lids()
{
	local k
	cat "$port/lid" >"$LAB_OUT/lid.$LAB_NODE"
	lab-barrier know-lids
	for ((k = 1; k <= LAB_NODES; k++)); do lid[k]=$(($(<"$LAB_OUT/lid.$k"))); done
	lab-barrier known-lids
}

# says WORDS COMMAND...: COMMAND succeeds and prints WORDS; the lines that have them are shown
says()
{
	local words=$1
	shift
	"$@" >/tmp/says 2>&1 && grep -- "$words" /tmp/says || { cat /tmp/says; return 1; }
}

# counts N WORDS COMMAND...: COMMAND succeeds and prints WORDS on N lines
counts()
{
	local n=$1 words=$2
	shift 2
	says "$words" "$@" >/tmp/counts && [ "$(wc -l </tmp/counts)" = "$n" ] || { cat /tmp/says; return 1; }
}

state_is() { [ "$(port_state "$LAB_DEV")" = "$1" ] || { port_state "$LAB_DEV"; return 1; }; }

# as_in_linux NAME: names, modes and values of the port's files are those of Linux 6.12. The first core
# writes them down, the second one compares. Counters are left out, since they go on counting, and so is
# mad_rx_dropped, which ours alone has.
as_in_linux()
{
	local ours=${LAB_OUT%/*}/ours/sysfs.$1
	{
		cd "/sys/class/infiniband/$LAB_DEV/" || return 1
		find . -path ./device -prune -o -path ./ports/1/mad_rx_dropped -prune -o -printf '%P %y %m\n'
		grep -rs '' ports/1 | grep -v '^ports/1/\(counters\|hw_counters\|mad_rx_dropped\)/'
	} | sort >"$LAB_OUT/sysfs.$1"
	[ "$LAB_CORE" = ours ] || diff "$ours" "$LAB_OUT/sysfs.$1"
}

# manager_killed: kills this node's opensm, and waits until it has ended: another one can have its agents
# then
manager_killed()
{
	local pid
	pid=$(</run/lab/opensm)
	kill -9 "$pid"
	while [ -e "/proc/$pid" ]; do moment; done
}

# switch_lids: the LIDs of the switches
switch_lids() { ibswitches | sed -n 's/.* lid \([0-9]*\) lmc .*/\1/p'; }

# every_table [LIDS]: each switch has a route to every port, to each of LIDS LIDs of it (1)
every_table()
{
	local sw k i some=
	for sw in $(switch_lids); do
		some=yes
		ibroute "$sw" >/tmp/route || return 1
		for ((k = 1; k <= LAB_NODES; k++)); do
			for ((i = lid[k]; i < lid[k] + ${1:-1}; i++)); do
				grep -q "^$(printf '0x%04x' "$i") .*\(Channel Adapter\|path #\)" /tmp/route || {
					echo "switch $sw knows no way to LID $i of node $k:"
					cat /tmp/route
					return 1
				}
			done
		done
	done
	[ -n "$some" ]
}

# hops FROM TO: the number of switches on the route that the switches' tables give
hops() { ibtracert "$1" "$2" | grep -c '^\[[0-9]*\] -> switch'; }

# objects: how many of each kind the daemon has for the HCA that it calls $own; as_it_was: they are $before
objects() { lab-vhcactl objects "$own"; }
as_it_was() { [ "$(objects)" = "$before" ] || { objects; return 1; }; }

# no_errors [LOG]: opensm has complained of nothing but what the test has put into $sm_expected, with
# the reason why
no_errors() { ! errors "${1:-$log}" | grep -vE "${sm_expected:-^$}"; }

# errors LOG: all but those about a port that has its LID from an earlier manager and sends a trap to one
# that has just started, which knows no LIDs before its first sweep
errors()
{
	awk '/SUBNET UP/ { swept = 1 }
		/ERR 7504: Lid is out of range|ERR 3809: Failed to find source physical port/ && !swept { next }
		/ ERR /' "$1"
}

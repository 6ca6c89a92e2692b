# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Checks of cm_hostile.sh and cm_hostile_roce.sh: sourced behind lib.sh, subnet.sh and connections.sh.
# shellcheck shell=bash disable=SC2034

kinds="req mra rej rep rtu dreq drep sidr_req sidr_rep lap apr"
victim_port=7701

hostile()
{
	/lab/src/tools/testing/selftests/rdma/cm_hostile.py "${lid[1]}" "$own_gid" "$server_gid" $victim_port "$@"
}

# received: prints how many messages of each kind have arrived
received() { for kind in $kinds; do cat "$port/cm_rx_msgs/$kind"; done; }

# more N: N of each kind have arrived since $before, which has the output of received()
more() { [ "$(received)" = "$(for n in $before; do echo $((n + $1)); done)" ] || { received; return 1; }; }

pings() { rping -c -a "$server4" -C "$1" -V; }

# connected_during COMMAND...: a connection stands while COMMAND runs, and every message arrives
connected_during()
{
	local pid
	pings 300 &
	pid=$!
	"$@" && ended "$pid"
}

qps() { lab-vhcactl qps "node$LAB_NODE-0" | wc -l; }
qps_as_before() { [ "$(qps)" = "$qps_before" ] || { lab-vhcactl qps "node$LAB_NODE-0"; return 1; }; }

# listener_alone PID: the listening id is the only one of the program
listener_alone() { [ "$(rdma resource show cm_id | grep -c " pid $1 ")" = 1 ]; }

# connection_of PID: what the rdma tool shows of the program's connection
connection_of() { rdma resource show cm_id | grep "state CONNECT .*pid $1 "; }

# grows FILE: more is written to it
grows()
{
	local size

	size=$(stat -c %s "$1")
	longer() { [ "$(stat -c %s "$1")" -gt "$2" ]; }
	within longer "$1" "$size"
}

# numbers_of: prints the own number and the peer's of the connection, the only one that was made since
# $instance traces
numbers_of() { sed -n 's/.* icm_send_rtu: local_id=\([0-9]*\) remote_id=\([0-9]*\) .*/\1 \2/p' $instance/trace; }

# Node 2 has a connection, and sends messages that name it to the server in node 1.
live_checks()
{
	local server=${1-} instance=/sys/kernel/tracing/instances/hostile out=$LAB_OUT/live pid numbers

	if [ "$LAB_NODE" = 2 ]; then
		mkdir $instance
		echo 1 >$instance/events/ib_cma/enable
		stdbuf -oL rping -c -v -a "$server4" -C 1000000 -V >"$out" 2>&1 &
		pid=$!
		awaited $pid connection_of $pid >/dev/null && grows "$out" ||
			echo "Bail out! the client does not connect"
		numbers=$(numbers_of)
		echo 0 >$instance/events/enable
	fi
	lab-barrier live
	[ "$LAB_NODE" = 2 ] || connection_of "$server" | sed -n 's/.* lqpn \([0-9]*\) .*/\1/p' >"$LAB_OUT/qpn"
	lab-barrier qpn
	if [ "$LAB_NODE" = 2 ]; then
		# shellcheck disable=SC2086
		ok "messages that name a connection" hostile live $numbers "$(<"$LAB_OUT/qpn")"
		ok "it goes on" grows "$out"
		ok "both of its ends think so" connection_of $pid
	fi
	lab-barrier named
	[ "$LAB_NODE" = 2 ] || ok "both of its ends think so" connection_of "$server"
	lab-barrier ends
	if [ "$LAB_NODE" = 2 ]; then
		# shellcheck disable=SC2086
		ok "its end may end it" hostile end $numbers "$(<"$LAB_OUT/qpn")"
	else
		ok "and it is gone" within listener_alone "$server"
	fi
	lab-barrier end
	if [ "$LAB_NODE" = 2 ]; then
		# its own end has got no event, or found that it gets no answer
		kill -9 $pid
		wait $pid
		rmdir $instance
	fi
}

# Node 2 sends messages of connections to a server in node 1 that no manager would send; another server
# has the connections beside them.
hostile_plan_server=9
hostile_plan_client=11
hostile_checks()
{
	local victim server before qps_before
	native_addresses
	know_lids
	qps_before=$(qps)
	if [ "$LAB_NODE" = 1 ]; then
		rping -s -P -a "$server4" -V >"$LAB_OUT/beside" 2>&1 &
		server=$!
		$programs/cm_victim "$server4" $victim_port >"$LAB_OUT/victim" 2>&1 &
		victim=$!
		ok "servers listen" both_listen "$server" "$victim"
		before=$(received)
	fi
	lab-barrier served
	[ "$LAB_NODE" = 1 ] || ok "messages about connections that there are not" hostile strangers 10
	lab-barrier strangers
	[ "$LAB_NODE" = 2 ] || ok "each of them is counted" within more 10
	lab-barrier counted
	if [ "$LAB_NODE" = 2 ]; then
		ok "requests of which one byte is wrong" hostile mutants
		ok "a connection stands" pings 10
		ok "noise beside a connection" connected_during hostile noise 2000
		ok "many requests by somebody who knows nothing of them" hostile flood 300
		ok "a connection stands" pings 10
	fi
	live_checks "${server-}"
	lab-barrier flooded
	if [ "$LAB_NODE" = 1 ]; then
		ok "no request has left an id" within listener_alone "$victim"
		stopped "$victim"
		is "the server has borne it" 0 $?
		stopped "$server"
		is "so has the other one" 0 $?
		cat "$LAB_OUT/victim"
	fi
	ok "no QP is left" within qps_as_before
	[ "$LAB_NODE" = 2 ] || ok "no id is left" within no_ids
	lab-barrier nothing-left
}
both_listen() { cm_listens "$1" && cm_listens "$2"; }

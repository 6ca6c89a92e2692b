# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Helpers of the tests that connect by address: sourced behind lib.sh and subnet.sh. Node K has the
# addresses 10.78.0.K and fd00:78::K on its RDMA device; node 1 serves and node 2 is the client.
# shellcheck shell=bash

server4=10.78.0.1 server6=fd00:78::1
own4=10.78.0.$LAB_NODE own6=fd00:78::$LAB_NODE
# time limit of a client
CM_PATIENCE=${CM_PATIENCE:-240}

# net_device: the network interface whose hardware address is the GID of the device's port
net_device() { ls "/sys/class/infiniband/$LAB_DEV/device/net"; }

# solicits NET: waits up to a minute until a neighbour answers. The first solicitations may come before
# switches have the entries of their group, which no event reports; and the peer may be paused.
solicits()
{
	echo 60 >"/proc/sys/net/ipv6/neigh/$1/mcast_solicit"
	echo 60 >"/proc/sys/net/ipv4/neigh/$1/mcast_solicit"
}

# reaches ADDRESS: it answers; the output of ping is shown. Packets that wait for a path are dropped if the
# subnet manager is slow to answer, so that a single request may get no answer.
reaches() { within ping -q -c 1 -w 20 "$1" && cat /tmp/within; }

# own_addresses: IPoIB gives the port this node's addresses
own_addresses()
{
	local net
	within net_device || return 1
	net=$(net_device)
	# sysfs has a new interface a moment before it has these settings, ip afterwards
	ip addr replace "$own4/24" dev "$net" && ip addr replace "$own6/64" dev "$net" nodad &&
		solicits "$net" && ip link set "$net" up &&
		within grep -q 1 "/sys/class/net/$net/carrier"
}

# connections_up: ports have addresses, and programs can use the RDMA CM. All nodes meet here.
connections_up()
{
	local k
	modprobe ib_ipoib && modprobe rdma_ucm && own_addresses || return 1
	lab-barrier addresses
	for ((k = 1; k <= LAB_NODES; k++)); do
		reaches "10.78.0.$k" && reaches "fd00:78::$k" || return 1
	done
	lab-barrier reached
}

# awaited PID COMMAND...: waits until COMMAND succeeds; fails when PID ends first, or after $patience
awaited()
{
	local pid=$1 deadline=$((SECONDS + patience))
	shift
	until "$@"; do
		alive "$pid" && [ "$SECONDS" -lt "$deadline" ] || return 1
		moment
	done
}

# sleeps PID: it waits for an event, so that its earlier calls are done
sleeps() { grep -q '^State:.S' "/proc/$1/status"; }

# cm_listens PID: PID listens with an RDMA CM id. The rdma tool shows that before the CM listens for it.
cm_listens() { awaited "$1" cm_listening "$1"; }
cm_listening() { rdma resource show cm_id 2>/dev/null | grep -q "state LISTEN .*pid $1 " && sleeps "$1"; }

# cm_serves PID: as cm_listens for a program with a native address, whose ids the rdma tool does not show:
# there is an id, and PID sleeps
cm_serves() { awaited "$1" cm_sleeping "$1"; }
cm_sleeping() { rdma resource show | grep -q 'cm_id [1-9]' && sleeps "$1"; }

# native_addresses: server_gid and own_gid are those ports' GIDs. All nodes meet here.
native_addresses()
{
	cat "/sys/class/infiniband/$LAB_DEV/ports/1/gids/0" >"$LAB_OUT/gid.$LAB_NODE"
	lab-barrier gids
	server_gid=$(<"$LAB_OUT/gid.1")
	own_gid=$(<"$LAB_OUT/gid.$LAB_NODE")
	export server_gid own_gid
}

# stopped PID: ends a program that would run on, and had not ended by itself
stopped()
{
	local status=0
	kill "$1" && ended "$1" || status=$?
	[ "$status" = 0 ] || [ "$status" = $((128 + $(kill -l TERM))) ] || {
		echo "ended with status $status"
		return 1
	}
}

# served NAME READY END "SERVER" CLIENT...: SERVER in node 1 and, once READY PID has succeeded there,
# CLIENT, which may be a function, in node 2; END PID is how the server ends. Their output goes to
# $LAB_OUT/NAME.nodeK, and its last $served_lines lines to the log.
served_lines=8
served()
{
	local name=${1// /} ready=$2 end=$3 server=$4 rc=0 pid
	shift 4
	served_output=$LAB_OUT/$name.node$LAB_NODE
	: >"$served_output"	# of an earlier run
	case $LAB_NODE in
	1)
		# shellcheck disable=SC2086
		stdbuf -oL $server >"$served_output" 2>&1 &
		pid=$!
		"$ready" "$pid" || { echo "the server is not ready"; rc=1; }
		lab-barrier "$name-serves"
		lab-barrier "$name-asked"
		"$end" "$pid" || rc=$?
		;;
	2)
		lab-barrier "$name-serves"
		"$@" >"$served_output" 2>&1 &
		ended $! "$CM_PATIENCE" || rc=$?
		lab-barrier "$name-asked"
		;;
	*)
		lab-barrier "$name-serves"
		lab-barrier "$name-asked"
		return 0
		;;
	esac
	tail -n "$served_lines" "$served_output"
	return "$rc"
}

# perftest_served NAME PROGRAM OPTION...: PROGRAM of perftest in both nodes, connected by address. Its sides
# meet by one connection before those that they measure, for which the client may call before the server
# listens again: so it resolves no address until the server was seen to listen.
perftest_served()
{
	local name=$1
	perftest_again=$LAB_OUT/$name.again
	shift
	[ "$LAB_NODE" != 1 ] || rm -f "$perftest_again"
	served "$name" perftest_listens ended "$* -R -F" env LD_PRELOAD="$programs/resolve_after.so" \
		RESOLVE_AFTER="$perftest_again" "$@" -R -F $server4
}
perftest_listens()
{
	local first
	# They are asked for here: the client calls as soon as this has ended.
	cm_listens "$1" && first=$(cm_listeners "$1") && { perftest_seen "$1" "$first" & }
}
perftest_seen() { ! awaited "$1" listens_again "$@" || : >"$perftest_again"; }

# cm_listeners PID: the numbers of the ids by which PID listens
cm_listeners() { rdma resource show cm_id | sed -n "s/.*cm-idn \([0-9]*\) .*state LISTEN .*pid $1 .*/\1/p"; }

# listens_again PID NUMBERS: PID listens with ids that have none of these numbers
listens_again()
{
	local now
	now=$(cm_listeners "$1")
	[ -n "$now" ] && ! grep -qxF "$2" <<<"$now" && sleeps "$1"
}

# both READY SERVER OWN PROGRAM OPTION...: such a program in both nodes, at these addresses; both must
# end well
both()
{
	local ready=$1 server=$2 own=$3 program=$4
	shift 4
	served "$program-$server$*" "$ready" ended "$program -b $server $*" "$program" -b "$own" -s "$server" "$@"
}

# over4, over6, over_gid PROGRAM OPTION...: by the addresses of each family
over4() { both cm_listens $server4 "$own4" "$@"; }
over6() { both cm_listens $server6 "$own6" "$@"; }
over_gid() { both cm_serves "$server_gid" "$own_gid" "$@" -f gid; }

# said PID WORDS: waits until the server that served() has started has printed WORDS
said() { awaited "$1" grep -q "$2" "$served_output"; }

# mckey_receives PID: waits until PID, of mckey, has posted its receives. It is stopped until mckey_ended,
# when everything was sent: it would poll without end, and its receives are posted all the same.
mckey_receives() { said "$1" "receiving data transfers" && kill -STOP "$1"; }
mckey_ended() { kill -CONT "$1" && ended "$1"; }

# call_cases LINK: a check of each of cm_calls' cases for ports of ib or eth, in both nodes
call_cases()
{
	local i one
	local -a cases
	mapfile -t cases < <($programs/cm_calls names "$1")
	for one in "${cases[@]}"; do
		i=${one%% *}
		ok "${one#* }" served "case$i" listens_now ended \
			"$programs/cm_calls server $server4 $server4 $i" \
			$programs/cm_calls client "$own4" $server4 "$i"
	done
}
listens_now() { said "$1" '# listens'; }

# no_ids: no program has an RDMA CM id
no_ids() { ! rdma resource show cm_id | grep ' pid '; }

# left: objects of the kernel and QPs of the device; the kernel's number of the device may change
left() { rdma resource show | sed 's/^[0-9]*: //' && lab-vhcactl qps "node$LAB_NODE-0" | wc -l; }
as_before() { [ "$(left)" = "$before" ] || { left; return 1; }; }

# lost_at_every_stage: processes end, and lose their device, while connections are made: four checks.
# $before is what was left() before that.
lost_at_every_stage()
{
	ok "processes are killed at every stage" $programs/cm_removal kill "$LAB_DEV" "$own4"
	ok "nothing of them is left" as_before
	ok "the device goes at every stage" $programs/cm_removal remove "$LAB_DEV" "$own4"
	ok "no id is left" no_ids
}

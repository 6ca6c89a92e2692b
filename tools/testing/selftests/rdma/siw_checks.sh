# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Checks of siw.sh: sourced, after lib.sh, subnet.sh and connections.sh, by both nodes.
# shellcheck shell=bash disable=SC2034
siw_plan=12

iwconn() { cat "/sys/module/rdma_iwconn/parameters/$1"; }

# The interface that siw stands on has these addresses.
server4=10.77.0.1 server6=fd00:77::1
own4=10.77.0.$LAB_NODE own6=fd00:77::$LAB_NODE
siw_netdev() { ip -o -4 addr show | awk -v own="$own4/" 'index($4, own) == 1 { print $2 }'; }

# siw accepts a connection in two steps: it sends the MPA reply, and then gives the socket to the QP. It
# notices what the peer sends in between only when more of it comes, so that a peer that waits for an answer
# waits without end. The guest has one processor, its kernel does not preempt itself, and here a thread gets
# what the network brings instead of an interrupt, once siw has accepted.
siw_accepts_first()
{
	mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug || return 1
	[ "$(nproc)" = 1 ] && grep '(none)\|(voluntary)' /sys/kernel/debug/sched/preempt &&
		echo 1 >"/sys/class/net/$(siw_netdev)/threaded"
}

# siw_connects ROUNDS: connections between the guests, and of each guest with itself
siw_connects()
{
	local own=$own4 eth rounds=$1

	eth=$(siw_netdev)
	modprobe -a siw ib_uverbs
	ok "a siw device stands on $eth" rdma link add siw0 type siw netdev "$eth"
	ok "programs see it" sh -c "ibv_devinfo -d siw0 | tee /dev/stderr | grep -q 'transport:.*iWARP' &&
		ibv_devinfo -d siw0 | grep -q PORT_ACTIVE"
	ok "a guest connects with itself" modprobe rdma_iwconn role=both device=siw0 local="$own" rounds="$rounds"
	is "all checks hold" 0 "$(iwconn failed)"
	ok "every message came back" test "$(iwconn served)" -ge "$rounds"
	is "the usual backlog" 256 "$(</proc/sys/net/iw_cm/default_backlog)"
	rmmod rdma_iwconn

	if [ "$LAB_NODE" = 1 ]; then
		ok "the server listens" modprobe rdma_iwconn role=server device=siw0 local="$own"
		lab-barrier siw-listens
		lab-barrier siw-done
		ok "it returned every message" test "$(iwconn served)" -ge "$rounds"
		# the last connection was ended by destroying its id
		until [ "$(iwconn closed)" = $((rounds + 1)) ]; do moment; done
	else
		lab-barrier siw-listens
		ok "the client connects" modprobe rdma_iwconn role=client device=siw0 local="$own" peer=$server4 \
			rounds="$rounds"
		lab-barrier siw-done
		ok "with many checks" test "$(iwconn passed)" -gt $((10 * rounds))
	fi
	is "all checks hold" 0 "$(iwconn failed)"
	lab-barrier siw-checked
	ok "the consumer goes" rmmod rdma_iwconn
	ok "the device goes" rdma link del siw0
	# iw_cm cannot be unloaded while a process holds an id.
	ok "nothing is left of it" sh -c 'rmmod siw && { ! grep -q ^rdma_cm /proc/modules || modprobe -r rdma_cm; } &&
		{ ! grep -q ^iw_cm /proc/modules || rmmod iw_cm; }'
}

# siw_ping ADDRESS OPTION...
siw_ping() { served "rping$*" cm_listens ended "rping -s -V -a $*" rping -c -V -a "$@"; }

# siw_perf PROGRAM OPTION...
siw_perf() { perftest_served "$1" "$@" -d siw0; }

# The daemon has nothing to do for siw, which asks for no mapping.
iwpmd_starts() { iwpmd && within pidof iwpmd; }
iwpmd_ends() { kill "$(pidof iwpmd)" && within no_iwpmd; }
no_iwpmd() { ! pidof iwpmd; }

# Programs connect by address over siw, while the port mapper's daemon runs.
siw_programs_plan=15
siw_programs()
{
	local eth program
	eth=$(siw_netdev)
	modprobe -a siw rdma_ucm
	ok "a siw device for programs" rdma link add siw0 type siw netdev "$eth"
	ok "and IPv6" ip addr add "$own6/64" dev "$eth" nodad
	ok "iwpmd runs" iwpmd_starts
	lab-barrier siw-programs
	ok "rping" siw_ping $server4 -C 100
	ok "rping of 4096 bytes" siw_ping $server4 -C 100 -S 4096
	ok "rping over IPv6" siw_ping $server6 -C 100
	ok "rping of 4096 bytes over IPv6" siw_ping $server6 -C 100 -S 4096
	for program in send_bw write_bw read_bw; do
		ok "ib_$program -R" siw_perf "ib_$program" -n 200 -s 16384
	done
	for program in send_lat write_lat; do
		ok "ib_$program -R" siw_perf "ib_$program" -n 200 -s 64
	done
	ok "no id is left" no_ids
	lab-barrier siw-talked
	ok "iwpmd ends" iwpmd_ends
	ok "the device goes, and the modules" sh -c 'rdma link del siw0 && modprobe -r rdma_ucm && rmmod siw'
}

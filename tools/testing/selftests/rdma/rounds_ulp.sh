#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours --subnet opensm --mem 2048 --timeout 7200 --packages "fio nfs-common nfs-kernel-server nvme-cli open-iscsi srptools targetcli-fb" -- 25
# rounds_ulp.sh TIMES [KIND...]: TIMES times each node 2's device is unbound, is reset, has a fatal error, and
# its programs are killed, under a file system of NFS/RDMA that is read and written with checksums, a TCP
# connection by IPoIB whose bytes are compared, and a program of verbs. When the device goes the program of verbs
# ends; the mount and the TCP connection go on when the next device has the addresses. After each round the
# device has the objects that it had before, and in the end nothing is left.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/storage.sh
. /lab/src/tools/testing/selftests/rdma/storage_load.sh
. /lab/src/tools/testing/selftests/rdma/load_faults.sh
. /lab/src/tools/testing/selftests/rdma/verbs_load.sh

times=$1
kinds=${*:2}
kinds=${kinds:-kill unbind reset fatal}
declare -A how=([unbind]=by_hand [reset]=by_reset [fatal]=by_error)
plan $((LAB_NODE == 1 ? 5 + $(wc -w <<<"$kinds") : 5 + $(wc -w <<<"$kinds") * 6))

# A protocol's own timers decide when it notices: up to a minute of NFS.
patience=600
victim=$LAB_DEV
file=$(nfs_file)
stream=/lab/src/tools/testing/selftests/rdma/ipoib_stream.py
RATE=$((1 << 20)) MORE=$((1 << 18))	# bytes a second of the TCP connection; bytes after which it goes on

# ---- a TCP connection by IPoIB: node 1 sends -----------------------------------------------------------

# Whenever nobody listens any more, node 1 asks again.
stream_sends()
{
	until [ -e /tmp/stream.stop ]; do
		python3 $stream send 10.78.0.2 $RATE || moment
	done
}
stream_begins()
{
	rm -f /tmp/stream.came
	python3 $stream serve "$own4" /tmp/stream.came </dev/null >/tmp/stream.log 2>&1 &
	echo $! >/tmp/stream.pid
	awaited $! test -s /tmp/stream.came || { cat /tmp/stream.log; return 1; }
}
came() { local n=0; read -r n </tmp/stream.came; echo "$n"; }
came_more() { [ "$(came)" -ge "$1" ]; }
stream_goes_on()
{
	awaited "$(</tmp/stream.pid)" came_more $(($(came) + MORE)) || { cat /tmp/stream.log; return 1; }
}
stream_ends()
{
	local pid
	pid=$(</tmp/stream.pid)
	kill -9 "$pid"
	while alive "$pid"; do moment; done
	# what bash says of one that it has started itself is not shown
	wait "$pid" || true
} 2>/dev/null

# ---- rounds --------------------------------------------------------------------------------------------

# Regions come and go as NFS uses them.
standing() { objects | sed 's/mkeys [0-9]*//'; }
stands() { [ "$(standing)" = "$1" ] || { standing; return 1; }; }

# passes that are short, since a round waits for some
short_load() { load_of verified "$file" 1M --bs=16k --allow_file_create=0; }

# There is a moment between two passes.
fio_killed() { killall -9 fio; [ -e /tmp/load.failed ]; }

# killed: each program amid its work; others take their places
killed()
{
	stopped_now "${uverbs[@]}"
	within fio_killed && load_fails && stream_ends && short_load && stream_begins
}

# lost KIND: the device, which comes again
lost() { comes_again "${how[$1]}" && over "${uverbs[@]}"; }

# The NFS client gives a program the errno of a connect that met the end of the device, unless it is one of
# those after which it tries again (call_connect_status() in net/sunrpc/clnt.c). EINVAL is not: it is what is said
# of an id whose device goes. The client itself has to say so, by a trace; then the program starts over.
tracing=/sys/kernel/tracing
traces()
{
	mountpoint -q $tracing || mount -t tracefs none $tracing || return 1
	put 1 $tracing/events/sunrpc/rpc_connect_status/enable
}
starts_over()
{
	grep -q 'error.*Invalid argument' /tmp/load.log && grep 'rpc_connect_status: .*status=-22' $tracing/trace || return 1
	: >$tracing/trace
	within load_fails && short_load
}
all_go_on() { { goes_on || starts_over; } && stream_goes_on; }

# round KIND
round()
{
	local stood rc=0 began=$SECONDS
	stood=$(standing)
	uverbs_begins && uverbs_goes_on || return 1
	if [ "$1" = kill ]; then killed; else lost "$1"; fi && all_go_on && within stands "$stood" || rc=1
	echo "$1: $((SECONDS - began)) s"
	return $rc
}

loaded()
{
	nfs_begins rdma $server4 && written "$file" && short_load && stream_begins && all_go_on
}
unloaded() { load_ends && stream_ends; }
unmounted() { nfs_ends && within as_it_was; }

everywhere "ports have addresses" connections_up
before=$(objects)
on 1 "node 1 serves" nfs_served
on 2 "what the client needs" nfs_client_up
on 2 "what it says of its connections" traces
[ "$LAB_NODE" != 1 ] || stream_sends </dev/null >/tmp/stream.log 2>&1 &
for kind in $kinds; do
	on 2 "$kind: a mount, a load of it and a TCP connection" loaded
	on 2 "$kind: $times times, and all of it goes on" repeated "$times" round "$kind"
	on 2 "$kind: the loads end" unloaded
	on 2 "$kind: the data that stay are there" kept "$file"
	everywhere "$kind: both nodes have the same bytes" same "$file" "$(served_file nfs)"
	on 2 "$kind: nothing is left when it is unmounted" unmounted
done
: >/tmp/stream.stop
on 2 "the client ends" nfs_client_down
on 1 "node 1 serves no longer" nfs_over
on 1 "its QPs are gone" within qps_are 0
everywhere "nothing is left" within as_it_was
finish

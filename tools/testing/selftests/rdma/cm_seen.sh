#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours --subnet opensm --timeout 400
# check: no
# long: --core ours,distro
# Trace points of a connection by address, from its beginning to its end. golden/cm_trace has their names.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh

golden=/lab/src/tools/testing/selftests/rdma/golden
instance=/sys/kernel/tracing/instances/cm_seen
trace=$LAB_OUT/trace.node$LAB_NODE

# ---- trace points ----

events_as_known()
{
	(cd $instance/events && ls -d {ib_cma,rdma_cma}/*/) | sed 's,/$,,' | LC_ALL=C sort |
		diff <(grep -v '^#' $golden/cm_trace) -
}

# of SYSTEM EVENT WORDS: lines of the trace
of() { grep -E " $1: .*$2" "$trace"; }

# ids EVENT WORDS...: the cm.id of each line of these events, once
ids()
{
	while [ $# -gt 0 ]; do
		of "$1" "$2" || echo "no line: $1 $2" >&2
		shift 2
	done | sed 's/.* cm\.id=\([0-9]*\) .*/\1/' | sort -u
}

# numbers EVENT ORDER: the sender's and the receiver's number in these messages, "\1 \2" or the other
# way round
numbers() { of "$1" . | sed -n "s/.* local_id=\([0-9]*\) remote_id=\([0-9]*\) .*/$2/p" | sort -u; }

# one_id EVENT WORDS...: there are all of these, and one id has them. The numbers of 6.12's core begin
# with 0, ours with 1.
one_id()
{
	local found

	found=$(ids "$@" 2>&1)
	case $LAB_CORE:$found in
	distro:0) ;;
	*) [[ $found =~ ^[1-9][0-9]*$ ]] || { echo "$found"; return 1; } ;;
	esac
}

client_is_traced()
{
	local ends="src=$own4:[1-9][0-9]* dst=$server4:7174"

	of cm_id_attach "device=$LAB_DEV" &&
		one_id cm_event_handler "$ends .*ADDR_RESOLVED \(0/0\)" \
			cm_event_handler "$ends .*ROUTE_RESOLVED \(2/0\)" cm_send_req "$ends .*qp_num=[1-9]" \
			cm_event_handler "$ends .*CONNECT_RESPONSE \(5/0\)" \
			cm_event_done "$ends .*CONNECT_RESPONSE consumer returns 0" cm_send_rtu "$ends" \
			cm_disconnect "$ends" cm_sent_dreq "$ends" cm_id_destroy "$ends"
}

# The listener is destroyed, too; it and the id of the request are told apart by their destinations.
server_is_traced()
{
	local ends="src=$own4:7174 dst=10.78.0.2:[1-9][0-9]*"

	grep -E ' cm_qp_create: .*qp_type=RC .*rc=0' "$trace.kernel" && one_id cm_req_handler "src=$own4:7174 " && one_id cm_event_handler "$ends .*CONNECT_REQUEST \(4/0\)" \
		cm_send_rep "$ends .*qp_num=[1-9]" cm_event_handler "$ends .*ESTABLISHED \(9/0\)" \
		cm_event_handler "$ends .*DISCONNECTED \(10/0\)" cm_id_destroy "$ends"
}

# Each side's numbers are the other's.
messages_are_traced()
{
	if [ "$LAB_NODE" = 1 ]; then
		of icm_send_rep 'state=(REQ_RCVD|MRA_REQ_SENT)' && numbers icm_send_rep '\1 \2'
	else
		of icm_send_req . && of icm_send_rtu 'state=(REP_RCVD|MRA_REP_SENT)' &&
			of icm_send_dreq state=ESTABLISHED && numbers icm_send_rtu '\2 \1'
	fi >"$LAB_OUT/numbers.$LAB_NODE"
}

# Both sides have traced it, with equal numbers.
messages_are_equal()
{
	cat "$LAB_OUT"/numbers.[12]
	[ "$(tail -qn 1 "$LAB_OUT"/numbers.[12] | uniq -c | awk '{ print NF, $1 }')" = "3 2" ]
}

plan 6
ok "ports have addresses" connections_up
mkdir $instance
ok "there are the trace points of Linux 6.12" events_as_known
echo 1 >$instance/events/ib_cma/enable
echo 1 >$instance/events/rdma_cma/enable
ok "a connection is made and ended" served rping cm_listens ended "rping -s -a $server4 -C 1 -p 7174" \
	rping -c -a "$server4" -C 1 -p 7174
cp $instance/trace "$trace"
# A consumer in the kernel has its QP made by the connection manager.
[ "$LAB_NODE" = 2 ] || { modprobe rdma_kcma && echo "$own4" >/sys/module/rdma_kcma/parameters/connect; }
echo 0 >$instance/events/enable
cp $instance/trace "$trace.kernel"
rmdir $instance
[ "$LAB_NODE" = 1 ] || ok "its ids are traced, with their events" client_is_traced
[ "$LAB_NODE" = 2 ] || ok "its ids are traced, with their events" server_is_traced
messages_are_traced
lab-barrier numbers
ok "the messages of both sides have the same numbers" messages_are_equal

[ "$LAB_NODE" = 2 ] || rmmod rdma_kcma
ok "no id is left" within no_ids
finish

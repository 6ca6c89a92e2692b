#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# What make demo runs in two guests whose subnet has a manager: programs that connect by IP address,
# what the kernel knows of their connections meanwhile, and a refusal with its reason.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh

rc=0
step()
{
	local title=$1
	shift
	echo "== $title"
	"$@" 2>&1 || {
		echo "FAILED: $title (exit status $?: $*)"
		rc=1
	}
}

cmtime_listens() { wait_listen 7471 "$1"; }

# Both ends of this guest's connections, while a server and its client talk.
connected() { rdma resource show cm_id | grep "state CONNECT .*10.78.0"; }
looked_at()
{
	local client
	rping -c -a $server4 -C 1000000 >/dev/null 2>&1 &
	client=$!
	awaited $client connected || return 1
	kill $client
	ended $client || true
}

# An address of this subnet that no device has.
refused()
{
	! rdma-why rping -s -a 10.78.0.77 >"$LAB_OUT/why" 2>&1
	cat "$LAB_OUT/why"
	grep -q 'rping.*: E' "$LAB_OUT/why"
}

step "IPoIB gives the ports addresses" connections_up
[ "$LAB_NODE" != 2 ] || ip -brief addr show "$(net_device)"
step "rping: 100 messages of 4 KiB there and back, compared" \
	served rping cm_listens ended "rping -s -a $server4 -C 100 -S 4096 -V" \
	rping -c -a $server4 -C 100 -S 4096 -V -v
step "ucmatose: 50 connections, by IPv6" both cm_listens $server6 "$own6" ucmatose -c 50
step "rdma resource show cm_id, while rping talks" \
	served seen cm_listens stopped "rping -s -P -a $server4" looked_at
step "cmtime: what each step of 100 connections takes" \
	served cmtime cmtime_listens ended "cmtime -b $server4 -c 100" cmtime -b "$own4" -s $server4 -c 100
[ "$LAB_NODE" != 2 ] || sed -n '/qp_conn/,/destroy qp/p' "$LAB_OUT/cmtime.node2"
[ "$LAB_NODE" != 2 ] || step "rdma-why: a server asks for an address that no device has" refused
exit $rc

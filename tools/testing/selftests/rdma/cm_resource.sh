#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours,distro --link eth
# check: --core ours
# What the rdma tool shows of a server's ids and a client's, compared with a reviewed answer, which is the
# same on both cores. Numbers that differ from run to run become words.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/roce_checks.sh
plan 6

normal()
{
	sed -E "s/\<$LAB_DEV\>/DEV/g
		s/\<(pid|cm-idn|lqpn) [0-9]+/\1 N/g
		s/\"(pid|cm-idn|lqpn)\": [0-9]+/\"\1\": N/
		s/(10\.77\.0\.1:)[0-9]{5}\>/\1PORT/g
		s/(\"(src|dst)-port\": )[0-9]{5}\>/\1PORT/
		s/\"ifindex\": [0-9]+/\"ifindex\": N/
		s/[ \t]+\$//"
}

say() { echo "\$ $*"; "$@" 2>&1 | normal; }
answers() { say rdma resource show cm_id; say rdma -j -p resource show cm_id; }
connected() { [ "$(rdma resource show cm_id | grep -c ' state CONNECT .* pid ')" = 2 ]; }

# the answer, but for the first lines, which say what it is
golden() { diff -u <(sed 1,2d /lab/src/tools/testing/selftests/rdma/golden/cm_resource) "$LAB_OUT/cm_resource.$LAB_CORE"; }

ok "addresses have GIDs" roce_up
ok "there are programs' connections" modprobe rdma_ucm
rping -s -a $server4 -p 7174 >"$LAB_OUT/server" 2>&1 &
server=$!
ok "a server listens" cm_listens $server
rping -c -a $server4 -p 7174 -C 100000000 >"$LAB_OUT/client" 2>&1 &
client=$!
ok "a client is connected" awaited $client connected
answers >"$LAB_OUT/cm_resource.$LAB_CORE"
ok "what the rdma tool shows" golden
kill -9 $client $server
wait $client $server
ok "no id is left" no_ids
finish

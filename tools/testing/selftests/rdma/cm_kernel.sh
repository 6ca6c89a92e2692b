#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours
# check: no
# long: --core ours,distro
# Kernel consumers that connect RC QPs between two guests, and within one, with ib_cm only: data on each
# connection, its end, rejects without a listener and by a consumer, a datagram to a service that was
# resolved, the counters.
. /lab/src/tools/testing/selftests/rdma/lib.sh
plan 11

port=/sys/class/infiniband/$LAB_DEV/ports/1

kcm() { cat "/sys/module/rdma_kcm/parameters/$1"; }
count() { cat "$port/$1"; }

# target LID GID: sets the port to connect to; the last four groups of GIDs differ between ports
target()
{
	echo "$1" >/sys/module/rdma_kcm/parameters/peer_lid
	echo "0x$(cut -d: -f5-8 <<<"$2" | tr -d :)" >/sys/module/rdma_kcm/parameters/peer_id
}

run() { echo "$1" >/sys/module/rdma_kcm/parameters/run; }

# until_is PARAMETER VALUE: waits; the lab's time-out is the limit; without the parameter the test ends
until_is()
{
	local value
	while value=$(kcm "$1"); do
		[ "$value" != "$2" ] || return 0
		moment
	done
	echo "Bail out! the module has no $1"
	exit 1
}

ok "the module meets the device" modprobe rdma_kcm
target "$(cat "$port/lid")" "$(cat "$port/gids/0")"
run 5
until_is ended 5
is "connections to itself carry messages" "5 5" "$(kcm accepted) $(kcm received)"
ok "a datagram came to the service" until_is datagrams 1
is "all checks hold" 0 "$(kcm failed)"
ok "REQs and REPs are counted" test "$(count cm_rx_msgs/req)" -ge 7 -a \
	"$(count cm_tx_msgs/rep)" -ge 5 -a "$(count cm_rx_msgs/sidr_req)" -ge 1

echo "$(cat "$port/lid") $(cat "$port/gids/0")" >"$LAB_OUT/address.node$LAB_NODE"
lab-barrier addresses
read -r lid gid <"$LAB_OUT/address.node$((3 - LAB_NODE))"
target "$lid" "$gid"
run 20
until_is ended 25
lab-barrier ran
ok "and one from the other guest" until_is datagrams 2
is "connections to the other guest carry messages" "25 25" "$(kcm accepted) $(kcm received)"
is "all checks hold" 0 "$(kcm failed)"
ok "there were checks" test "$(kcm passed)" -gt 200
lab-barrier counted

ok "the consumer goes" rmmod rdma_kcm
ok "and the manager" rmmod ib_cm
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours --subnet opensm --timeout 600 --packages srptools
# MADs that no correct program sends arrive at the manager's node, whose kernel offers a controller and has
# subscribed to notices: they are counted, and have no other effect.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh

ksa() { cat "/sys/module/rdma_ksa/parameters/$1"; }
tell() { echo "$2" >"/sys/module/rdma_ksa/parameters/$1"; }
ksa_is() { [ "$(ksa "$1")" = "$2" ] || { echo "$1 is $(ksa "$1")"; return 1; }; }

# dropped: what the port has dropped so far, a line for each reason
dropped()
{
	local why
	for why in malformed refused rmpp unclaimed; do echo "$why $(<"$port/mad_rx_dropped/$why")"; done
}

# dropped_since FILE: what it has dropped since then
dropped_since() { dropped | paste -d' ' "$1" - | while read -r why was _ now; do echo "$why $((now - was))"; done; }

plan $((LAB_NODE == 1 ? 8 : 5))
know_lids
ok "a consumer in the kernel" modprobe rdma_ksa
if [ "$LAB_NODE" = 1 ]; then
	ok "offers a controller" tell offer 1
	ok "and subscribes to notices" tell subscribe 1
	ok "which the manager has confirmed" within ksa_is subscribed 1
	dropped >/tmp/before
fi
lab-barrier ready
[ "$LAB_NODE" = 1 ] ||
	ok "they are sent" sh -c "/lab/src/tools/testing/selftests/rdma/mad_hostile.py ${lid[1]} 256 >$LAB_OUT/dropped"
lab-barrier sent
if [ "$LAB_NODE" = 1 ]; then
	is "all have arrived and are counted" "$(<"$LAB_OUT/dropped")" "$(dropped_since /tmp/before)"
	is "no notice is believed" 0 "$(ksa created)"
fi
lab-barrier counted
if [ "$LAB_NODE" = 2 ]; then
	ok "the controller is found" says "a controller of rdma_ksa" ibsrpdm -d /dev/infiniband/umad0
	ok "long messages come whole" says "dump:" saquery --smkey 1 LFTR
	ok "a group is made, and left" tell group 1
else
	ok "the manager's own notice comes" within ksa_is created 1
fi
lab-barrier told
[ "$LAB_NODE" = 2 ] || is "all of the consumer's checks hold" 0 "$(ksa failed)"
rmmod rdma_ksa
finish

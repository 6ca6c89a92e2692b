#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours --ports 2 --timeout 400
# A connection between kernel consumers in two guests gets an alternate path, between the second ports,
# by LAP and APR. When the link of a first port is cut, its messages and its end take that path.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh

ports=/sys/class/infiniband/$LAB_DEV/ports

kcm() { cat "/sys/module/rdma_kcm_apm/parameters/$1"; }
tell() { echo "$2" >"/sys/module/rdma_kcm_apm/parameters/$1"; }
kcm_is() { [ "$(kcm "$1")" = "$2" ] || { echo "$1 is $(kcm "$1")"; return 1; }; }

# target NAME LID GID: sets a port by its name; the last four groups of GIDs differ between ports
target()
{
	tell "$1_lid" "$2"
	tell "$1_id" "0x$(cut -d: -f5-8 <<<"$3" | tr -d :)"
}

plan $((LAB_NODE == 1 ? 5 : 12))
ok "the module listens" modprobe rdma_kcm_apm
for k in 1 2; do echo "$(<"$ports/$k/lid") $(<"$ports/$k/gids/0")"; done >"$LAB_OUT/ports.node$LAB_NODE"
lab-barrier ports
{ read -r lid1 gid1; read -r lid2 gid2; } <"$LAB_OUT/ports.node$((3 - LAB_NODE))"
target peer "$lid1" "$gid1"
target alt "$lid2" "$gid2"
if [ "$LAB_NODE" = 2 ]; then
	ok "a connection" tell connect 1
	ok "messages" tell talk 20
	ok "an alternate path is agreed on" tell load 1
	ok "messages" tell talk 20
	is "by the first path" 0 "$(kcm migrated)"
	ok "the link is cut" lab-vhcactl link node2-0:1 down
	ok "messages go on" tell talk 20
	ok "by the alternate path" within kcm_is migrated 1
fi
lab-barrier talked
[ "$LAB_NODE" = 2 ] || ok "this side has changed its path, too" within kcm_is migrated 1
[ "$LAB_NODE" = 1 ] || ok "the connection ends by that path" tell disconnect 1
lab-barrier disconnected
[ "$LAB_NODE" = 2 ] || ok "this side, too" within kcm_is ended 1
is "all checks hold" 0 "$(kcm failed)"
ok "the consumer goes" rmmod rdma_kcm_apm
lab-barrier ended
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours
# Kernel consumers of ib_cm's functions beyond Linux 6.12, between two guests and within one: listens
# directed by port, LID, P_Key and private data; requests that are handed to another id; receives that are
# posted with the reply; redirected datagram services; two peers that call each other.
. /lab/src/tools/testing/selftests/rdma/lib.sh
plan 10

port=/sys/class/infiniband/$LAB_DEV/ports/1

kcm() { cat "/sys/module/rdma_kcm_ext/parameters/$1"; }
tell() { echo "$2" >"/sys/module/rdma_kcm_ext/parameters/$1"; }

# target LID GID: sets the port to connect to; the last four groups of GIDs differ between ports
target()
{
	tell peer_lid "$1"
	tell peer_id "0x$(cut -d: -f5-8 <<<"$2" | tr -d :)"
}

ok "the module listens" modprobe rdma_kcm_ext
target "$(cat "$port/lid")" "$(cat "$port/gids/0")"
ok "it asks itself" tell run 3
is "all checks hold" 0 "$(kcm failed)"

echo "$(cat "$port/lid") $(cat "$port/gids/0")" >"$LAB_OUT/address.node$LAB_NODE"
lab-barrier addresses
read -r lid gid <"$LAB_OUT/address.node$((3 - LAB_NODE))"
target "$lid" "$gid"
lab-barrier targets
ok "and the other guest" tell run 10
lab-barrier asked
is "all checks hold" 0 "$(kcm failed)"
ok "there were checks" test "$(kcm passed)" -gt 200

ok "both call" tell call 20
lab-barrier called
is "all checks hold" 0 "$(kcm failed)"
# The peer with the greater GUID goes on, so that one of the two has always yielded.
is "one of the two yields" 20 "$(($(kcm yielded) > $(kcm kept) ? $(kcm yielded) : $(kcm kept)))"
ok "the consumer goes" rmmod rdma_kcm_ext
finish

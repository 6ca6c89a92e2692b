#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# An HCA and the distribution's rdma_rxe send the same packets for the same requests: both ends of
# each connection make them, one is the HCA in a guest with our core, the other rdma_rxe in a guest
# that has nothing of ours.
# long
. "$(dirname "$0")/lib.sh"

script both_ends <<'S'
for one in lib subnet connections roce_checks; do . "/lab/src/tools/testing/selftests/rdma/$one.sh"; done
plan $((14 + roce_opcodes_plan + 2))
# -u 20: so that requests to a guest that is paused for a moment are not repeated, as other packets would be
# compared
ok "an HCA, and rdma_rxe" sh -c "[ $LAB_NODE = 1 ] || [ $LAB_CORE = stock ]"
[ "$LAB_NODE" = 1 ] || { rxe_on eth0 && LAB_DEV=rxe0; }
ok "addresses have GIDs" roce_up
for family in 4 6; do
	ok "rc, IPv$family" roce_pair "rc$family" $family ib_send_lat -F -u 20 -n 20 -s 3001 -m 1024
	ok "uc, IPv$family" roce_pair "uc$family" $family ibv_uc_pingpong -n 5 -s 3001 -m 1024
	ok "ud, IPv$family" roce_pair "ud$family" $family ibv_ud_pingpong -n 5 -s 501
	ok "write, IPv$family" roce_pair "write$family" $family ib_write_bw -b -F -u 20 -n 20 -s 3001 -m 1024
	ok "read, IPv$family" roce_pair "read$family" $family ib_read_bw -b -F -u 20 -n 20 -s 3001 -m 1024
done
ok "atomics" roce_pair atomic 4 ib_atomic_bw -b -F -u 20 -n 20
ok "swaps" roce_pair swap 6 ib_atomic_bw -b -F -u 20 -n 20 -A CMP_AND_SWAP
roce_opcodes
ok "addresses in a VLAN have GIDs" roce_vlan_up
roce4=10.79.7.$LAB_NODE
ok "every opcode both ways, in a VLAN" roce_pair vlan 4 $programs/opcodes
finish
S
passes "both ends talk" "$lab" run --core ours --core-of 2=stock --hca-of 2=0 --link eth --capture --timeout 600 --out "$work/out" \
	"$work/both_ends"
mac() { printf '52:54:00:77:00:%02x' "$1"; }
capture=$work/out/capture.pcapng
passes "they send the same" tools/testing/lab/compare-roce "$capture" "$(mac 1)" "$(mac 2)"
expect_text "there were packets of all kinds" \
	'^opcodes: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 22 23 29 32 33 34 35 36 37 38 39 40 41 42 43 100 101$' "$work/log"
expect_text "of all connections" '^21 connections, [1-9][0-9]* request packets$' "$work/log"
# the first IPv4 packet with another time to live
python3 -c 'import sys
whole = sys.stdin.buffer.read()
sys.stdout.buffer.write(whole.replace(b"\x40\x00\x40\x11", b"\x40\x00\x3f\x11", 1))' \
	<"$capture" >"$work/out/other.pcapng"
tools/testing/lab/compare-roce "$work/out/other.pcapng" "$(mac 1)" "$(mac 2)" >"$work/log" 2>&1
expect "another header is noticed" 1 $?
expect_text "and named" '^connection 1, request packet 0, ip.ttl: 64, 63$' "$work/log"
tools/testing/lab/compare-roce "$capture" "$(mac 1)" "$(mac 3)" >"$work/log" 2>&1
expect "one without a peer is noticed" 1 $?
passes "ICRCs are right" tools/vhcad/build/vhca-capcheck "$capture"
exit $bad

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Packets on the fabric follow the standard: tshark decodes them, and their CRCs are right. So do
# management datagrams of the device and of programs that are not ours.
# long
. "$(dirname "$0")/lib.sh"

"$lab" run --capture --timeout 200 --out "$work/out" tools/testing/lab/demo/capture.sh >"$work/log" 2>&1
expect "messages of each kind pass while they are captured" 0 $?
passes "each is decoded" tools/testing/lab/check-capture "$work/out/capture.pcapng"
# a capture that lacks a kind
head -c 4096 "$work/out/capture.pcapng" >"$work/out/cut.pcapng"
tools/testing/lab/check-capture "$work/out/cut.pcapng" >"$work/log" 2>&1
expect "a capture cut short is not good enough" 1 $?

script mads <<'EOF'
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/ipoib_checks.sh
named() { [[ $(saquery NR) = *captured* ]]; }
if [ "$LAB_NODE" = 2 ]; then
	# The manager in the other node hears of another name by a trap.
	echo captured >"/sys/class/infiniband/$LAB_DEV/node_desc"
else
	within named && { ibnetdiscover && saquery && perfquery; } >/dev/null
fi
rc=$?
lab-barrier captured
# IP in datagrams, and by connections
connections_up && net=$(net_device) && mode connected || rc=1
lab-barrier connected
reaches "$peer4" || rc=1
# a node that ends takes its port along
lab-barrier reached
exit $rc
EOF
"$lab" run --core distro --subnet opensm --capture --timeout 300 --out "$work/mads.out" "$work/mads" >"$work/log" 2>&1
expect "opensm and its friends pass while they are captured" 0 $?
capture=$work/mads.out/capture.pcapng
tools/testing/lab/show-capture "$capture" >"$work/packets" 2>&1
for one in 'SubnGet(NodeInfo)' 'SubnGetResp(NodeInfo)' 'SubnSet(PortInfo)' 'SubnTrap(Notice)' \
	'SubnAdmGetTableResp(NodeRecord)' 'PERF (PortCounters)'; do
	expect_text "tshark finds $one" "${one//[()]/.}" "$work/packets"
done
# echoes OPCODE: what tshark reads in packets of this one has a request to each node. To find IP is one
# of its guesses.
echoes()
{
	tshark -r "$capture" -Y "icmp.type == 8 && infiniband.bth.opcode == $1" -T fields -e ip.dst |
		LC_ALL=C sort -u | diff - <(printf '10.78.0.%d\n' 1 2)
}
passes "tshark reads IP in datagrams" echoes 100
passes "and in what connections send" echoes 4
expect "and understands all" 0 "$(grep -ci malformed "$work/packets")"
passes "CRCs are right" tools/vhcad/build/vhca-capcheck "$capture"
exit $bad

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# vhca-ladder: what it marks, joins, chooses and refuses, in a capture that is made here.
. "$(dirname "$0")/lib.sh"

# Two ports, 10.0.0.1 with QP 0x11 and 10.0.0.2 with QP 0x22, and what becomes of their packets
python3 - "$work" <<'PY'
import struct, sys
A, B, QPS = 1, 2, {1: 0x11, 2: 0x22}
FIRST, MIDDLE, LAST, ONLY, SEND, ACK = 6, 7, 8, 10, 4, 17

def packet(source, opcode, psn, more=b"", qpn=None):
    target = 3 - source
    bth = struct.pack(">BBHII", opcode, 0, 0xffff, QPS[target] if qpn is None else qpn, psn & 0xffffff)
    data = bth + more + bytes(4)
    udp = struct.pack(">HHHH", 0xc000, 4791, 8 + len(data), 0)
    ip = struct.pack(">BBHHHBBH4B4B", 0x45, 0, 28 + len(data), 0, 0, 64, 17, 0, 10, 0, 0, source, 10, 0, 0, target)
    return bytes([2, 0, 0, 0, 0, target, 2, 0, 0, 0, 0, source]) + b"\x08\x00" + ip + udp + data

def reth(length): return struct.pack(">QII", 0x1000, 5, length)
def answer(source, psn, syndrome=0): return packet(source, ACK, psn, struct.pack(">I", syndrome << 24))
def mad(source, attribute, tid, body):
    head = struct.pack(">BBBBHHQHHI", 1, 7, 2, 3, 0, 0, tid, attribute, 0, 0)
    return packet(source, 0x64, 0, struct.pack(">II", 0x80010000, 1) + (head + body).ljust(256, b"\0"), 1)

req = struct.pack(">I", 0xaaa) + bytes(28) + struct.pack(">I", 0x11 << 8)
rep = struct.pack(">IIII", 0xbbb, 0xaaa, 0, 0x22 << 8)
other = struct.pack(">I", 0xccc) + bytes(28) + struct.pack(">I", 0x33 << 8)

def save(name, packets):
    with open(f"{sys.argv[1]}/{name}", "wb") as file:
        file.write(struct.pack("<IHHIIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for k, data in enumerate(packets):
            file.write(struct.pack("<IIII", 0, 10 * k, len(data), len(data)) + data)

save("pcap", [
    mad(A, 0x10, 7, req), mad(B, 0x13, 7, rep), mad(A, 0x14, 7, struct.pack(">II", 0xaaa, 0xbbb)),
    mad(A, 0x10, 8, other),
    # one in the middle is lost, at the turn of the numbers: it and those behind it come again
    packet(A, FIRST, -1, reth(4096)), packet(A, MIDDLE, 0), packet(A, LAST, 1),
    answer(B, 0, 0x60), packet(A, MIDDLE, 0), packet(A, LAST, 1), answer(B, 1),
    # the answer is lost
    packet(A, SEND, 2), answer(B, 2), packet(A, SEND, 2), answer(B, 2),
    # no receive is there
    packet(A, SEND, 3), answer(B, 3, 0x2e), packet(A, SEND, 3), answer(B, 3),
    # the request is lost
    packet(A, SEND, 4), packet(A, SEND, 4), answer(B, 4),
    # a long one
    packet(A, FIRST, 5, reth(1 << 20)), *[packet(A, MIDDLE, n) for n in range(6, 16)], packet(A, LAST, 16),
    answer(B, 16), packet(A, ONLY, 17, reth(8)), answer(B, 17, 0x62),
    # connected again, with a number that was there
    mad(A, 0x10, 10, req), mad(B, 0x13, 10, rep), packet(A, SEND, 4), answer(B, 4),
    # another QP, which answers nothing
    packet(B, 0x64, 9, struct.pack(">II", 1, 9), 0x44),
    mad(B, 0x15, 9, struct.pack(">II", 0xbbb, 0xaaa)), mad(A, 0x16, 9, struct.pack(">II", 0xaaa, 0xbbb))])
save("management", [mad(A, 0x10, 7, req)])
save("nothing", [])
PY

ladder() { tools/ladder/vhca-ladder "$@" >"$work/out" 2>"$work/err"; }

# arrows FILE: time, direction, words and mark of each
arrows() { sed -n 's/^ *\([0-9.]*\) *|\([-<x]\)-* \(.*[^ ]\) -*[->x]|.*/\1 \2 \3/p' "$1"; }

ladder --qp 10.0.0.1/0x11 "$work/pcap"
expect "the packets of a QP are drawn" 0 $?
arrows "$work/out" >"$work/arrows"
cat >"$work/wanted" <<'TXT'
0.0 - CM REQ
10.0 < CM REP
20.0 - CM RTU
40.0 - WRITE_FIRST qp 0x22 psn 16777215 4096 B
50.0 - WRITE_MIDDLE qp 0x22 psn 0 (lost)
60.0 - WRITE_LAST qp 0x22 psn 1
70.0 < NAK sequence qp 0x11 psn 0 (refused)
80.0 - WRITE_MIDDLE qp 0x22 psn 0 (again)
90.0 - WRITE_LAST qp 0x22 psn 1 (again)
100.0 < ACK qp 0x11 psn 1
110.0 - SEND_ONLY qp 0x22 psn 2
120.0 x ACK qp 0x11 psn 2 (lost)
130.0 - SEND_ONLY qp 0x22 psn 2 (again)
140.0 < ACK qp 0x11 psn 2
150.0 - SEND_ONLY qp 0x22 psn 3
160.0 < RNR NAK qp 0x11 psn 3 (refused)
170.0 - SEND_ONLY qp 0x22 psn 3 (again)
180.0 < ACK qp 0x11 psn 3
190.0 - SEND_ONLY qp 0x22 psn 4 (lost)
200.0 - SEND_ONLY qp 0x22 psn 4 (again)
210.0 < ACK qp 0x11 psn 4
220.0 - WRITE_FIRST qp 0x22 psn 5 1048576 B
230.0 - WRITE_MIDDLE qp 0x22 psn 6..15
330.0 - WRITE_LAST qp 0x22 psn 16
340.0 < ACK qp 0x11 psn 16
350.0 - WRITE_ONLY qp 0x22 psn 17 8 B
360.0 < NAK remote access qp 0x11 psn 17 (refused)
370.0 - CM REQ
380.0 < CM REP
390.0 - SEND_ONLY qp 0x22 psn 4
400.0 < ACK qp 0x11 psn 4
420.0 < CM DREQ
430.0 - CM DREP
TXT
passes "with what connected it, and what was lost, sent again or refused" diff "$work/wanted" "$work/arrows"
ladder "$work/pcap"
expect "other QPs are drawn as well" 1 "$(grep -c 'UD SEND_ONLY qp 0x44 psn 9' "$work/out")"
expect "and no management" 0 "$(grep -c CM "$work/out")"
ladder --cm "$work/pcap"
expect "unless it is wanted" 8 "$(grep -c CM "$work/out")"
ladder --list "$work/pcap"
passes "QPs are listed with their peers" \
	grep -Eq '^10.0.0.2/0x22 +10.0.0.1/0x11 +[0-9]+ +5 +2 +0$' "$work/out"
ladder --svg "$work/pcap"
passes "SVG is well-formed" python3 -c 'import sys, xml.dom.minidom as d; d.parse(sys.argv[1])' "$work/out"
# Letters of 12 px reach 10 px above their line and 3 below, and a cross 4 px to each side.
cat >"$work/crosses.py" <<'PY'
import re, sys
svg = open(sys.argv[1]).read()
texts = [float(y) for y in re.findall(r'<text x="[^"]*" y="([^"]*)"[^>]*text-anchor="middle"', svg)]
crosses = [float(y) + 4 for y in re.findall(r'class="lost" d="M[^,]*,([-0-9.]*) ', svg)]
assert len(crosses) == 3, crosses
assert not [(y, at) for at in crosses for y in texts if y - 10 < at + 4 and y + 3 > at - 4]
PY
passes "and the cross of what is lost lies on no text" python3 "$work/crosses.py" "$work/out"
ladder --limit 3 "$work/pcap"
expect "a limit leaves some out" 3 "$(grep -c '^ *[0-9]*\.[0-9] ' "$work/out")"
expect_text "and says so" '^vhca-ladder: [0-9]* more are not drawn, see --limit$' "$work/err"

# refused TEXT ARGUMENTS...
refused()
{
	local text=$1
	shift
	ladder "$@"
	expect "refused: ${*/$work\//}" "2 vhca-ladder: $text" "$? $(<"$work/err")"
}
refused "$work/absent: there is no such file" "$work/absent"
refused "$work/nothing: there is no packet of RDMA in it" "$work/nothing"
refused "$work/management: there is only management in it, which --mads shows" "$work/management"
refused "--qp 10.0.0.1: not a port, a slash and the number of a QP" --qp 10.0.0.1 "$work/pcap"
refused "--qp x/7: no packet goes to it; --list shows those of the capture" --qp x/7 "$work/pcap"
refused "--limit: it is 1 or more" --limit 0 "$work/pcap"
echo "no capture" >"$work/text"
ladder "$work/text"
expect "and what is no capture, in one line" "2 1" "$? $(wc -l <"$work/err")"
expect_text "that says what to do" "^vhca-ladder: .*/text.*: take a capture of vhcad's" "$work/err"
{
	head -c 24 "$work/pcap"
	head -c 1000 /dev/zero | tr '\0' '\377'
} >"$work/corrupt"
tools/vhcad/build/vhca-capcheck "$work/corrupt" >/dev/null 2>"$work/err"
expect "vhca-capcheck of a corrupt one" "2 1" "$? $(wc -l <"$work/err")"
expect_text "says so, too" '^vhca-capcheck: .*/corrupt: not a whole pcap or pcapng file: take one' "$work/err"
ladder "$work/corrupt"
expect "and vhca-ladder" "2 1" "$? $(wc -l <"$work/err")"
expect_text "does, too" '^vhca-ladder: .*/corrupt.*: take a capture of vhcad' "$work/err"
head -c 1000 "$work/pcap" >"$work/cut"
ladder --mads "$work/cut"
expect_text "a capture that was cut off is drawn as far as it goes" 'ends too early' "$work/err"
exit $bad

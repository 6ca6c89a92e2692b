# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The distribution's own programs: sourced by the tests that run them on different
# cores, so that each runs the same checks.
# shellcheck shell=bash

# every message size and path MTU that takes another way through segmentation
PINGPONG_CASES="1:256 255:256 256:256 257:256 4095:1024 4096:1024 4097:2048 65536:4096 1048577:4096"

rc_programs_plan=$((3 + 9 + 2 + 7))

rc_programs()
{
	local c size mtu d=$LAB_DEV

	ok "ibv_devices lists $d" sh -c "ibv_devices | grep -w $d"
	is "port is active" "4: ACTIVE" "$(port_state "$d")"
	ok "rdma link shows it active" sh -c "rdma link show $d/1 | grep 'state ACTIVE'"

	for c in $PINGPONG_CASES; do
		size=${c%:*} mtu=${c#*:}
		ok "ibv_rc_pingpong -c, $size bytes, MTU $mtu" \
			pair "rc-$size-$mtu" 18515 ibv_rc_pingpong -d "$d" -c -n 50 -s "$size" -m "$mtu"
	done
	ok "ibv_rc_pingpong -c with a GRH" pair rc-grh 18515 ibv_rc_pingpong -d "$d" -c -n 50 -g 0
	ok "ibv_rc_pingpong -c woken by events" pair rc-events 18515 ibv_rc_pingpong -d "$d" -c -e -n 50

	ok "ib_write_bw" pair write_bw 18515 ib_write_bw -d "$d" -F -s 65536 -n 500
	ok "ib_read_bw" pair read_bw 18515 ib_read_bw -d "$d" -F -s 65536 -n 500
	ok "ib_send_bw" pair send_bw 18515 ib_send_bw -d "$d" -F -s 65536 -n 500
	ok "ib_write_lat" pair write_lat 18515 ib_write_lat -d "$d" -F -s 64 -n 1000
	ok "ib_send_lat" pair send_lat 18515 ib_send_lat -d "$d" -F -s 64 -n 1000
	ok "ib_read_lat" pair read_lat 18515 ib_read_lat -d "$d" -F -s 64 -n 1000
	ok "ib_write_bw, 8 QPs, both ways" pair write_bw_8 18515 ib_write_bw -d "$d" -F -b -q 8 -s 4096 -n 500
}

# What they do without a reliable connection, or with shared receives.  A UD message has
# one packet: 4096 bytes is the longest.
datagram_programs_plan=$((5 + 3 + 4 + 3 + 10))

datagram_programs()
{
	local c size mtu d=$LAB_DEV

	for c in 1:256 257:256 4096:1024 65536:4096; do
		size=${c%:*} mtu=${c#*:}
		ok "ibv_uc_pingpong -c, $size bytes, MTU $mtu" \
			pair "uc-$size-$mtu" 18515 ibv_uc_pingpong -d "$d" -c -n 50 -s "$size" -m "$mtu"
	done
	ok "ibv_uc_pingpong -c woken by events" pair uc-events 18515 ibv_uc_pingpong -d "$d" -c -e -n 50

	for size in 1 2048; do
		ok "ibv_ud_pingpong -c, $size bytes" pair "ud-$size" 18515 ibv_ud_pingpong -d "$d" -c -n 50 -s "$size"
	done
	ok "ibv_ud_pingpong -c with a GRH, woken by events" \
		pair ud-events 18515 ibv_ud_pingpong -d "$d" -c -e -g 0 -n 50

	ok "ibv_srq_pingpong -c, 16 QPs" pair srq 18515 ibv_srq_pingpong -d "$d" -c -n 50
	ok "ibv_srq_pingpong -c, 64 QPs, small SRQ" \
		pair srq-64 18515 ibv_srq_pingpong -d "$d" -c -n 20 -q 64 -r 128 -s 4097
	ok "ibv_srq_pingpong -c woken by events" pair srq-events 18515 ibv_srq_pingpong -d "$d" -c -e -n 50
	ok "ibv_srq_pingpong -c with a GRH" pair srq-grh 18515 ibv_srq_pingpong -d "$d" -c -g 0 -n 50

	for c in "send_lat UD 64" "send_lat UC 64" "write_lat UC 64"; do
		set -- $c
		ok "ib_$1 -c $2" pair "$1-$2" 18515 "ib_$1" -d "$d" -F -c "$2" -s "$3" -n 500
	done
	ok "ib_send_bw -c UD" pair send_bw-ud 18515 ib_send_bw -d "$d" -F -c UD -s 2048 -n 500
	ok "ib_send_bw -c UD, 8 QPs, both ways" pair send_bw-ud-8 18515 ib_send_bw -d "$d" -F -c UD -q 8 -b -s 1024 -n 500
	ok "ib_send_bw -c UD, woken by events" pair send_bw-ud-e 18515 ib_send_bw -d "$d" -F -c UD -e -s 2048 -n 500
	ok "ib_send_bw -c UC, 8 QPs" pair send_bw-uc 18515 ib_send_bw -d "$d" -F -c UC -q 8 -s 4096 -n 500
	ok "ib_write_bw -c UC" pair write_bw-uc 18515 ib_write_bw -d "$d" -F -c UC -s 65536 -n 500
	ok "ib_send_bw --use-srq, 8 QPs" pair send_bw-srq 18515 ib_send_bw -d "$d" -F --use-srq -q 8 -s 4096 -n 500
	ok "ib_send_bw --use-srq, woken by events" \
		pair send_bw-srq-e 18515 ib_send_bw -d "$d" -F --use-srq -q 4 -e -s 4096 -n 500
	ok "ib_send_lat --use-srq" pair send_lat-srq 18515 ib_send_lat -d "$d" -F --use-srq -s 64 -n 500
	ok "ib_send_lat -e" pair send_lat-e 18515 ib_send_lat -d "$d" -F -e -s 64 -n 200
	ok "ib_send_lat -e -c UD" pair send_lat-ud-e 18515 ib_send_lat -d "$d" -F -e -c UD -s 64 -n 200
}

# Atomics, and memory in huge pages.  (perftest takes no -I for a device it does not know.)
onesided_programs_plan=$((8 + 5))

onesided_programs()
{
	local c d=$LAB_DEV

	for c in FETCH_AND_ADD CMP_AND_SWAP; do
		ok "ib_atomic_bw $c" pair "atomic_bw-$c" 18515 ib_atomic_bw -d "$d" -F -A $c -n 1000
		ok "ib_atomic_bw $c, 8 QPs, both ways" \
			pair "atomic_bw-8-$c" 18515 ib_atomic_bw -d "$d" -F -A $c -q 8 -b -n 200
		ok "ib_atomic_bw $c, one at a time" pair "atomic_bw-o-$c" 18515 ib_atomic_bw -d "$d" -F -A $c -o 1 -n 200
		ok "ib_atomic_lat $c" pair "atomic_lat-$c" 18515 ib_atomic_lat -d "$d" -F -A $c -n 500
	done

	ok "there are huge pages" sh -c "echo 48 >/proc/sys/vm/nr_hugepages && grep -x 48 /proc/sys/vm/nr_hugepages"
	ok "ib_write_bw --use_hugepages" \
		pair write_bw-huge 18515 ib_write_bw -d "$d" -F --use_hugepages -s 1048576 -n 50
	ok "ib_read_bw --use_hugepages, 8 QPs" \
		pair read_bw-huge 18515 ib_read_bw -d "$d" -F --use_hugepages -q 8 -s 65536 -n 100
	ok "ib_send_bw --use_hugepages" \
		pair send_bw-huge 18515 ib_send_bw -d "$d" -F --use_hugepages -s 65536 -n 100
	ok "ib_atomic_bw --use_hugepages" pair atomic_bw-huge 18515 ib_atomic_bw -d "$d" -F --use_hugepages -n 200
}

# Extended reliable connections: each side has a domain, SRQs and targets.
xrc_programs_plan=$((4 + 6))

# One server, and three clients of it on the other node.
xsrq_clients()
{
	local i rc=0

	if [ $# -eq 0 ]; then
		ibv_xsrq_pingpong -d "$LAB_DEV" -n 50 -c 3
		return
	fi
	for i in 1 2 3; do
		ibv_xsrq_pingpong -d "$LAB_DEV" -n 50 "$1" &
	done
	for i in 1 2 3; do
		wait -n || rc=$?
	done
	return "$rc"
}

xrc_programs()
{
	local d=$LAB_DEV

	ok "ibv_xsrq_pingpong" pair xsrq 18515 ibv_xsrq_pingpong -d "$d" -n 100
	ok "ibv_xsrq_pingpong, messages of 17 packets" \
		pair xsrq-long 18515 ibv_xsrq_pingpong -d "$d" -n 50 -s 65537
	ok "ibv_xsrq_pingpong woken by events" pair xsrq-events 18515 ibv_xsrq_pingpong -d "$d" -e -n 50
	ok "ibv_xsrq_pingpong, three clients" pair xsrq-clients 18515 xsrq_clients

	ok "ib_send_bw -c XRC" pair send_bw-xrc 18515 ib_send_bw -d "$d" -F -c XRC -s 4096 -n 500
	ok "ib_send_bw -c XRC, 8 QPs, both ways" \
		pair send_bw-xrc-8 18515 ib_send_bw -d "$d" -F -c XRC -q 8 -b -s 4096 -n 200
	ok "ib_send_lat -c XRC" pair send_lat-xrc 18515 ib_send_lat -d "$d" -F -c XRC -s 64 -n 500
	ok "ib_write_bw -c XRC" pair write_bw-xrc 18515 ib_write_bw -d "$d" -F -c XRC -s 65536 -n 200
	ok "ib_read_bw -c XRC, 4 QPs" pair read_bw-xrc 18515 ib_read_bw -d "$d" -F -c XRC -q 4 -s 65536 -n 200
	ok "ib_atomic_bw -c XRC" pair atomic_bw-xrc 18515 ib_atomic_bw -d "$d" -F -c XRC -n 200
}

# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The distribution's own programs on the reliable connection: sourced by the
# tests that run them on different cores, so that each runs the same checks.
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

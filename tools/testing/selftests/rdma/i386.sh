#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours --i386
# long: --core ours,distro
# Programs of 32 bits on a kernel of 64: the distribution's, with each other and with those of 64 bits, and
# ours, whose invalid requests and accesses to memory must be refused.
. /lab/src/tools/testing/selftests/rdma/lib.sh
programs32=/lab/src/build/selftests-i386
sources=/lab/src/tools/testing/selftests/rdma
d=$LAB_DEV

# of_32 NODES COMMAND...: run the 32-bit COMMAND on these nodes, the 64-bit one on the others
of_32()
{
	local nodes=$1
	shift
	if [[ $nodes = *$LAB_NODE* ]]; then lab-i386 "$@"; else "$@"; fi
}

# NODES PROGRAM OPTION...: 32 bits on either side, and on both
pingpongs="12 rc -c
12 rc -c -e -s 1048577 -m 4096
12 uc -c -e
12 ud -c -e -g 0
12 srq -c -e
12 xsrq -e
1 rc -c -e -g 0
1 ud -c
1 srq -c -q 64 -r 128 -s 4097
2 uc -c -s 65536
2 xsrq -s 65537"

# The data that two programs of perftest exchange first have another size in 32 bits.
perftests="ib_write_bw -b -q 8 -s 4096 -n 500
ib_read_bw -s 65536 -n 200
ib_send_bw --use-srq -q 8 -e -s 4096 -n 500
ib_send_bw -c UD -s 2048 -n 500
ib_atomic_bw -A FETCH_AND_ADD -n 500"

# On the distribution's core fewer runs are enough for the driver.
[ "$LAB_CORE" = ours ] || {
	pingpongs=$(grep ^12 <<<"$pingpongs")
	perftests=$(grep send <<<"$perftests")
}
mapfile -t talks <<<"$pingpongs"
mapfile -t measures <<<"$perftests"
# each node does this for itself, both at the same time
case $LAB_NODE in
1) alone=5 ;;
2) alone=4 ;;
esac
plan $((2 + ${#talks[@]} + ${#measures[@]} + 3 + alone))

lab-i386
is "there are programs of 32 bits" 32 "$(lab-i386 getconf LONG_BIT)"
ok "they are told the same of the device" diff <(ibv_devinfo -v) <(lab-i386 ibv_devinfo -v)

for one in "${talks[@]}"; do
	read -r nodes what options <<<"$one"
	# shellcheck disable=SC2086
	ok "32 bits on nodes $nodes: ibv_${what}_pingpong $options" \
		pair "$what-${options// /}-$nodes" 18515 of_32 "$nodes" "ibv_${what}_pingpong" -d "$d" -n 50 $options
done
for one in "${measures[@]}"; do
	read -r what options <<<"$one"
	# shellcheck disable=SC2086
	ok "32 bits: $what $options" pair "$what-${options// /}" 18515 lab-i386 "$what" -d "$d" -F $options
done

by_write=(lab-i386 env "LD_PRELOAD=$programs32/no_ioctl.so")
ok "by write(): ibv_devinfo" sh -c "${by_write[*]} ibv_devinfo -v -d $d | grep PORT_ACTIVE"
ok "by write(): ibv_rc_pingpong" pair write-rc 18515 "${by_write[@]}" ibv_rc_pingpong -d "$d" -c -e -n 50
ok "by write(): ibv_xsrq_pingpong" pair write-xsrq 18515 "${by_write[@]}" ibv_xsrq_pingpong -d "$d" -n 50

# the distribution's core gives no reasons
unreasoned=()
[ "$LAB_CORE" = ours ] || unreasoned=(-n)
case $LAB_NODE in
1)
	ok "requests that must be refused" lab-i386 $programs32/uverbs_bad_input "${unreasoned[@]}" "$d"
	ok "requests that reach for the wrong memory" lab-i386 $programs32/memory_faults "$d"
	ok "inline data of every length" lab-i386 $programs32/inline_sizes "$d"
	ok "what queues can be asked for" lab-i386 $programs32/queue_features "$d"
	ok "rdma-core's tests of imported objects and of extended CQs" \
		lab-i386 python3 -B $sources/pyverbs_tap.py "$d" test_shared_pd test_cqex
	;;
2)
	ok "every value of every command, wrong in every way" \
		lab-i386 python3 -B $sources/uapi_walk.py "${unreasoned[@]}" "$d"
	ok "asynchronous events" lab-i386 $programs32/async_events "$d"
	modprobe ib_umad
	ok "user MADs" lab-i386 $programs32/umad_requests "${unreasoned[@]}" "$d"
	modprobe rdma_ucm
	ok "connections: requests that must be refused" lab-i386 $programs32/ucma_bad_input "${unreasoned[@]}" "$d"
	;;
esac
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 3 --core ours --subnet opensm --cpus 2 --confined --timeout 1800 -- 300 1
# soak.sh TIME [SEED]: three guests run for TIME seconds, in rounds. In each there is a fault, which follows
# from the seed, while connections of verbs and of the RDMA CM, and packets of IPoIB, carry data that are
# compared, four threads make and destroy objects, and a kernel consumer is loaded and unloaded. The memory
# and descriptors of kernels and daemon after each round must not grow. The daemon has no sanitizers, which
# keep what is freed.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh

time=${1:-300} seed=${2:-1}
FEWEST=6	# rounds
case $time in
*h) seconds=$((${time%h} * 3600)) ;;
*m) seconds=$((${time%m} * 60)) ;;
*) seconds=${time%s} ;;
esac
plan $((LAB_NODE == 1 ? 8 : 5))

# faults that take time and packets, and no connection
declare -a faults=(
	"loss all permille=5 opcode=RC"
	"duplicate all permille=5 opcode=RC"
	"corrupt all permille=3 opcode=RC"
	"reorder all permille=5 usec=300 opcode=RC"
	"delay all permille=20 usec=200 jitter=500"
	"interrupt node@-0 vector=2 count=5"	# of completions, none of management
	"command node@-0 delay=100 count=20"
	"pause 300"
)

# fault: one by chance, at node 1's choice
fault()
{
	local words=${faults[RANDOM % ${#faults[@]}]}
	words=${words/@/$((1 + RANDOM % LAB_NODES))}
	echo "# round $round: $words"
	if [ "${words%% *}" = pause ]; then
		lab-pause "${words#* }"
	else
		lab-fault "$words"
	fi
}

# echoes: packets of IPoIB come back with the bytes that they had
echoes()
{
	ping -q -f -c 200 -W 60 -s 1900 -p "5a$((RANDOM % 90 + 10))" $server4 >/tmp/echoes &&
		! grep -i "wrong data" /tmp/echoes
}

consumer()
{
	modprobe rdma_kverbs && [ "$(cat /sys/module/rdma_kverbs/parameters/failed)" = 0 ] &&
		rmmod rdma_kverbs
}
churn() { "$programs/shared_storm" "$LAB_DEV" 200 $RANDOM; }

serve()
{
	local k rc=0 pids=()
	for ((k = 2; k <= LAB_NODES; k++)); do
		ibv_rc_pingpong -d "$LAB_DEV" -p $((18600 + k)) -c -n 300 -s 8192 \
			>/tmp/pingpong.$k 2>&1 &
		pids+=($!)
		wait_listen $((18600 + k)) $! || rc=1
	done
	lab-barrier "serve-$round"
	churn && consumer || rc=1
	for k in "${pids[@]}"; do ended "$k" || rc=1; done
	return $rc
}

use()
{
	lab-barrier "serve-$round"
	ibv_rc_pingpong -d "$LAB_DEV" -p $((18600 + LAB_NODE)) -c -n 300 -s 8192 10.77.0.1 &&
		rping -c -a $server4 -C 20 -V -S 4096 && echoes && churn && consumer
}

# note: what is in use after a round: kB of the kernel that cannot be reclaimed, files, and the daemon's kB
# and descriptors
note()
{
	sync
	echo 3 >/proc/sys/vm/drop_caches
	awk '/^(SUnreclaim|KernelStack|PageTables|Percpu):/ { n += $2 } END { print n }' \
		/proc/meminfo >>/tmp/memory
	cut -f 1 /proc/sys/fs/file-nr >>/tmp/files
	cat /proc/slabinfo >/tmp/slabs.last
	[ "$SECONDS" -gt $((seconds / 3)) ] || cat /proc/slabinfo >/tmp/slabs.third
	[ "$LAB_NODE" = 1 ] || return 0
	lab-tell daemon >/tmp/has
	cut -d ' ' -f 1 /tmp/has >>/tmp/daemon
	cut -d ' ' -f 2 /tmp/has >>/tmp/descriptors
}

# grown: the caches that have taken most since the first third of the time, in kB
grown()
{
	awk 'NR == FNR { had[$1] = $3 * $4; next }
		$3 ~ /^[0-9]+$/ { printf "%d kB more %s\n", ($3 * $4 - had[$1]) / 1024, $1 }' \
		/tmp/slabs.third /tmp/slabs.last | sort -rn | head -n 12 | commented
}

# flat FILE MOST: a line through its numbers, without those of the first third, rises by less than
# that from the first to the last
flat()
{
	awk -v most="$2" '{ y[NR] = $1 }
		END {
			from = int(NR / 3) + 1
			for (i = from; i <= NR; i++) {
				n++; sx += i; sy += y[i]; sxx += i * i; sxy += i * y[i]
			}
			slope = (n * sxy - sx * sy) / (n * sxx - sx * sx)
			printf "%d rounds, %d to %d, %.2f more in each, %.0f in all\n",
				NR, y[from], y[NR], slope, slope * (n - 1)
			exit slope * (n - 1) >= most
		}' "$1"
}

# The first fault of a link takes 8.4 MiB for packets, once (growth_test).
[ "$LAB_NODE" != 1 ] || lab-vhcactl fault loss all permille=1 , fault clear all
rm -f "$LAB_OUT/over"	# of an earlier run
ok "ports have addresses" connections_up
if [ "$LAB_NODE" = 1 ]; then
	rping -s -P -a $server4 >/tmp/rping 2>&1 &
	server=$!
	ok "a server" cm_listens $server
	RANDOM=$seed
else
	RANDOM=$((seed + LAB_NODE))
fi
good=0 SECONDS=0
for ((round = 1; ; round++)); do
	if [ "$LAB_NODE" = 1 ]; then
		[ "$SECONDS" -lt "$seconds" ] || [ "$round" -le "$FEWEST" ] || : >"$LAB_OUT/over"
	fi
	lab-barrier "round-$round"
	[ ! -e "$LAB_OUT/over" ] || break
	if [ "$LAB_NODE" = 1 ]; then
		fault && serve >/tmp/round 2>&1
	else
		use >/tmp/round 2>&1
	fi && good=$((good + 1)) || commented </tmp/round
	lab-barrier "used-$round"
	[ "$LAB_NODE" != 1 ] || lab-vhcactl fault clear all , fault clear node1-0 , \
		fault clear node2-0 , fault clear node3-0
	lab-barrier "quiet-$round"
	note
done
is "each round was good" $((round - 1)) $good
[ "$LAB_NODE" != 1 ] || stopped $server >/dev/null
ok "the kernel's memory does not grow" flat /tmp/memory 1024
grown
ok "nor do files" flat /tmp/files 64
if [ "$LAB_NODE" = 1 ]; then
	ok "nor does the daemon" flat /tmp/daemon 1024
	ok "nor do its descriptors" flat /tmp/descriptors 1
fi
ok "no id is left" within no_ids
finish

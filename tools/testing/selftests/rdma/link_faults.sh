#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours --confined --timeout 600
# check: no
# long: -- all
# link_faults.sh [all]: programs and kernel consumers over links that lose one packet of a hundred, or go down
# again and again; all of perftest's on our core if told so. The daemon is the one that is confined.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/kmem_checks.sh

d=$LAB_DEV own=node$LAB_NODE-0
# the tests of rdma-core that send packets
case $LAB_CORE-${1:-} in
ours-all)
	programs="send_bw write_bw read_bw atomic_bw send_lat write_lat read_lat atomic_lat"
	traffic="test_atomic test_qpex test_srq" least=30
	more=5 flaps=5
	;;
*)
	programs="send_bw read_lat atomic_bw"
	traffic="test_qpex" least=20
	more=0 flaps=3
	[ "$LAB_CORE" != ours ] || more=5
	;;
esac

# once COMMAND...: node 1 runs it, and all nodes wait until it is done
once()
{
	local rc=0
	[ "$LAB_NODE" != 1 ] || "$@" || rc=$?
	lab-barrier "once-$*"
	return "$rc"
}

counter() { cat "/sys/class/infiniband/$d/ports/1/hw_counters/$1"; }

# counters of a sender, and of a receiver, that grow when packets are lost
noticed="timeouts seq_naks_received seq_naks_sent duplicates"
look() { for name in $noticed; do echo "$name $(counter "$name")"; done; }

# grown FILE: each counter is more than in FILE
grown()
{
	look | paste -d' ' "$1" - | awk '{ print $1, $2, "to", $4 } $4 <= $2 { bad = 1 } END { exit bad }'
}

# sent, received, lost: packets of all ports
packets()
{
	lab-vhcactl counters | awk '{ for (i = 1; i < NF; i++) n[$i] += $(i + 1) }
		END { print n["tx"], n["rx"], n["drops"] }'
}

lost() { packets | cut -d' ' -f3; }

# balanced FILE: every packet that was sent since FILE was written has arrived, or is counted as lost
balanced()
{
	packets | paste -d' ' "$1" - | awk '{
		tx = $4 - $1; rx = $5 - $2; lost = $6 - $3
		print tx, "sent,", rx, "received,", lost, "lost"
		exit !(lost > 0 && tx == rx + lost)
	}'
}

# told N: node 2 has got the events of N flaps, two of each
told() { until [ "$(wc -l <"$LAB_OUT/told")" -gt $((2 * $1)) ]; do kill -0 "$watch" || return 1; moment; done; }
events() { grep -c "$1" "$LAB_OUT/told"; }

# Flaps one after the other, each when node 2 has got the events of the one before: if a link goes down
# again before its recovery was reported, the driver reports that as one failure.
flap_by_flap()
{
	local n rc=0
	for ((n = 1; n <= flaps; n++)); do
		once lab-fault flap node2-0 permille=1000 usec=20000 count=1 || rc=$?
		pair "flap-$n" 18515 ibv_rc_pingpong -d "$d" -c -n 20 || rc=$?
		[ "$LAB_NODE" = 1 ] || told "$n" || rc=$?
		lab-barrier "flap-$n-told"
	done
	return $rc
}

# moves PORT: vhcactl top has seen it send or receive
moves() { grep "^$1 .*[1-9]" "$LAB_OUT/top"; }

# Both ends run until node 1 has seen both of them move. A guest may be paused for as long as a table looks
# back.
watched()
{
	local rc=0 pid deadline
	stdbuf -oL ib_write_bw -d "$d" -F -s 65536 -D 6000 "$@" >"$LAB_OUT/load.$LAB_NODE" 2>&1 &
	pid=$!
	if [ "$LAB_NODE" = 1 ]; then
		wait_listen 18515 $pid || rc=$?
		lab-barrier load-listens
	fi
	until grep -qs '#bytes' "$LAB_OUT/load.$LAB_NODE"; do
		kill -0 $pid || { rc=1; break; }
		moment
	done
	lab-barrier load-runs
	if [ "$LAB_NODE" = 1 ]; then
		deadline=$((SECONDS + patience))
		until lab-vhcactl top --once >"$LAB_OUT/top" &&
			moves node1-0:1 && moves node2-0:1; do
			[ "$SECONDS" -lt "$deadline" ] || { rc=1; break; }
		done
		cat "$LAB_OUT/top"
	fi
	kill -0 $pid || rc=$?
	lab-barrier load-watched
	kill $pid 2>/dev/null	# unless the end of the other one has ended it
	wait $pid
	return $rc
}

plan $((3 + $(wc -w <<<"$programs") + kmem_plan + 15 + more))

[ "$LAB_NODE" != 1 ] || cat >"$LAB_OUT/scenario" <<'END'
{ "seed": 7, "faults": [ { "kind": "loss", "hca": "all", "permille": 10 } ] }
END
ok "a scenario is armed" once lab-vhcactl scenario "$LAB_OUT/scenario"
look >"$LAB_OUT/before.$LAB_NODE"
packets >"$LAB_OUT/packets.$LAB_NODE"
lab-barrier counted
ok "loss: ibv_rc_pingpong -c" pair loss-rc 18515 ibv_rc_pingpong -d "$d" -c -n 200 -s 16384 -m 1024
for name in $programs; do
	case $name in
	atomic_*) size=() ;;
	*_lat) size=(-s 64) ;;
	*) size=(-s 65536) ;;
	esac
	ok "loss: ib_$name" pair "loss-$name" 18515 "ib_$name" -d "$d" -F -n 100 "${size[@]}"
done
ok "loss: both ends have noticed" grown "$LAB_OUT/before.$LAB_NODE"
if [ $more -gt 0 ]; then
	before=$(lost)
	lab-barrier counted
	# longer than a guest may be paused: a server to which nothing was sent would wait without end
	ok "loss: UD goes on without what is lost" \
		pair loss-ud 18515 ib_send_bw -d "$d" -F -c UD -s 1024 -D 6
	ok "loss: and that is counted" test "$(lost)" -gt "$before"
fi
# on UC it waits for some of its messages
ok "loss: of reliable connections alone" once lab-fault clear all , fault loss all permille=10 opcode=RC
kmem_checks loss 0
lab-barrier quiet
ok "loss: nothing else got lost" balanced "$LAB_OUT/packets.$LAB_NODE"
lab-barrier looked
ok "loss ends" once lab-fault clear all
after=$(lost)
lab-barrier counted
ok "and nothing is lost" pair rc 18515 ibv_rc_pingpong -d "$d" -c -n 50
is "not a packet" "$after" "$(lost)"
lab-barrier counted

if [ "$LAB_NODE" = 2 ]; then
	stdbuf -oL ibv_asyncwatch -d "$d" >"$LAB_OUT/told" &
	watch=$!
	until [ -s "$LAB_OUT/told" ]; do kill -0 $watch || break; moment; done
fi
ok "flaps: one by one" flap_by_flap
if [ "$LAB_NODE" = 2 ]; then
	is "flaps: as down and up" "$flaps $flaps" "$(events PORT_ERR) $(events PORT_ACTIVE)"
	kill $watch
fi
ok "flaps are armed" once lab-fault flap node2-0 permille=5 usec=20000 count=$flaps
ok "flaps: ibv_rc_pingpong -c" pair flap-rc 18515 ibv_rc_pingpong -d "$d" -c -n 200 -s 16384 -m 1024
ok "flaps: ib_write_bw" pair flap-write 18515 ib_write_bw -d "$d" -F -s 65536 -n 200
ok "flaps: all have struck" lab-fault spent node2-0
if [ "$LAB_NODE" = 1 ]; then
	ok "flaps: the port of this side stayed up" [ "$(port_state "$d")" = "4: ACTIVE" ]
	ok "flaps: and of the other one is up again" \
		sh -c "lab-vhcactl port node2-0 && lab-vhcactl status | grep -c 'port 1  ACTIVE' | grep -x 2"
fi
lab-barrier flaps-over
[ "$LAB_NODE" = 1 ] || is "flaps: and here it is up again" "4: ACTIVE" "$(port_state "$d")"

# each on its own adapter: node 1's goes down, node 2's loses packets
struck() { lab-vhcactl status | awk -v own="$own " 'index($0, own) { on = 1; next } /^node/ { on = 0 }
	on && match($0, /struck [0-9]+/) { n += substr($0, RSTART + 7, RLENGTH - 7) } END { print n + 0 }'; }
if [ "$LAB_NODE" = 1 ]; then
	lab-fault flap $own permille=3 usec=5000 opcode=RC
else
	lab-fault loss $own permille=10 opcode=RC , fault loss $own permille=10 opcode=XRC
fi
# shellcheck disable=SC2086
ok "rdma-core's own tests" /lab/src/tools/testing/selftests/rdma/pyverbs_tap.py --least $least "$d" $traffic
ok "were struck" test "$(struck)" -gt 0
ok "and no more are" lab-fault clear $own

if [ $more -gt 0 ]; then
	case $LAB_NODE in
	1) ok "a program runs" watched ;;
	2)
		lab-barrier load-listens
		ok "a program runs" watched 10.77.0.1
		;;
	esac
	lab-barrier watched
	for word in "node1-0:1" "node2-0:1"; do
		ok "vhcactl top has seen what moves: $word" moves "$word"
	done
fi
finish

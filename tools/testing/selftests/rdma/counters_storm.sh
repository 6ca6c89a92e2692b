#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 1 --core ours --ports 2 --cpus 2 --kernel debug --timeout 3600 -- 1000 10
# counters_storm.sh STEPS ROUNDS: rules of two ports bind QPs that four threads make and destroy, in STEPS
# steps each; then, ROUNDS times, two rdma tools bind the same QPs, which have no port yet, each for its
# port. At the end there is no counter.
. /lab/src/tools/testing/selftests/rdma/lib.sh
plan 10
d=$LAB_DEV

counters() { rdma statistic qp show; }
no_counters() { ! counters | grep .; }
# A port keeps its mode until its last counter is freed.
no_mode() { [ "$(rdma statistic qp mode | grep -c 'mode qp auto off')" = 2 ] || { rdma statistic qp mode; return 1; }; }

for port in 1 2; do
	ok "a rule of port $port" rdma statistic qp set link "$d/$port" auto type on
done
coproc storm { $programs/counters_storm "$d" "$1"; }
pid=$storm_PID
exec {answer}<&"${storm[0]}" {ask}>&"${storm[1]}"
eval "exec ${storm[1]}>&-"
# Reading counters that end is a part of the storm.
seen=()
until read -r -t 0 -u "$answer"; do
	for port in $(counters | sed -n "s|^link $d/\([12]\) .*|\1|p"); do seen[port]=1; done
done
IFS= read -r -u "$answer" line || line="nothing"
is "QPs come and go" "$((4 * $1)) steps" "$line"
is "and were bound on both ports" "1 2" "${!seen[*]}"
ok "no counter is left of them" no_counters
for port in 1 2; do
	rdma statistic qp set link "$d/$port" auto off
done

won=()
# round FIRST SECOND: ports; each QP gets one counter
round()
{
	local bound first port
	echo >&"$ask"
	read -r -a qps -u "$answer" || return
	rdma -f -b "/tmp/bind$1" >/dev/null 2>&1 &
	first=$!
	rdma -f -b "/tmp/bind$2" >/dev/null 2>&1 &
	exec {to_first}>"/tmp/bind$1" {to_second}>"/tmp/bind$2"
	for qp in "${qps[@]}"; do
		echo "statistic qp bind link $d/$1 lqpn $qp" >&"$to_first"
		echo "statistic qp bind link $d/$2 lqpn $qp" >&"$to_second"
	done
	exec {to_first}>&- {to_second}>&-
	wait $first $!
	counters >/tmp/counters
	bound=$(sed -n 's/.*LQPN: <\(.*\)>.*/\1/p' /tmp/counters | sort -n)
	[ "$bound" = "$(printf '%s\n' "${qps[@]}" | sort -n)" ] ||
		{ echo "# QPs ${qps[*]}, bound ${bound//$'\n'/ }"; return 1; }
	while read -r port; do
		won[port]=$((won[port] + 1))
	done < <(sed -n "s|^link $d/\([12]\) .*|\1|p" /tmp/counters)
}

# Both tools wait at their pipes for the next QP.
mkfifo /tmp/bind1 /tmp/bind2
rounds=0
while [ $rounds -lt "$2" ] && round $((1 + rounds % 2)) $((2 - rounds % 2)); do
	rounds=$((rounds + 1))
done
is "each QP was bound once" "$2" $rounds
echo "# port 1 had ${won[1]} of the QPs, port 2 ${won[2]}"
ok "whichever port was faster" [ $((won[1] > 0 && won[2] > 0)) = 1 ]
exec {ask}>&-
ended "$pid"
is "the QPs go" 0 $?
ok "and with them their counters" no_counters
ok "ports have no mode" no_mode
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours
# long: --core ours,distro
# The machine's devices are suspended and resumed: programs that use the adapter lose it, get an
# event, and find it again.
. /lab/src/tools/testing/selftests/rdma/lib.sh
plan 9

dev=$(readlink -f "/sys/class/infiniband/$LAB_DEV/device")
kverbs() { cat "/sys/module/rdma_kverbs/parameters/$1"; }
active() { until [ "$(port_state "$LAB_DEV")" = "4: ACTIVE" ]; do moment; done; }

# asleep: all devices are suspended, and resumed again after some seconds
asleep()
{
	echo devices >/sys/power/pm_test && echo freeze >/sys/power/state
}

ok "nothing but the adapter sleeps" modprobe rdma_alone_asleep adapter="${dev##*/}"
ok "a consumer meets the device" modprobe rdma_kverbs
checks=$(kverbs passed)
coproc watch { stdbuf -oL ibv_asyncwatch -d "$LAB_DEV"; }
# it ends by itself, and then the shell closes its own end
exec {told}<&"${watch[0]}"
IFS= read -r -t $patience line <&"$told" || true
is "a program waits for events" "$LAB_DEV: async event FD" "${line% *}"

ok "the machine sleeps and wakes up" asleep
IFS= read -r -t $patience line <&"$told" || line=nothing
ok "the program is told that its device is lost" grep -F DEVICE_FATAL <<<"$line"
is "the consumer's receives are flushed" "1 8" "$(kverbs removed) $(kverbs flushed)"
until [ $(($(kverbs passed) + $(kverbs failed))) -ge $((2 * checks)) ]; do moment; done
is "and it finds a device as good as the first" "$((2 * checks)) 0" "$(kverbs passed) $(kverbs failed)"
kill "${watch_PID:-none}" 2>/dev/null || true	# it may have ended by itself
active
ok "so do programs" talk_alone -e -n 50

asleep && asleep
rmmod rdma_kverbs
active
ok "however often it sleeps" talk_alone -e -n 50
rmmod rdma_alone_asleep
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours
# sysfs, netlink and libibverbs find the same device, under its new name and in other network
# namespaces, too.
. /lab/src/tools/testing/selftests/rdma/lib.sh
plan 22

class=/sys/class/infiniband

names() { rdma dev | sed 's/^[0-9]*: \([^:]*\):.*/\1/'; }
verbs_names() { ibv_devices | awk 'NR > 2 { print $1 }'; }
counts() { rdma res show "$1" | sed 's/^[^:]*: [^:]*: //; s/ *$//'; }
in_ns() { ip netns exec other "$@"; }

is "netlink names it" "$LAB_DEV" "$(names)"
is "sysfs does" "$LAB_DEV" "$(ls $class)"
is "libibverbs does" "$LAB_DEV" "$(verbs_names)"
is "GUID" "$(cat "$class/$LAB_DEV/node_guid")" "$(rdma dev | sed 's/.* node_guid \([^ ]*\).*/\1/')"
is "LID" "$(($(cat "$class/$LAB_DEV/ports/1/lid")))" "$(rdma link | sed 's/.* lid \([^ ]*\).*/\1/')"
is "state" "$(port_state "$LAB_DEV")" "4: $(rdma link | sed 's/.* state \([^ ]*\).*/\1/')"
is "subnet prefix" "$(cut -c -19 "$class/$LAB_DEV/ports/1/gids/0")" \
	"$(rdma link | sed 's/.* subnet_prefix \([^ ]*\).*/\1/')"
is "unused, it holds what MADs take" "pd 1 cq 1 qp 2 cm_id 0 mr 0 ctx 0 srq 0" "$(counts "$LAB_DEV")"

rm -f "$LAB_OUT/asyncwatch"	# of an earlier run
rdma monitor >"$LAB_OUT/monitor" 2>&1 &
monitor=$!
ibv_asyncwatch -d "$LAB_DEV" >"$LAB_OUT/asyncwatch" &
watch=$!
until [ -s "$LAB_OUT/asyncwatch" ] || ! kill -0 $watch 2>/dev/null; do sleep 0.05; done
until monitored || ! kill -0 $monitor 2>/dev/null; do sleep 0.05; done
is "a context is counted besides" "pd 1 cq 1 qp 2 cm_id 0 mr 0 ctx 1 srq 0" "$(counts "$LAB_DEV")"

ok "it takes a new name while it is open" rdma dev set "$LAB_DEV" name renamed
is "everybody knows it" "renamed renamed renamed" "$(names) $(ls $class) $(verbs_names)"
ok "and works under it" ibv_devinfo -d renamed
ok "the old name is free" sh -c "! ls $class/$LAB_DEV"
kill $watch
wait $watch 2>/dev/null

ip netns add other
is "another namespace sees it" "renamed renamed" "$(in_ns rdma dev | sed 's/^[0-9]*: \([^:]*\):.*/\1/') $(in_ns ls $class)"
is "with its ports" "4: ACTIVE" "$(in_ns cat $class/renamed/ports/1/state)"
ok "the mode of sharing cannot change then" sh -c '! rdma system set netns exclusive'
ip netns del other
# the kernel takes a namespace down in its own time
until rdma system set netns exclusive 2>/dev/null; do sleep 0.05; done

ip netns add other
ok "in exclusive mode it is moved" rdma dev set renamed netns other
is "and seen there alone" " renamed" "$(names) $(in_ns rdma dev | sed 's/^[0-9]*: \([^:]*\):.*/\1/')"
ok "where it works" in_ns ibv_devinfo -d renamed
ip netns del other
until [ -n "$(names)" ]; do sleep 0.05; done
is "with the namespace's end it comes home" renamed "$(names)"
until rdma system set netns shared 2>/dev/null; do sleep 0.05; done
ok "and has its old name again" rdma dev set renamed name "$LAB_DEV"

modprobe -r vhca
until grep -q UNREGISTER "$LAB_OUT/monitor" || ! kill -0 $monitor 2>/dev/null; do sleep 0.05; done
kill $monitor
ok "listeners hear of its end" grep -E "UNREGISTER.*$LAB_DEV" "$LAB_OUT/monitor"
finish

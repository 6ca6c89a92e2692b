#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours --hca 16 --mem 1536 --device-arg --device-version --device-arg 1.0 --device-arg --caps-off --device-arg node1-1:rc --device-arg --caps-off --device-arg node1-2:uc --device-arg --caps-off --device-arg node1-3:ud --device-arg --caps-off --device-arg node1-4:mcast --device-arg --caps-off --device-arg node1-5:rnr-nak --device-arg --caps-off --device-arg node1-6:srq --device-arg --caps-off --device-arg node1-7:cq-resize --device-arg --caps-off --device-arg node1-8:cq-moderation --device-arg --caps-off --device-arg node1-9:counters --device-arg --caps-off --device-arg node1-10:clock,mw --device-arg --caps-off --device-arg node1-11:rc,uc,ud,mcast,rnr-nak,srq,cq-resize,cq-moderation,counters,clock,atomic,masked-atomic,atomic-write,flush,fast-reg,uc-fast-reg,sg-gaps,mw,mw-2a,mw-2b,fmr,xrc,apm,clock-query,qp-counters,ud-csum,ud-csum6,ud-lso,ud-lso6,integrity --device-arg --caps-off --device-arg node1-12:uc,ud,mcast,srq,cq-resize,cq-moderation,counters,atomic,masked-atomic,atomic-write,flush,fast-reg,uc-fast-reg,sg-gaps,mw,mw-2a,mw-2b,fmr,xrc,apm,clock-query,qp-counters,ud-csum,ud-csum6,ud-lso,ud-lso6,integrity --device-arg --caps-off --device-arg node1-13:atomic,mw-2a,xrc,apm,qp-counters --device-arg --caps-off --device-arg node1-14:atomic-write,mw-2b,uc-fast-reg --device-arg --caps-off --device-arg node1-15:fast-reg,flush,clock-query
# Each adapter lacks one capability or a few independent ones; one has all, one has none, and one
# has those of the interface's first version, which all of them report as theirs.
. /lab/src/tools/testing/selftests/rdma/lib.sh
memory="atomic masked-atomic atomic-write flush fast-reg uc-fast-reg sg-gaps mw mw-2a mw-2b fmr xrc apm clock-query qp-counters ud-csum ud-csum6 ud-lso ud-lso6 integrity"
without=("" rc uc ud mcast rnr-nak srq cq-resize cq-moderation counters "clock mw"
	"rc uc ud mcast rnr-nak srq cq-resize cq-moderation counters clock $memory"
	"uc ud mcast srq cq-resize cq-moderation counters $memory"
	"atomic mw-2a xrc apm qp-counters" "atomic-write mw-2b uc-fast-reg" "fast-reg flush clock-query")
plan $((2 + ${#without[@]}))

# the adapters in the order of their numbers, which their GUIDs follow
mapfile -t devices < <(for d in /sys/class/infiniband/*; do echo "$(cat "$d/node_guid") ${d##*/}"; done | sort | cut -d' ' -f2)
is "the driver takes them all" ${#without[@]} ${#devices[@]}
is "and says which interface they have" "1.0" "$(cat "/sys/class/infiniband/${devices[0]}/hw_rev")"
for i in "${!without[@]}"; do
	# shellcheck disable=SC2086
	ok "without ${without[i]:-nothing}" $programs/capabilities "${devices[i]}" ${without[i]}
done
finish

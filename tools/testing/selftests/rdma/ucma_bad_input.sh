#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours,distro
# check: --core ours
# Requests to /dev/infiniband/rdma_cm that must be refused; what the module shows of itself; nothing is
# left behind. Linux's rdma_ucm refuses them, too. i386.sh has the requests of programs of 32 bits.
. /lab/src/tools/testing/selftests/rdma/lib.sh
d=$LAB_DEV
node=/dev/infiniband/rdma_cm
backlog=/proc/sys/net/rdma_ucm/max_backlog
unreasoned=()
[ "$LAB_CORE" = ours ] || unreasoned=(-n)
plan 10
modprobe rdma_ucm

cm_ids() { rdma resource show "$d" | grep -o 'cm_id [0-9]*'; }

is "the ABI has version 4" 4 "$(</sys/class/misc/rdma_cm/abi_version)"
is "everybody may connect" "crw-rw-rw-" "$(stat -c %A $node)"
is "it is loaded when somebody asks for it" 1 "$(modinfo -F alias rdma_ucm | grep -c '^rdma-client-rdma_cm$')"
is "the backlog" 1024 "$(<$backlog)"
ok "it can be set" sh -c "echo 7 >$backlog && [ \$(cat $backlog) = 7 ] && echo 1024 >$backlog"

before=$(cm_ids)
ok "requests that must be refused" "$programs/ucma_bad_input" "${unreasoned[@]}" "$d"
is "nothing is left of them" "$before" "$(cm_ids)"

exec {held}<>$node
ok "the module stays while a file is open" sh -c "! rmmod rdma_ucm"
exec {held}>&-
ok "and goes when none is" rmmod rdma_ucm
ok "and comes again" modprobe rdma_ucm
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours --kernel debug --append "lsm=selinux kmemleak=off" --packages secilc
# SELinux says who may use which P_Key, and who may manage the subnet; Debian's own kernel does not ask it, the debug kernel does.
. /lab/src/tools/testing/selftests/rdma/lib.sh
plan 20

selinux=/sys/fs/selinux
dir=/lab/src/tools/testing/selftests/rdma

# policy NAME [LINE]: the policy without the rule that is LINE is made, and loaded
policy()
{
	grep -vxF "${2:-}" $dir/pkey_policy.cil >"/tmp/$1.cil"
	secilc -c 33 -f /dev/null -o "/tmp/$1" "/tmp/$1.cil" && dd if="/tmp/$1" of=$selinux/load bs=1M status=none
}

# mads ARGUMENT...: what one may do with MADs
mads() { "$programs/mad_policy" "$LAB_DEV" "$@"; }

# stopped NAME INDEX COMMAND...: a QP that uses the P_Key at INDEX is stopped by COMMAND
stopped()
{
	local name=$1 index=$2 word='' rc=0 pid
	shift 2
	coproc qp { exec $programs/pkey_policy "$LAB_DEV" u:r:guest_t:s0 "$index" allowed wait; }
	pid=$qp_PID
	IFS= read -r -t $patience word <&"${qp[0]}"
	is "$name: it is at work" ready "$word"
	"$@" >/dev/null
	wait "$pid" || rc=$?
	is "$name: and is stopped" 0 "$rc"
}

modprobe ib_umad
mount -t selinuxfs selinuxfs $selinux
ok "the policy is loaded" policy first
echo 1 >$selinux/enforce
is "and enforced" 1 "$(cat $selinux/enforce)"
h=node1-0
coproc watch { stdbuf -oL ibv_asyncwatch -d "$LAB_DEV"; }
IFS= read -r -t $patience _ <&"${watch[0]}" || true
lab-vhcactl port $h:1 pkey1=0x8011 pkey2=0x8012 pkey3=0x8013 >/dev/null
IFS= read -r -t $patience word <&"${watch[0]}" || word=nothing
is "the core has read the P_Keys" "  event_type IBV_EVENT_PKEY_CHANGE (12), port 1" "$word"
kill "$watch_PID"
wait "$watch_PID" || true

ok "who may use all may use this" $programs/pkey_policy "$LAB_DEV" u:r:all_t:s0 2 allowed
ok "others may use others" $programs/pkey_policy "$LAB_DEV" u:r:guest_t:s0 1 allowed
ok "but not this one" $programs/pkey_policy "$LAB_DEV" u:r:guest_t:s0 2 refused
ok "and are told why" sh -c \
	"rdma-why $programs/pkey_policy $LAB_DEV u:r:guest_t:s0 2 refused 2>&1 | grep 'P_Key 0x8012.*the policy says no'"
ok "who may manage the subnet is an agent of QP0" mads u:r:all_t:s0 manage allowed
ok "who may not is none" mads u:r:guest_t:s0 manage refused
ok "others may send MADs with others" mads u:r:guest_t:s0 send 1 allowed
ok "but not with this one" mads u:r:guest_t:s0 send 2 refused
ok "and receive them" mads u:r:guest_t:s0 receive 1 allowed
ok "but not with this one" mads u:r:guest_t:s0 receive 2 refused
ok "which arrives where it may" mads u:r:all_t:s0 receive 2 allowed
stopped "a QP whose P_Key changes" 3 lab-vhcactl port $h:1 pkey3=0x8012
stopped "a QP whose policy changes" 1 policy second '(allow guest_t public_t (infiniband_pkey (access)))'

coproc manager { exec "$programs/mad_policy" "$LAB_DEV" u:r:all_t:s0 manage allowed wait; }
pid=$manager_PID
IFS= read -r -t $patience word <&"${manager[0]}" || word=nothing
is "an agent of QP0 is at work" ready "$word"
policy third '(allow all_t subnet_t (infiniband_endport (manage_subnet)))' >/dev/null
rc=0
wait "$pid" || rc=$?
is "until the policy changes" 0 "$rc"
finish

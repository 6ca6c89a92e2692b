#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 1 --core ours --kernel debug --append "lsm=selinux kmemleak=off" --packages secilc
# SELinux says who may use which P_Key, and who may manage the subnet; Debian's own kernel does not
# ask it, the debug kernel does.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
[ "$LAB_CORE" = ours ] && plan 36 || plan 34

selinux=/sys/fs/selinux
dir=/lab/src/tools/testing/selftests/rdma

# policy NAME [LINE]: the policy without the rule that is LINE is made, and loaded
policy()
{
	grep -vxF "${2:-}" $dir/pkey_policy.cil >"/tmp/$1.cil"
	secilc -c 33 -f /dev/null -o "/tmp/$1" "/tmp/$1.cil" && dd if="/tmp/$1" of=$selinux/load bs=1M status=none
}

# mads ARGUMENT...: what a program may do with MADs
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
	if [ "$LAB_CORE" = ours ]; then
		wait "$pid" || rc=$?
		is "$name: and is stopped" 0 "$rc"
	else	# Linux 6.12 has no event for a program, which waits in vain.
		ok "$name: and is stopped" within says "state ERR" rdma resource show qp pid "$pid"
		kill "$pid"
		wait "$pid" || true
	fi
}

# as_guest COMMAND...: as one who may not use 0x8012
as_guest() { bash -c 'printf u:r:guest_t:s0 >/proc/self/attr/current && "$@"' as_guest "$@"; }

# child NAME PKEY
child() { ip link add link ib0 name "$1" type ipoib pkey "$2"; }
export -f child	# for as_guest

# not_up COMMAND...: it fails as every interface does that its device does not let start
not_up() { ! "$@" >/tmp/refused 2>&1 && says "Invalid argument" cat /tmp/refused; }

# qp_state NET: of the datagram QP, whose number is in the address
qp_state()
{
	local addr
	addr=$(<"/sys/class/net/$1/address")
	addr=${addr:3:8}
	rdma resource show qp lqpn $((16#${addr//:/})) | sed -n 's/.* state \([A-Z]*\) .*/\1/p'
}
qp_is() { [ "$(qp_state "$1")" = "$2" ] || { qp_state "$1"; return 1; }; }

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
[ "$LAB_CORE" != ours ] || ok "and are told why" sh -c \
	"rdma-why $programs/pkey_policy $LAB_DEV u:r:guest_t:s0 2 refused 2>&1 | grep 'P_Key 0x8012.*the policy says no'"
ok "who may manage the subnet is an agent of QP0" mads u:r:all_t:s0 manage allowed
ok "who may not is none" mads u:r:guest_t:s0 manage refused
ok "others may send MADs with others" mads u:r:guest_t:s0 send 1 allowed
ok "but not with this one" mads u:r:guest_t:s0 send 2 refused
ok "and receive them" mads u:r:guest_t:s0 receive 1 allowed
ok "but not with this one" mads u:r:guest_t:s0 receive 2 refused
ok "which arrives where it may" mads u:r:all_t:s0 receive 2 allowed

# ---- IPoIB: an interface's QP has the rights of the user who made the interface, whoever brings it up ----
modprobe ib_ipoib
ok "IPoIB: the interface of who may use all comes up" ip link set ib0 up
ok "its QP sends" qp_is ib0 RTS
ok "others make one of a P_Key that they may use" as_guest child public 0x8011
ok "it comes up" as_guest ip link set public up
ok "its QP sends" qp_is public RTS
ok "and one of a P_Key that they may not use" as_guest child secret 0x8012
ok "it does not come up" not_up as_guest ip link set secret up
[ "$LAB_CORE" != ours ] || ok "and they are told why" sh -c \
	"rdma-why ip link set secret up 2>&1 | grep 'P_Key 0x8012.*the policy says no'"
ok "its QP does not send" qp_is secret RESET
ok "nor does it come up for who may use all" not_up ip link set secret up
ip link del secret
ok "who may use all makes one of it" child secret 0x8012
ok "it comes up for others, too" as_guest ip link set secret up
ok "its QP sends" qp_is secret RTS

stopped "a QP whose P_Key changes" 3 lab-vhcactl port $h:1 pkey3=0x8012
stopped "a QP whose policy changes" 1 policy second '(allow guest_t public_t (infiniband_pkey (access)))'
ok "IPoIB: so is that of an interface" within qp_is public ERR
ip link set public down
ok "which does not come up again" not_up ip link set public up
ok "others go on" within qp_is secret RTS
ip link del public
ip link del secret

coproc manager { exec "$programs/mad_policy" "$LAB_DEV" u:r:all_t:s0 manage allowed wait; }
pid=$manager_PID
IFS= read -r -t $patience word <&"${manager[0]}" || word=nothing
is "an agent of QP0 is at work" ready "$word"
policy third '(allow all_t subnet_t (infiniband_endport (manage_subnet)))' >/dev/null
rc=0
wait "$pid" || rc=$?
is "until the policy changes" 0 "$rc"
finish

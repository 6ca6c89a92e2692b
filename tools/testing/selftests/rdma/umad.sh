#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours,distro
# User MADs: requests, namespaces, trace points; and, on our core, the device's removal while files
# are open. i386.sh has the requests of programs of 32 bits.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
d=$LAB_DEV
mad=/sys/class/infiniband_mad
events=/sys/kernel/tracing/events/ib_umad
mads=/sys/kernel/tracing/events/ib_mad
trace=/sys/kernel/tracing/trace
modprobe ib_umad

# the distribution's core gives no reasons, and its readers do not learn that the device is gone
unreasoned=() more=1
[ "$LAB_CORE" = ours ] || unreasoned=(-n) more=0
plan $((14 + 5 * more))

is "the ABI has version 5" 5 "$(<$mad/abi_version)"
umad=$(grep -lx "$d" $mad/umad*/ibdev)
umad=${umad%/ibdev} umad=${umad##*/}
issm=issm${umad#umad}
is "the first port's umad" "$d 1" "$(<"$mad/$umad/ibdev") $(<"$mad/$umad/port")"
is "and its issm" "$d 1" "$(<"$mad/$issm/ibdev") $(<"$mad/$issm/port")"
is "their nodes are root's" "crw------- root crw------- root" \
	"$(stat -c '%A %U' "/dev/infiniband/$umad" "/dev/infiniband/$issm" | paste -sd' ')"

mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
echo 1 >$events/enable
ok "requests" "$programs/umad_requests" "${unreasoned[@]}" "$d"
echo 0 >$events/enable
for one in ib_umad_write ib_umad_read_recv ib_umad_read_send; do
	ok "trace point $one" grep -q -m1 "$one: " $trace
done

# fields: of each kind of event of ib_mad, the names of its own fields in their order
fields()
{
	local kind
	for kind in ib_send_mad send_done_handler recv_done_handler create_agent handle_ib_smi; do
		sed -n 's/^\tfield:.*[ *]\([a-z_]*\)\(\[[0-9]*\]\)*;\toffset.*/\1/p' "$mads/ib_mad_$kind/format" |
			grep -v '^common_' | xargs echo "$kind"
	done
}

# fired: the events of ib_mad in the trace, except those of QPs that fail
fired() { grep -o ' ib_mad_[a-z_]*: ' $trace | sort -u | tr -d ' :' | paste -sd' '; }

is "the fields of what traces MADs" "\
ib_send_mad base_version mgmt_class class_version port_num qp_num method sl attr_id attr_mod wrtid tid status \
class_specific length dlid rqpn rqkey dev_index agent_priv timeout retries_left max_retries retry
send_done_handler port_num base_version mgmt_class class_version qp_num wrtid status wc_status length agent_priv \
timeout dev_index retries_left max_retries retry method
recv_done_handler base_version mgmt_class class_version port_num qp_num status class_specific length tid method sl \
attr_id attr_mod src_qp wc_status slid dev_index
create_agent dev_index hi_tid port_num mgmt_class mgmt_class_version
handle_ib_smi mkey dr_slid dr_dlid hop_ptr hop_cnt initial_path return_path" "$(fields)"
echo >$trace
echo 1 >$mads/enable
ok "a switch and the port itself are asked" \
	sh -c 'smpquery -D nodeinfo 0,1 && smpquery -D nodeinfo 0 && perfquery'
echo 0 >$mads/enable
is "MADs and agents are traced" "ib_mad_create_agent ib_mad_handle_ib_smi ib_mad_handle_out_ib_smi ib_mad_ib_send_mad \
ib_mad_recv_done_agent ib_mad_recv_done_handler ib_mad_send_done_agent ib_mad_send_done_handler ib_mad_unregister_agent" "$(fired)"

# The distribution's daemon that gives nodes their hosts' names, in the kernel and in the device.
echo nobody >"/sys/class/infiniband/$d/node_desc"
named()
{
	local name
	name=$(<"/sys/class/infiniband/$d/node_desc")
	[ "$name" = "$HOSTNAME $d" ] || { echo "it is still $name"; return 1; }
}
rdma-ndd -f >/dev/null &
ok "rdma-ndd names the node" within named
ok "which a manager reads" says "$HOSTNAME $d" smpquery -D nodedesc 0
kill $!

until rdma system set netns exclusive 2>/dev/null; do moment; done
ok "a device of another namespace cannot be opened" \
	sh -c "! unshare -n sh -c ': <>/dev/infiniband/$umad' && : <>/dev/infiniband/$umad && ! unshare -n sh -c ': <>/dev/infiniband/$issm'"

# The port of a device that moves to another namespace has no manager any more, though the manager still
# runs. On the distribution's core it keeps one.
is_sm() { echo $(($(ip netns exec "$1" cat "/sys/class/infiniband/$d/ports/1/cap_mask") & 2)); }
if [ "$more" = 1 ]; then
	ip netns attach init $$
	ip netns add elsewhere
	exec {held}<>"/dev/infiniband/$issm"
	is "there is a manager" 2 "$(is_sm init)"
	ok "the device moves" rdma dev set "$d" netns elsewhere
	is "and has no manager" 0 "$(is_sm elsewhere)"
	ip netns exec elsewhere rdma dev set "$d" netns init
	exec {held}>&-
	is "nor when it is back" 0 "$(is_sm init)"
	ip netns delete elsewhere
	ip netns delete init
fi
# the kernel takes a namespace down in its own time
until rdma system set netns shared 2>/dev/null; do moment; done

[ "$more" = 0 ] || ok "the device goes while files are open" "$programs/umad_removal" "$d"
finish

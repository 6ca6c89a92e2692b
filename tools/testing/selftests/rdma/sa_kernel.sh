#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours --subnet opensm --timeout 600 --packages srptools
# Kernel consumers of what subnet administration, ports and device management have beyond Linux
# 6.12, between two guests: queries of any kind, services, notices, ports and what becomes of them,
# an I/O controller that ibsrpdm finds, and that the other guest's kernel finds.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh

ksa() { cat "/sys/module/rdma_ksa/parameters/$1"; }
tell() { echo "$2" >"/sys/module/rdma_ksa/parameters/$1"; }

# ksa_is PARAMETER VALUE; heard PATTERN: the letters of port 1's events match
ksa_is() { [ "$(ksa "$1")" = "$2" ] || { echo "$1 is $(ksa "$1")"; return 1; }; }
more() { [ "$(ksa "$1")" -gt "$2" ] || { echo "$1 is still $(ksa "$1")"; return 1; } }
# shellcheck disable=SC2053
heard() { [[ $(ksa events) == $1 ]] || { echo "events are $(ksa events)"; return 1; }; }

# found PATTERN: the letters of events of I/O units match
# shellcheck disable=SC2053
found() { [[ $(ksa units) == $1 ]] || { echo "units are $(ksa units)"; return 1; }; }

# manages NODE: its port says that it has device management
manages() { smpquery portinfo "${lid[$1]}" 1 >/tmp/portinfo && grep IsDeviceManagement /tmp/portinfo; }
manages_not() { ! manages "$1" && grep CapMask /tmp/portinfo; }

# The manager has the services of both nodes.
both_served() { counts 2 "ServiceName.*ksa " saquery --smkey 1 SR; }

controllers() { ibsrpdm -d /dev/infiniband/umad0 >/tmp/found 2>&1; cat /tmp/found; }

# finds_peer: ibsrpdm lists the peer's controller alone, with all of its services
finds_peer()
{
	local i
	controllers
	[ "$(grep -c 'controller\[' /tmp/found)" = 1 ] && grep -q "GUID: *$peer_guid$" /tmp/found &&
		grep -q "ID: *a controller of rdma_ksa" /tmp/found && grep -q "service entries: 5" /tmp/found || return 1
	for i in 0 1 2 3 4; do
		grep -qi "service\[ *$i\]: .* / SRP.T10:$(printf '%016x' $((0x$peer_guid + i)))" /tmp/found || return 1
	done
}

finds_nothing() { controllers && ! grep 'controller\[' /tmp/found; }

# bounced: the link is lost and is there again, and no manager takes care of the port
bounced()
{
	lab-vhcactl link node2-0:1 down && lab-vhcactl link node2-0:1 up && within heard '*A*di'
}

plan $((LAB_NODE == 1 ? 33 : 53))
know_lids
tr -d : <"$port/gids/0" | cut -c17- >"$LAB_OUT/guid.$LAB_NODE"
lab-barrier guids
peer=$((3 - LAB_NODE))
peer_guid=$(<"$LAB_OUT/guid.$peer")

ok "the module watches the ports" modprobe rdma_ksa
ok "it is told of the one that is there, its state, and that this was all" heard 'aA.*'
tell peer_lid "${lid[peer]}"
tell peer_id "0x$peer_guid"

ok "a service" tell serve 1
ok "the manager has it" within ksa_is registered 1
lab-barrier registered
ok "queries of many kinds" tell ask 1
is "all checks hold" 0 "$(ksa failed)"
ok "there were checks" test "$(ksa passed)" -ge 17
before=$(ksa passed)
ok "records are compared with their bytes" tell layouts 1
is "and are what opensm has put on the wire" "110 0" "$(($(ksa passed) - before)) $(ksa failed)"
# Messages that have arrived are remembered for a while, which keeps no others out.
before=$(ksa passed)
ok "a thousand tables, one after the other" tell tables 1000
is "are all found" "1 0" "$(($(ksa passed) - before)) $(ksa failed)"
lab-barrier asked

ok "a subscription" tell subscribe 1
ok "the manager has it" within more subscribed 0
lab-barrier subscribed
[ "$LAB_NODE" = 1 ] || ok "a group is made, and left" tell group 1
ok "both are told of the group" within ksa_is created 1
ok "and of its end" within ksa_is deleted 1
lab-barrier told
[ "$LAB_NODE" = 1 ] || ok "the subscription ends" tell subscribe 0
lab-barrier unsubscribed
[ "$LAB_NODE" = 1 ] || ok "a group is made, and left" tell group 1
[ "$LAB_NODE" = 2 ] || ok "who has subscribed is told" within ksa_is deleted 2
lab-barrier told-again
[ "$LAB_NODE" = 1 ] || is "who has not is not" "1 1" "$(ksa created) $(ksa deleted)"

[ "$LAB_NODE" = 2 ] || ok "a class of MADs is served at a QP of its own" tell svc 1
[ "$LAB_NODE" = 2 ] || ksa svc_qpn >"$LAB_OUT/svc_qpn"
lab-barrier served
if [ "$LAB_NODE" = 2 ]; then
	before=$(ksa passed)
	ok "it is asked from another such QP, and from QP1" tell svc_ask "$(<"$LAB_OUT/svc_qpn")"
	is "and answers by messages of many packets" "11 0" "$(($(ksa passed) - before)) $(ksa failed)"
fi
lab-barrier answered
[ "$LAB_NODE" = 2 ] || tell svc 0

# Eight threads ask 512 times each before the first answer has to come.
if [ "$LAB_NODE" = 2 ]; then
	paths=/sys/module/rdma_kpaths/parameters
	ok "thousands of queries at once" modprobe rdma_kpaths window=512 "peer_lid=${lid[1]}" "peer_id=0x$peer_guid"
	echo 12288 >$paths/run
	is "are all answered" "12288 0 0" "$(<$paths/answered) $(<$paths/failed) $(<$paths/wrong)"
	ok "and leave nothing" rmmod rdma_kpaths
fi
lab-barrier thousands

# Another manager knows of none of them, and is told of those that are still registered.
subscribed=$(ksa subscribed)
[ "$LAB_NODE" = 1 ] || ok "a subscription again" tell subscribe 1
[ "$LAB_NODE" = 1 ] || ok "the manager has it" within more subscribed "$subscribed"
lab-barrier standing
subscribed=$(ksa subscribed) created=$(ksa created)
lab-barrier stood
if [ "$LAB_NODE" = 1 ]; then
	manager_killed
	mv "$log" "$LAB_OUT/opensm.first.log"
	echo "subnet_timeout 17" >/tmp/opensm.conf
	ok "another manager comes" lab-opensm -F /tmp/opensm.conf
fi
ok "it is told of the subscription" within more subscribed "$subscribed"
[ "$LAB_NODE" = 2 ] || ok "and of both services" within both_served
ok "its own time-out is told" within heard '*t*'
lab-barrier told-anew
[ "$LAB_NODE" = 1 ] || ok "a group is made, and left" tell group 1
ok "both are told of the group" within more created "$created"

# The manager drops a service after four seconds, unless its lease is renewed.
tell serve 0
tell lease 4
registered=$(ksa registered)
tell serve 1
ok "a service with a short lease" within more registered "$registered"
lab-barrier leased
if [ "$LAB_NODE" = 1 ]; then
	sleep 12
	ok "is there three leases later" within both_served
fi
lab-barrier renewed

ok "no port has device management" manages_not 1
tell watch 1
ok "the kernel finds no I/O unit, and says that this was all" within found .
lab-barrier nothing-offered
[ "$LAB_NODE" = 2 ] || ok "a controller is offered" tell offer 1
lab-barrier offered
if [ "$LAB_NODE" = 2 ]; then
	ok "the port says so" manages 1
	ok "ibsrpdm finds it and its services" within finds_peer
	ok "the kernel finds it as soon as it is offered" within found '.UCP*'
	tell search 1
	is "as it is, where ibsrpdm finds it" "$peer_guid 1 ${lid[1]} $peer_guid 5 a controller of rdma_ksa" \
		"$(ksa controllers)"
fi
lab-barrier found
[ "$LAB_NODE" = 2 ] || tell more 1
lab-barrier more-offered
[ "$LAB_NODE" = 1 ] || tell search 1
[ "$LAB_NODE" = 1 ] || ok "another controller is found when one searches" found '*PCP'
lab-barrier more-found
[ "$LAB_NODE" = 2 ] || tell more 0
lab-barrier more-withdrawn
[ "$LAB_NODE" = 1 ] || tell search 1
[ "$LAB_NODE" = 1 ] || ok "and that it is no more" found '*PCPpc'
lab-barrier more-not-found
[ "$LAB_NODE" = 2 ] || ok "and is withdrawn" tell offer 0
lab-barrier withdrawn
if [ "$LAB_NODE" = 2 ]; then
	ok "the port says so" manages_not 1
	ok "ibsrpdm finds nothing" within finds_nothing
	ok "the kernel knows that it has gone" within found '*pcu'
fi
lab-barrier not-found

# The device is removed with all that it serves, and all that is known by it.
tell offer 1
[ "$LAB_NODE" = 1 ] || ok "the kernel finds the unit again" within found '*pcuU*P'
[ "$LAB_NODE" = 2 ] || ok "and the other one's is found" within found '.UCP*'
lab-barrier both-found
if [ "$LAB_NODE" = 2 ]; then
	tell subscribe 1
	tell svc 1
	dev=$(readlink -f "/sys/class/infiniband/$LAB_DEV/device")
	echo "${dev##*/}" >/sys/bus/pci/drivers/vhca/unbind
	ok "the port has gone" heard 'aA.*-'
	ok "and with it the unit to which it had a path" found '*pcuU*pcu'
	echo "${dev##*/}" >/sys/bus/pci/drivers/vhca/bind
	# Attributes that the manager sets beside the port's state may be reported before that or after it.
	ok "and is back" within heard 'aA.*-a*A*'
	ok "device management is not" within manages_not 2
	ok "the unit is found from the new device" within found '*pcuU*pcuU*P'
else
	ok "the unit of the device that went has gone" within found '.UCP*pcu'
fi
lab-barrier removed

# Only ibportstate changes the port now.
[ "$LAB_NODE" = 2 ] || ok "the manager ends" manager_killed
lab-barrier alone
if [ "$LAB_NODE" = 2 ]; then
	ok "a link is lost and initialised" bounced
	ibportstate -D 0 1 arm >/tmp/ibportstate 2>&1 || cat /tmp/ibportstate
	ok "the port is armed" within heard '*dim'
	ok "the unit cannot be reached any more" within found '*Ppcu'
fi
lab-barrier armed
is "all checks hold" 0 "$(ksa failed)"
ok "the consumer goes" rmmod rdma_ksa
finish

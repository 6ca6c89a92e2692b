# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Checks of siw.sh: sourced, after lib.sh, by both nodes.
# shellcheck shell=bash disable=SC2034
siw_plan=12

iwconn() { cat "/sys/module/rdma_iwconn/parameters/$1"; }

# siw_connects ROUNDS: connections between the guests, and of each guest with itself
siw_connects()
{
	local own=10.77.0.$LAB_NODE eth rounds=$1

	eth=$(ip -o -4 addr show | awk -v own="$own/" 'index($4, own) == 1 { print $2 }')
	modprobe -a siw ib_uverbs
	ok "a siw device stands on $eth" rdma link add siw0 type siw netdev "$eth"
	ok "programs see it" sh -c "ibv_devinfo -d siw0 | tee /dev/stderr | grep -q 'transport:.*iWARP' &&
		ibv_devinfo -d siw0 | grep -q PORT_ACTIVE"
	ok "a guest connects with itself" modprobe rdma_iwconn role=both device=siw0 local="$own" rounds="$rounds"
	is "all checks hold" 0 "$(iwconn failed)"
	ok "every message came back" test "$(iwconn served)" -ge "$rounds"
	is "the usual backlog" 256 "$(</proc/sys/net/iw_cm/default_backlog)"
	rmmod rdma_iwconn

	if [ "$LAB_NODE" = 1 ]; then
		ok "the server listens" modprobe rdma_iwconn role=server device=siw0 local="$own"
		lab-barrier siw-listens
		lab-barrier siw-done
		ok "it returned every message" test "$(iwconn served)" -ge "$rounds"
		# the last connection was ended by destroying its id
		until [ "$(iwconn closed)" = $((rounds + 1)) ]; do moment; done
	else
		lab-barrier siw-listens
		ok "the client connects" modprobe rdma_iwconn role=client device=siw0 local="$own" peer=10.77.0.1 \
			rounds="$rounds"
		lab-barrier siw-done
		ok "with many checks" test "$(iwconn passed)" -gt $((10 * rounds))
	fi
	is "all checks hold" 0 "$(iwconn failed)"
	lab-barrier siw-checked
	ok "the consumer goes" rmmod rdma_iwconn
	ok "the device goes" rdma link del siw0
	# iw_cm cannot be unloaded while somebody holds an id.
	ok "nothing is left of it" sh -c 'rmmod siw && { ! grep -q ^rdma_cm /proc/modules || modprobe -r rdma_cm; } &&
		{ ! grep -q ^iw_cm /proc/modules || rmmod iw_cm; }'
}

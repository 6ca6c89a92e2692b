#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --ports 2 --core ours,distro --subnet opensm --mem 2048 --timeout 2400 --packages "fio nfs-common nfs-kernel-server nvme-cli open-iscsi srptools targetcli-fb"
# The kernel's own NVMe over RDMA by two ports of an adapter: a disk with two paths, of which one is
# cut under load and comes back, then the other. Nothing stops, and nothing is lost: what was written
# before comes by the path that is left, too.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/storage.sh
. /lab/src/tools/testing/selftests/rdma/storage_load.sh
plan $((LAB_NODE == 1 ? 4 : 13))

# NVMe's own timers decide when it notices, and IPoIB's when there is a way again.
patience=600
own=node$LAB_NODE-0

# net_of PORT: the interface that stands on it
net_of()
{
	local dir
	for dir in "/sys/class/infiniband/$LAB_DEV/device/net"/*; do
		[ "$(($(<"$dir/dev_port")))" != $(($1 - 1)) ] || { echo "${dir##*/}" && return 0; }
	done
	return 1
}

# address NODE PORT
address() { echo "10.$((77 + $2)).0.$1"; }

# two_networks: a network of IPv4 for each port, whose interface answers for its own address alone
two_networks()
{
	local one net
	modprobe -a ib_ipoib rdma_ucm || return 1
	put 1 /proc/sys/net/ipv4/conf/all/arp_ignore &&
		put 2 /proc/sys/net/ipv4/conf/all/arp_announce || return 1
	for one in 1 2; do
		within net_of $one && net=$(net_of $one) && solicits "$net" &&
			ip addr replace "$(address "$LAB_NODE" $one)/24" dev "$net" &&
			ip link set "$net" up && within grep -q 1 "/sys/class/net/$net/carrier" || return 1
	done
	lab-barrier addresses
	for one in 1 2; do reaches "$(address $((3 - LAB_NODE)) $one)" || return 1; done
	lab-barrier reached
}

served_by_both()
{
	disk lab 256 && modprobe nvmet-rdma && nvmet_subsystem lab /dev/lab &&
		nvmet_port 1 rdma "$(address 1 1)" && nvmet_port 2 rdma "$(address 1 2)" &&
		offered 1 lab && offered 2 lab
}
served_no_more()
{
	withdrawn 1 lab && withdrawn 2 lab && no_nvmet_port 1 && no_nvmet_port 2 &&
		no_nvmet_subsystem lab && no_disk lab
}

path() { nvme_attached rdma "$(address 1 "$1")" lab -i 1 --reconnect-delay=1 --ctrl-loss-tmo=3600; }

# paths STATE...: their states, in order
paths()
{
	[ "$(sort /sys/class/nvme/nvme*/state | xargs)" = "$*" ] || {
		grep . /sys/class/nvme/nvme*/state
		return 1
	}
}

one_disk() { [ "$(compgen -G '/dev/nvme*n1' | wc -l)" = 1 ]; }

# goes_on_without PORT: data go on while its link is cut, and its path is known to be broken; the other
# path has what was written before
goes_on_without()
{
	lab-vhcactl link "$own:$1" down && within paths connecting live && kept "$(nvme_disk)" && goes_on
}

# again PORT: its link is there, and its path works
again()
{
	lab-vhcactl link "$own:$1" up && within port_is_active "$1" &&
		within paths live live && kept "$(nvme_disk)" && goes_on
}

everywhere "each port has a network" two_networks
on 1 "a target at both" served_by_both
on 2 "connect by port 1" path 1
on 2 "connect by port 2" path 2
on 2 "both paths live" paths live live
on 2 "to one disk" one_disk
on 2 "data that are to be kept" written "$(nvme_disk)"
on 2 "data that are written again and again" load_begins "$(nvme_disk)"
for one in 1 2; do
	on 2 "they go on while port $one is cut" goes_on_without $one
	on 2 "and when it is there again" again $one
done
on 2 "the load ends" load_ends
on 2 "disconnect" nvme_detached lab
on 1 "its QPs are gone" within qps_are 0
on 1 "the target goes" served_no_more
finish

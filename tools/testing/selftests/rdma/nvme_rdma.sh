#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours,distro --subnet opensm --cpus 2 --mem 3072 --timeout 2400 --packages "fio nfs-common nfs-kernel-server nvme-cli open-iscsi srptools targetcli-fb"
# The kernel's own nvme-rdma and nvmet-rdma: data with checksums through several queues, connections
# that come and go, a target that is withdrawn under load and comes back, one that does not.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/storage.sh
plan $((LAB_NODE == 1 ? 12 : 25))

turns=100

target_up()
{
	modprobe nvmet-rdma && disk lab 1200 && nvmet_subsystem lab /dev/lab && nvmet_port 1 rdma $server4 &&
		offered 1 lab
}

target_down()
{
	withdrawn 1 lab && no_nvmet_port 1 && no_nvmet_subsystem lab && no_disk lab && within qps_are 0
}

discovered()
{
	modprobe nvme-fabrics && says "subnqn:  *lab" nvme discover -t rdma -a $server4 -s 4420
}

attached() { nvme_attached rdma $server4 lab "$@"; }

# all_turns: connect, use, disconnect, with one queue and with two in turn
all_turns()
{
	local turn
	for ((turn = 1; turn <= turns; turn++)); do
		attached -i $((turn % 2 + 1)) && verified "$(nvme_disk)" 4M --bs=16k && nvme_detached lab || {
			echo "turn $turn"
			return 1
		}
	done
}

# loaded FILE FINISHES: what fio says while node 1 withdraws the target; FINISHES is the function
# that node 2 calls meanwhile
loaded()
{
	local at pid rc=0
	at=$(writes "$1")
	verified "$1" 32M --bs=16k &
	pid=$!
	within busy "$1" $((at + 200)) || { echo "fio does not begin"; rc=1; }
	lab-barrier under-load
	lab-barrier withdrawn
	"$2" || rc=1
	wait $pid || rc=$((rc | 2))
	return $rc
}

noticed()
{
	local rc=0
	within nvme_is connecting || rc=1
	lab-barrier noticed
	lab-barrier offered
	within nvme_is live && return "$rc"
}

# comes_back: the target is withdrawn under load, and offered again when the host has noticed
comes_back()
{
	local rc=0
	if [ "$LAB_NODE" = 1 ]; then
		lab-barrier under-load
		withdrawn 1 lab || rc=1
		lab-barrier withdrawn
		lab-barrier noticed
		offered 1 lab || rc=1
		lab-barrier offered
		return $rc
	fi
	loaded "$(nvme_disk)" noticed
}

# stays_away: the host gives up, and fio fails
stays_away()
{
	local rc=0
	if [ "$LAB_NODE" = 1 ]; then
		lab-barrier under-load
		withdrawn 1 lab || rc=1
		lab-barrier withdrawn
		return $rc
	fi
	loaded "$(nvme_disk)" nvme_gone_soon
	[ $? = 2 ]
}

nvme_gone_soon() { within nvme_gone; }

everywhere "ports have addresses" connections_up
on 1 "the target's modules" modules nvmet-rdma
on 2 "the host's" modules nvme-rdma
on 1 "a target" target_up
on 2 "discovery" discovered
on 2 "connect with two queues of each kind" attached -i 2 -W 2 -P 2 --reconnect-delay=1
on 2 "of which there are seven" grep -x 7 /sys/class/nvme/nvme*/queue_count
on 2 "each has a QP" qps_are 7
on 1 "and so at the target" within qps_are 7	# that of the discovery ends in its own time
disk=$(nvme_disk)
on 2 "written, read back and compared, in blocks of several sizes" by_sizes "$disk"
on 2 "by two processes" verified "$disk" 16M --bs=8k --numjobs=2 --offset_increment=16M --iodepth=64
on 2 "by polling" verified "$disk" 8M --bs=4k --ioengine=io_uring --hipri
on 2 "a depth of 128" verified "$disk" 16M --bs=4k --iodepth=128
on 2 "1 GiB in requests of mixed sizes" mixed "$disk"
on 2 "by odd lists of pieces" odd_lists "$disk"
everywhere "the target has what was written" same "$disk"
on 2 "8 MiB of blocks" verified "$disk" 8M --bs=4k
on 1 "one changes behind the host's back" dd if=/dev/urandom of=/dev/lab bs=4k seek=77 count=1 oflag=direct
on 2 "and is found" changed "$disk"
everywhere "the target goes under load and comes back: nothing is lost" comes_back
on 2 "disconnect" nvme_detached lab
on 1 "its QPs are gone" within qps_are 0
on 2 "and here" within qps_are 0
on 2 "connect, use, disconnect: $turns times" all_turns
on 2 "connect, and wait for three seconds at most" attached -i 2 --reconnect-delay=1 --ctrl-loss-tmo=3
everywhere "the target goes for good: requests fail and the disk goes" stays_away
on 1 "it is there again" offered 1 lab
on 2 "connect" attached -i 2
on 2 "it works as before" verified "$(nvme_disk)" 8M --bs=64k
on 2 "disconnect at the end" nvme_detached lab
on 2 "the host's module goes" modprobe -r nvme_rdma
on 1 "the target goes" target_down
on 1 "and its module" modprobe -r nvmet_rdma
finish

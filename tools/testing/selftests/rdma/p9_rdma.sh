#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours,distro --subnet opensm --mem 2048 --timeout 3600 --packages "fio nfs-common nfs-kernel-server nvme-cli open-iscsi srptools targetcli-fb"
# The kernel's own client of 9P over RDMA, with a server of ours (p9_server.py): trees of files, data with
# checksums, repeated mounts, a device that is removed under one.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/storage.sh
. /lab/src/tools/testing/selftests/rdma/storage_load.sh
plan $((LAB_NODE == 1 ? 13 : 12))

turns=100
tree=/lab/src/Documentation
CM_PATIENCE=900
own=node$LAB_NODE-0
device=$(readlink -f "/sys/class/infiniband/$LAB_DEV/device")
device=${device##*/}

serves() { said "$1" '^serves'; }

# shared NAME TIMES COMMAND...: in node 2, while node 1's /export can be mounted TIMES times. The server
# ends as $end says.
end=ended
server=/lab/src/tools/testing/selftests/rdma/p9_server.py
shared()
{
	served "$1" serves $end "$server $server4 /export $2" "${@:3}"
}

folder() { mkdir -p /export && mount -t tmpfs tmpfs /export; }
mounted() { mount -t 9p -o trans=rdma,version=9p2000.L,msize=262144,access=any $server4 /mnt; }

# with COMMAND...: which runs while /export is mounted, by a connected QP
with()
{
	local rc=0
	mounted || return 1
	qps && "$@" || rc=1
	umount /mnt && return $rc
}

files()
{
	local f=/mnt/folder
	cp -r $tree /mnt/copy && diff -r $tree /mnt/copy && mv /mnt/copy/admin /mnt/copy/other &&
		diff -r $tree/admin /mnt/copy/other && mv /mnt/copy/other /mnt/copy/admin && mkdir $f &&
		echo some >$f/a && ln $f/a $f/b && ln -s b $f/c && [ "$(<$f/c)" = some ] &&
		[ "$(stat -c %h $f/a)" = 2 ] && truncate -s 2 $f/b && [ "$(<$f/a)" = so ] &&
		echo more >>$f/c && [ "$(<$f/a)" = somore ] &&
		chmod 640 $f/a && touch -d @12345 $f/b && [ "$(stat -c '%a %Y' $f/a)" = "640 12345" ] &&
		flock -n $f/a true && rm $f/a $f/b $f/c && rmdir $f && ! ls $f
}
everything_there() { diff -r $tree /export/copy && ! ls /export/folder; }

data() { by_sizes /mnt/file && verified /mnt/file 16M --bs=4k --iodepth=128; }

# used: mounted, written, read and compared by the next mount, unmounted
used() { with written && with cmp /tmp/data /mnt/data; }
written() { dd if=/dev/urandom of=/tmp/data bs=1M count=1 status=none && cp /tmp/data /mnt/data; }

# removed: the client's device is removed while the folder is mounted. The client gives its
# connection up, and its id only when the folder is unmounted, for which the device waits.
removed()
{
	local pid rc=0
	mounted && ls /mnt || return 1
	put "$device" /sys/bus/pci/drivers/vhca/unbind &
	pid=$!
	within disconnected && alive $pid && [ -e "/sys/class/infiniband/$LAB_DEV" ] || rc=1
	umount /mnt || rc=1
	wait $pid && [ ! -e "/sys/class/infiniband/$LAB_DEV" ] && return $rc
}
disconnected() { lab-vhcactl qps "$own" | grep 'RC .*ERR'; }
added() { put "$device" /sys/bus/pci/drivers/vhca/bind && within port_is_active && own_addresses; }

# what node 2 has read at last is what node 1 has
sum_is_ours() { sum_of /export/file 32 | diff - <(tail -n 1 "$LAB_OUT/sum.node2"); }

everywhere "ports have addresses" connections_up
everywhere "the module" modules 9pnet_rdma
on 1 "a folder" folder
everywhere "a tree is copied, compared, moved, linked and changed" shared files 1 with files
on 1 "and is there" everything_there
everywhere "data are written, read back and compared, in many sizes" shared data 1 with data
everywhere "and read once more" shared sum 1 with sum_of /mnt/file 32
on 1 "they are what is there" sum_is_ours
everywhere "mount, use, unmount: $turns times" shared turns $turns repeated $((turns / 2)) used
everywhere "its QPs are gone" within qps_are 0
end=stopped	# it hears no more from its client
everywhere "the client's device is removed, and waits for the unmounting" shared removed 1 removed
end=ended
on 2 "it is added again" added
everywhere "and serves as before" shared added 2 used
everywhere "without QPs of before" within qps_are 0
on 2 "the client's module goes" modprobe -r 9pnet_rdma
finish

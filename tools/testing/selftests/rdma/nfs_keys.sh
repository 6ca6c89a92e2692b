#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours,distro --subnet opensm --mem 2048 --timeout 1800 --device-arg --limit --device-arg node2-0:mkeys=8 --packages "fio nfs-common nfs-kernel-server nvme-cli open-iscsi srptools targetcli-fb"
# NFS over RDMA whose client has few memory regions: more requests are under way than there are of them.
# Those that have none wait, nothing is lost, and none is kept. The device has 8; of the requests each
# takes one or two.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/storage.sh
plan $((LAB_NODE == 1 ? 4 : 11))

m=/mnt
tree=/lab/src/Documentation
trace=/sys/kernel/tracing/instances/keys

# traced: a trace point of the client: a request finds no region. That of a region which the adapter
# refuses, xprtrdma_frwr_alloc, reads through a null pointer in 6.12.
traced()
{
	modprobe rpcrdma && mkdir $trace && put 1 $trace/events/rpcrdma/xprtrdma_nomrs_err/enable
}
seen() { grep -c " $1: " $trace/trace; }
untraced() { rmdir $trace; }

attached() { nfs_attached rdma "$server4" / $m vers=4.2,rsize=65536,wsize=65536; }
copied() { cp -r $tree $m/tree && sync -f $m && put 3 /proc/sys/vm/drop_caches && diff -r $tree $m/tree; }

everywhere "ports have addresses" connections_up
on 1 "a server" nfsd_up
on 2 "the client's programs" nfs_client_up
on 2 "it is looked at" traced
on 2 "mount" attached
on 2 "64 requests at a time: written, read back and compared" verified $m/data 16M --bs=64k --iodepth=64
on 2 "as small ones, by four processes" verified $m/small 4M --bs=4k --iodepth=16 --numjobs=4 --offset_increment=4M
on 2 "a tree of files" copied
on 1 "the server has it" diff -r $tree /export/tree
on 2 "requests have had to wait for a memory region" seen xprtrdma_nomrs_err
on 2 "since the adapter has given all that it has" lab-vhcactl objects node2-0 mkeys=8
on 2 "unmount" umount $m
on 2 "the client ends" untraced
[ "$LAB_NODE" = 1 ] || nfs_client_down
on 1 "the server goes" nfsd_down
modprobe -r rpcrdma
finish

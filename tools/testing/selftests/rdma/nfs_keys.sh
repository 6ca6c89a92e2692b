#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core distro,ours --subnet opensm --mem 2048 --timeout 1800 --device-arg --limit --device-arg node2-0:uars=8,pds=20,cqs=40,qps=40,srqs=8,mkeys=300,xrcds=8,mcgs=20 --packages "fio nfs-common nfs-kernel-server nvme-cli open-iscsi srptools targetcli-fb"
# NFS over RDMA whose client gets no memory regions, since a program has all that the adapter gives:
# requests that have none wait, go on when the program ends, and lose nothing.
# A client of 6.12 that can never have as many regions as requests stands still, on the
# distribution's core, too: each request keeps those that it has had.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/storage.sh
plan $((LAB_NODE == 1 ? 4 : 12))

m=/mnt
tree=/lab/src/Documentation
trace=/sys/kernel/tracing/instances/keys

# traced: a trace point of the client: a request finds no region. That of a region which the adapter
# refuses, xprtrdma_frwr_alloc, reads through a null pointer in 6.12.
traced()
{
	modprobe rpcrdma && mkdir $trace && put 1 $trace/events/rpcrdma/xprtrdma_nomrs_err/enable
}
seen() { grep -c " xprtrdma_nomrs_err: " $trace/trace; }
untraced() { rmdir $trace; }

attached() { nfs_attached rdma "$server4" / $m vers=4.2,rsize=65536,wsize=65536; }

# amid COMMAND...: COMMAND begins while a program has all regions that are left, which it gives back
# when requests have found none
amid()
{
	local line='' rc=0 holder load
	: >$trace/trace
	rm -f /tmp/full
	mkfifo /tmp/full
	"$programs/exhaust" "$LAB_DEV" hold >/tmp/full &
	holder=$!
	IFS= read -r -t "$patience" line </tmp/full
	[ "$line" = full ] || { echo "it says '$line'"; rc=1; }
	"$@" &
	load=$!
	within seen || rc=1
	kill -0 $load || { echo "it did not wait"; rc=1; }
	kill -9 $holder
	wait $holder
	wait $load && return $rc
}

# remounted: the client has the regions of a new connection alone
remounted() { umount $m && attached; }
copied() { cp -r $tree $m/tree && sync -f $m; }
compared() { put 3 /proc/sys/vm/drop_caches && diff -r $tree $m/tree; }

everywhere "ports have addresses" connections_up
on 1 "a server" nfsd_up
on 2 "the client's programs" nfs_client_up
on 2 "it is looked at" traced
on 2 "mount" attached
on 2 "64 requests at a time begin without regions: written, read back and compared" \
	amid verified $m/data 16M --bs=64k --iodepth=64
on 2 "a new connection" remounted
on 2 "and small ones, by four processes" \
	amid verified $m/small 4M --bs=16k --iodepth=16 --numjobs=4 --offset_increment=4M
on 2 "a tree of files" copied
on 2 "which is read back" compared
on 1 "the server has it" diff -r $tree /export/tree
on 2 "now there are enough for all: written, read back and compared" verified $m/data 16M --bs=64k --iodepth=64
on 2 "unmount" umount $m
on 2 "the client ends" untraced
[ "$LAB_NODE" = 1 ] || nfs_client_down
on 1 "the server goes" nfsd_down
modprobe -r rpcrdma
finish

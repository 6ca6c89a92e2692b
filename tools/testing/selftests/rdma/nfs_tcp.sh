#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 3 --core ours,distro --subnet opensm --mem 2048 --timeout 1200 --packages "fio nfs-common nfs-kernel-server nvme-cli open-iscsi srptools targetcli-fb"
# NFS over TCP by IPoIB, in both of its modes: two clients at a time write data with checksums, and
# each reads what the other has written.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/storage.sh
plan $((LAB_NODE == 1 ? 5 : 3 + 2 * 6))

mode() { put "$1" "/sys/class/net/$(net_device)/mode"; }

# clients NAME COMMAND...: a check that nodes 2 and 3 make at the same time; if it fails the test
# ends
clients()
{
	[ "$LAB_NODE" = 1 ] || ok "$@"
	[ "$tap_bad" = 0 ] && lab-barrier "$1" || finish
}

written() { by_sizes "/mnt/data.$LAB_NODE" && sha256sum <"/mnt/data.$LAB_NODE" >"$LAB_OUT/sum.$LAB_NODE"; }
others() { sha256sum <"/mnt/data.$((5 - LAB_NODE))" | diff - "$LAB_OUT/sum.$((5 - LAB_NODE))"; }

everywhere "the interface has its addresses" connections_up
on 1 "a server" nfsd_up
clients "the client's lock manager" nfs_client_up
for one in datagram connected; do
	everywhere "$one mode" mode "$one"
	clients "$one: mount" nfs_attached tcp "$server4" / /mnt vers=4.2
	clients "$one: by TCP" grep " /mnt nfs.*proto=tcp.*,addr=$server4" /proc/mounts
	clients "$one: written, read back and compared, in blocks of several sizes" written
	clients "$one: the other's data are as that has written them" others
	clients "$one: unmount" umount /mnt
done
clients "the client ends" nfs_client_down
on 1 "the server goes" nfsd_down
modprobe -r rpcrdma
finish

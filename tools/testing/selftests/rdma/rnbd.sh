#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours --subnet opensm --mem 2048 --timeout 2400 --packages "fio nfs-common nfs-kernel-server nvme-cli open-iscsi srptools targetcli-fb"
# rnbd.sh [ib|eth [TURNS]]: the kernel's own block device over RTRS, which Debian's kernel is built
# without: data with checksums, sessions that come and go.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/storage.sh
link=${1:-ib} turns=${2:-100}
ports_up=connections_up
if [ "$link" = eth ]; then
	. /lab/src/tools/testing/selftests/rdma/roce_checks.sh
	ports_up=roce_up
fi
plan $((LAB_NODE == 1 ? 9 : 18))

used() { rnbd_attached $server4 lab && verified "$(rnbd_disk)" 4M --bs=16k && rnbd_detached; }
refused() { ! rnbd_mapped $server4 "$1" && rnbd_gone; }

# reconnected: the session's only path goes, and comes back at once or by itself. Other sessions may
# still be ending.
reconnected()
{
	local path
	path=$(rnbd_path)
	{ put 1 "$path/reconnect" || true; } && within grep -qx connected "$path/state" && within rnbd_open
}

everywhere "ports have addresses" $ports_up
on 1 "the server's modules" modules rtrs-server rnbd-server
on 2 "the client's" modules rtrs-client rnbd-client
[ "$LAB_NODE" != 1 ] || disk lab 256
on 1 "a server" rnbd_server_up
on 2 "the client's modules are there" modprobe rnbd_client
on 2 "a disk" rnbd_attached $server4 lab
on 2 "its session has QPs" qps
disk=$(rnbd_disk)
on 2 "written, read back and compared, in blocks of several sizes" by_sizes "$disk"
on 2 "a depth of 128" verified "$disk" 16M --bs=4k --iodepth=128
everywhere "the server has what was written" same "$disk"
# While the client itself still ends a session after its disk has gone, its module must stay: 6.12's
# does not wait for that. What it ends because of its own end it waits for.
on 2 "the client's module goes, and the disk with it" modprobe -r rnbd_client
on 2 "it has gone" rnbd_gone
on 1 "its QPs are gone" within qps_are 0
on 2 "the client's modules are there again" modprobe rnbd_client
on 2 "a disk that the server does not have" refused other
on 2 "one that it has" rnbd_attached $server4 lab
on 2 "the session goes and comes back" reconnected
everywhere "what was written is there" same "$(rnbd_disk)"
on 2 "and data are written as before" by_sizes "$(rnbd_disk)"
on 2 "the disk goes" rnbd_detached
on 2 "map, use, unmap: $turns times" repeated "$turns" used
on 1 "all QPs are gone" within qps_are 0
on 1 "the server's modules go" modprobe -r rnbd_server
on 1 "and the disk" no_disk lab
finish

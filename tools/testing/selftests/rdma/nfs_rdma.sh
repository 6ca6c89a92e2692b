#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours,distro --subnet opensm --mem 3072 --timeout 2400 --packages "fio nfs-common nfs-kernel-server nvme-cli open-iscsi srptools targetcli-fb"
# The kernel's NFS server and client over rpcrdma, in three versions of the protocol: trees of files,
# names, locks, data with checksums, and a server that is stopped under load and started again.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/storage.sh
versions="3 4.0 4.2"
turns=100
plan $((LAB_NODE == 1 ? 6 + 3 * 2 : 8 + 3 * 9))

m=/mnt
tree=/lab/src/tools/testing/selftests/rdma

# attached VERSION
attached()
{
	case $1 in
	3) nfs_attached rdma "$server4" /export $m vers=3,mountproto=tcp ;;
	4.2) nfs_attached rdma "$server4" / $m vers=4.2,nconnect=2 ;;
	*) nfs_attached rdma "$server4" / $m "vers=$1" ;;
	esac
}

# forgotten: what the client has read it has to read again
forgotten() { sync -f $m && put 3 /proc/sys/vm/drop_caches; }

# copied: a tree of files is written, and read back
copied() { cp -r $tree $m/tree && forgotten && diff -r $tree $m/tree; }

# many: a folder with so many names that listing it takes several calls
many()
{
	local k
	mkdir $m/many || return 1
	for ((k = 0; k < 300; k++)); do : >"$m/many/a name that is not quite short $k"; done
	forgotten
	[ "$(find $m/many -type f | wc -l)" = 300 ] && rm -r $m/many
}

# names: files and folders are renamed, one over another; links; a file without a name can be read
names()
{
	local text
	cd $m && mkdir -p one/two && echo first >one/two/a && echo second >b && mv b one/two/a && mv one/two three &&
		[ "$(<three/a)" = second ] && ln three/a c && [ "$(stat -c %h c)" = 2 ] && ln -s three/a d &&
		[ "$(<d)" = second ] && exec 5<c && rm c three/a && read -r text <&5 && [ "$text" = second ] &&
		! cat d 2>/dev/null && exec 5<&- && rm -r one three d
}

# locked FILE SIDE: node 2 holds a lock, which node 1 finds in the file that it serves, and lets go
locked()
{
	python3 - "$1" "$2" <<-'PY'
		import fcntl, subprocess, sys
		file = open(sys.argv[1], "r+")
		meet = lambda name: subprocess.check_call(["lab-barrier", name])
		lock = lambda how, at=0: fcntl.lockf(file, how, 10, at)
		def refused():
		    try:
		        lock(fcntl.LOCK_EX | fcntl.LOCK_NB)
		    except OSError:
		        return True
		if sys.argv[2] == "client":
		    lock(fcntl.LOCK_EX)
		    meet("locked")
		    meet("tried")
		    lock(fcntl.LOCK_UN)
		    meet("unlocked")
		    sys.exit()
		meet("locked")
		held = refused()
		lock(fcntl.LOCK_EX | fcntl.LOCK_NB, 10)
		meet("tried")
		meet("unlocked")
		sys.exit(not held or refused())
	PY
}

locks()
{
	[ "$LAB_NODE" != 2 ] || echo "two times ten bytes" >$m/lock
	lab-barrier "lock-$1"
	case $LAB_NODE in
	1) locked /export/lock server ;;
	*) locked $m/lock client ;;
	esac
}

# restarted: the server is stopped under load and started again
restarted()
{
	local pid rc=0
	if [ "$LAB_NODE" = 1 ]; then
		lab-barrier under-load
		rpc.nfsd 0 && within qps_are 0 || rc=1
		lab-barrier stopped
		nfsd_begins || rc=1
		return $rc
	fi
	verified $m/load 32M --bs=16k &
	pid=$!
	within test -s $m/load || rc=1
	lab-barrier under-load
	lab-barrier stopped
	wait $pid || rc=1
	return $rc
}

# used: each version in turn
used()
{
	local all=(3 4.0 4.2)
	attached "${all[turn % 3]}" && cp $tree/storage.sh $m/used && cmp $tree/storage.sh $m/used && umount $m
}

everywhere "ports have addresses" connections_up
on 1 "the server's module" modules rpcrdma
on 2 "the client's" modules rpcrdma
on 1 "a server" nfsd_up
on 2 "the client's lock manager" nfs_client_up
for version in $versions; do
	on 2 "NFS $version: mount" attached "$version"
	on 2 "is over RDMA" grep -q " $m nfs.*vers=$version.*proto=rdma" /proc/mounts
	on 2 "through a QP" qps
	on 2 "a tree of files" copied
	on 1 "which is there" diff -r $tree /export/tree
	on 2 "a large folder" many
	on 2 "names" names
	everywhere "locks $version" locks "$version"
	on 2 "written, read back and compared, in blocks of several sizes" by_sizes $m/data
	on 2 "unmount" sh -c "rm -r $m/* && umount $m"
done
on 2 "mount, use, unmount: $turns times" repeated $turns used
on 2 "mount" attached 4.2
on 2 "1 GiB in requests of mixed sizes" mixed $m/mixed
everywhere "the server is stopped under load and starts again: nothing is lost" restarted
on 2 "unmount" umount $m
on 1 "the server goes" nfsd_down
on 1 "and its module" modprobe -r rpcrdma
[ "$LAB_NODE" = 1 ] || { nfs_client_down; modprobe -r rpcrdma; }
finish

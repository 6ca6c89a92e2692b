#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours,distro --subnet opensm --mem 2048 --timeout 5400 --packages "nvme-cli open-iscsi xfsprogs" -- 600
# xfs.sh [SECONDS]: xfs on disks that the kernel's own NVMe over RDMA and iSER have. fsx changes files in
# every way for SECONDS, and compares; and all files are there when it is mounted again.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/storage.sh
protocols="nvme iscsi"
plan $((LAB_NODE == 1 ? 2 + 2 * 4 : 1 + 2 * 12))

seconds=${1:-60}
at="rdma $server4 lab"
nvme_options="-i 2"
tree=/lab/src/Documentation

# made DISK: a new file system
made() { mkfs.xfs -q -f "$1" && mkdir -p /mnt; }

# changed_at_random: by two at a time, which print the seeds
changed_at_random()
{
	local one pids=() rc=0
	for one in a b; do
		$programs/fsx -t "$seconds" /mnt/$one >/tmp/fsx.$one 2>&1 &
		pids+=($!)
	done
	for one in "${pids[@]}"; do wait "$one" || rc=1; done
	if [ $rc != 0 ]; then
		tail -n 40 /tmp/fsx.*
	else
		tail -n 20 /tmp/fsx.*
	fi
	return $rc
}

# sums: of all files
sums() { (cd /mnt && find . -type f -print0 | sort -z | xargs -0 sha256sum); }

copied() { cp -r $tree /mnt/copy && sums >/tmp/sums; }
there() { diff -r $tree /mnt/copy && sums | diff - /tmp/sums; }
there_again() { mount -t xfs "$1" /mnt && there && umount /mnt; }

everywhere "ports have addresses" connections_up
[ "$LAB_NODE" != 1 ] || disk lab 512
on 1 "a disk" test -b /dev/lab
for one in $protocols; do
	# shellcheck disable=SC2086
	on 1 "$one: node 1 serves" ${one}_served $at
	on 2 "$one: what the client needs" ${one}_client_up
	# shellcheck disable=SC2086
	on 2 "$one: connect" ${one}_begins $at
	file=$(${one}_file)
	on 2 "$one: a file system" made "$file"
	on 2 "$one: mounted" mount -t xfs "$file" /mnt
	on 2 "$one: files change by chance for $seconds s" changed_at_random
	on 2 "$one: more files" copied
	on 2 "$one: unmounted" umount /mnt
	everywhere "$one: node 1 has what was written" same "$file"
	on 2 "$one: the file system is whole" xfs_repair -n "$file"
	on 2 "$one: mounted again, it has all files" there_again "$file"
	# shellcheck disable=SC2086
	given_back $one $at
done
finish

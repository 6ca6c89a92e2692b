#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours,distro --link eth --mem 2048 --timeout 2400 --packages "fio nfs-common nfs-kernel-server nvme-cli open-iscsi srptools targetcli-fb"
# The kernel's own NVMe, iSER, SRP and NFS over Ethernet ports: data with checksums, and connections
# that come and go. SRP is reached by address, at ib_srpt's rdma_cm_port.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/roce_checks.sh
. /lab/src/tools/testing/selftests/rdma/storage.sh
plan $((LAB_NODE == 1 ? 2 + 4 * 4 + 1 : 1 + 4 * 9 + 1))

declare -A turns=([nvme]=10 [iscsi]=5 [srp]=5 [nfs]=10)
at="rdma $server4 lab"
nvme_options="-i 2"

# used PROTOCOL: connect, use, disconnect
used()
{
	# shellcheck disable=SC2086
	"$1_begins" $at && verified "$("$1_file")" 4M --bs=16k && "$1_ends" $at
}

# memory_registered FILE: requests that are larger than a page, of odd pieces and of many at once
memory_registered()
{
	verified "$1" 16M --bs=4k --iodepth=128 && verified "$1" 32M --bs=1M
}

everywhere "ports have addresses" roce_up
guids
[ "$LAB_NODE" != 1 ] || disk lab 256
on 1 "a disk" test -b /dev/lab
for one in nvme iscsi srp nfs; do
	# shellcheck disable=SC2086
	on 1 "$one: node 1 serves" ${one}_served $at
	on 2 "$one: what the client needs" ${one}_client_up
	# shellcheck disable=SC2086
	on 2 "$one: connect" ${one}_begins $at
	on 2 "$one: through a QP" qps
	file=$(${one}_file)
	on 2 "$one: written, read back and compared, in blocks of several sizes" by_sizes "$file"
	on 2 "$one: many requests, and large ones" memory_registered "$file"
	everywhere "$one: node 1 has what was written" same "$file" "$(served_file $one)"
	# shellcheck disable=SC2086
	on 2 "$one: disconnect" ${one}_ends $at
	on 1 "$one: its QPs are gone" within qps_are 0
	on 2 "$one: connect, use, disconnect: ${turns[$one]} times" repeated "${turns[$one]}" used $one
	on 2 "$one: the client ends" ${one}_client_down
	# shellcheck disable=SC2086
	on 1 "$one: node 1 serves no longer" ${one}_over $at
done
everywhere "modules go" lab-unload
finish

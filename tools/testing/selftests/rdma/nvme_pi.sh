#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours,distro --subnet opensm --mem 2048 --timeout 2400 --packages "fio nfs-common nfs-kernel-server nvme-cli open-iscsi srptools targetcli-fb"
# The kernel's own NVMe over RDMA with protection fields from the host's memory to a disk of
# scsi_debug, which checks them as well. Then requests come with fields of their own, one of which
# is wrong: both adapters have to find it, and to tell which it was.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/storage.sh
plan $((LAB_NODE == 1 ? 9 : 17))

target_up()
{
	modprobe nvmet-rdma && modprobe scsi_debug dif=1 dix=1 guard=0 dev_size_mb=64 delay=0 &&
		within scsi_disk &&
		configfs_up && nvmet_pi_subsystem lab "$(scsi_disk)" &&
			nvmet_port 1 rdma $server4 &&
		put 1 $nvmet/ports/1/param_pi_enable && offered 1 lab
}

target_down()
{
	withdrawn 1 lab && no_nvmet_port 1 && no_nvmet_subsystem lab && within qps_are 0 &&
		modprobe -r scsi_debug
}

# nvmet_pi_subsystem NAME DISK: one that shows its hosts the disk's fields
nvmet_pi_subsystem()
{
	modprobe nvmet && mkdir $nvmet/subsystems/"$1" &&
		put 1 $nvmet/subsystems/"$1"/attr_pi_enable &&
		nvmet_namespace "$1" "$2"
}

integrity_keys() { lab-vhcactl keys "node$LAB_NODE-0" | grep -q integrity; }

# no_wrong_fields: neither an adapter nor the disk has found a field that is wrong
no_wrong_fields() { ! dmesg | grep -E "PI error found|(GUARD|REF) check failed|protection error"; }

# by_adapter DISK: memory has no fields; the host's adapter makes and checks them
by_adapter()
{
	local i=/sys/block/${1##*/}/integrity
	put 0 "$i/write_generate" && put 0 "$i/read_verify"
}

# with_fields DISK FIRST [KIND SECTOR]: a request that brings its own fields; the one of SECTOR may
# be wrong
with_fields() { /lab/src/tools/testing/selftests/rdma/nvme_fields.py "$@"; }

# refused WORDS DISK FIRST KIND SECTOR: with a wrong field it is refused; the kernel's log has the
# WORDS
refused() { with_fields "${@:2}" && dmesg | grep "PI error found type $1"; }

# found WORDS: the target's adapter has found it, too
found() { dmesg | grep "PI error found type $1"; }

# what the run on another core has left
dmesg -C
everywhere "ports have addresses" connections_up
on 1 "the target's module" modules nvmet-rdma
on 2 "the host's" modules nvme-rdma
on 1 "a target whose disk keeps protection fields" target_up
on 2 "connect" nvme_attached rdma $server4 lab -i 2
disk=$(nvme_disk)
on 2 "the disk has fields" grep -qx T10-DIF-TYPE1-CRC "/sys/block/${disk##*/}/integrity/format"
on 2 "written, read back and compared, in blocks of several sizes" by_sizes "$disk"
on 2 "by odd lists of pieces" odd_lists "$disk"
on 2 "the adapter has keys that check them" integrity_keys
on 1 "and so has the target's" integrity_keys
on 2 "the adapter makes them alone" by_adapter "$disk"
on 2 "written, read back and compared so" by_sizes "$disk"
on 2 "and by odd lists" odd_lists "$disk"
everywhere "nobody has found a field that is wrong" no_wrong_fields
on 2 "a request with fields of its own" with_fields "$disk" 1000
on 2 "one with a wrong guard" refused "0 .*actual 0xdead" "$disk" 1000 guard 1005
on 1 "which the target's adapter has found, too" found "0 .*actual 0xdead"
on 2 "one with a wrong reference tag" \
	refused "1 expected 0x3eb vs actual 0x1234" "$disk" 1000 reference 1003
on 1 "which the target's adapter has found, too" found "1 expected 0x3eb vs actual 0x1234"
on 2 "the right ones are accepted as before" with_fields "$disk" 1000
on 2 "disconnect" nvme_detached lab
on 2 "the host's module goes" modprobe -r nvme_rdma
on 1 "the target goes" target_down
on 1 "and its module" modprobe -r nvmet_rdma
finish

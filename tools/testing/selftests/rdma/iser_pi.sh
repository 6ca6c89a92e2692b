#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours,distro --subnet opensm --mem 2048 --timeout 2400 --packages "fio nfs-common nfs-kernel-server nvme-cli open-iscsi srptools targetcli-fb"
# The kernel's own iSER with protection fields from the initiator's memory to the target's disk: in
# memory the initiator's guards are IP checksums, on the wire and at the target CRCs. The adapters
# check and convert them, LIO checks them once more, and a program of this folder compares them with
# the data on the disk. Then fields are corrupted there, one of a kind, and both LIO and the adapter
# have to tell which.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/storage.sh
plan $((LAB_NODE == 1 ? 17 : 23))

target_up()
{
	lio_pi_disk pi 64 && iscsi_target fileio_0/pi && put 1 "$iscsi_group/attrib/t10_pi" &&
		iscsi_portal iser $server4
}

target_down() { no_iscsi_portal $server4 && no_iscsi_target && no_lio_pi_disk pi; }

initiator_up() { modprobe ib_iser pi_enable=1 && iscsi_client_up; }

# no_wrong_fields: neither an adapter nor a SCSI layer has found a field that is wrong
no_wrong_fields()
{
	! dmesg | grep -E "PI error found|(DIF|DIX)[^:]*: .*(error|mismatch|failed)|DIFv1"
}

# by_adapter: the disk's fields are those that the adapter makes and checks, and memory has none
by_adapter()
{
	local i=/sys/block/${1##*/}/integrity
	put 0 "$i/write_generate" && put 0 "$i/read_verify"
}

# integrity_keys: the adapter has keys that check and make protection fields
integrity_keys() { lab-vhcactl keys "node$LAB_NODE-0" | grep -q integrity; }

# fields_match: those of the first MiB are what the data there demand
fields_match()
{
	/lab/src/tools/testing/selftests/rdma/t10_fields.py \
		$pi_files/pi $pi_files/pi.protection 2048
}

# spoilt BYTES SECTOR OFFSET: overwrites bytes in the sector's field
spoilt()
{
	# shellcheck disable=SC2059
	printf "$1" |
		dd of=$pi_files/pi.protection bs=1 seek=$(($2 * 8 + $3)) conv=notrunc status=none
}
bad_guard='\xde\xad' bad_tag='\x00\x00\x12\x34'

# only_fails DISK SECTOR: reading it fails, together with others and alone; its neighbours can be
# read
only_fails()
{
	local at
	! dd if="$1" of=/dev/null bs=64k count=1 iflag=direct || return 1
	! dd if="$1" of=/dev/null bs=512 skip="$2" count=1 iflag=direct || return 1
	for at in $(($2 - 1)) $(($2 + 1)); do
		dd if="$1" of=/dev/null bs=512 skip=$at count=1 iflag=direct || return 1
	done
}

# told WORDS: the kernel's log has them twice, for the request of many sectors and for that of one
told() { [ "$(dmesg | grep -cE "$1")" = 2 ] || { dmesg | grep -E "PI error|DIFv1"; return 1; }; }

# lio_told and adapter_told WORDS: which of the two has found it, and that the other has not
lio_told() { told "DIFv1 $1" && ! dmesg | grep "PI error found" && dmesg -C; }
adapter_told() { told "PI error found type $1" && ! dmesg | grep DIFv1 && dmesg -C; }

# found BY WHAT BYTES SECTOR OFFSET TOLD WORDS: node 1 corrupts a field, node 2 reads, TOLD finds the WORDS
# in the log of node 1; then the sector is written anew
found()
{
	on 1 "$1: a wrong $2" spoilt "$3" "$4" "$5"
	on 2 "$1: sector $4 alone cannot be read" only_fails "$disk" "$4"
	on 1 "$1 tells it, and which $2 it was" "$6" "$7"
	on 2 "$1: it is written anew" \
		dd if=/dev/zero of="$disk" bs=512 seek="$4" count=1 oflag=direct
}

# what the run on another core has left
dmesg -C
everywhere "ports have addresses" connections_up
on 1 "the target's module" modules ib_isert
on 2 "the initiator's" modules ib_iser
on 1 "a target whose disk keeps protection fields" target_up
on 2 "the initiator's daemon, and the fields are wanted" initiator_up
on 2 "login" iscsi_attached iser $server4
disk=$(scsi_disk)
on 2 "the disk has them, under IP checksums" \
	grep -qx T10-DIF-TYPE1-IP "/sys/block/${disk##*/}/integrity/format"
on 2 "written, read back and compared, in blocks of several sizes" by_sizes "$disk"
on 2 "by odd lists of pieces" odd_lists "$disk"
on 2 "the adapter has keys that check and convert them" integrity_keys
on 1 "the fields on the disk are those of the data" fields_match
on 2 "the adapter makes them alone" by_adapter "$disk"
on 2 "written, read back and compared so" by_sizes "$disk"
on 2 "and by odd lists" odd_lists "$disk"
on 1 "the fields that it has made are those of the data" fields_match
everywhere "nobody has found a field that is wrong" no_wrong_fields
found LIO guard "$bad_guard" 77 0 lio_told "checksum failed on sector 77 guard tag 0xdead "
found LIO "reference tag" "$bad_tag" 100 4 \
	lio_told "Type 1 reference failed on sector: 100 tag: 0x00001234 "
on 1 "LIO looks no longer" lio_checks pi 0
found "the adapter" guard "$bad_guard" 78 0 adapter_told "0 at sector 0x4e .*actual 0xdead"
found "the adapter" "reference tag" "$bad_tag" 101 4 \
	adapter_told "1 at sector 0x65 expected 0x65 vs actual 0x1234"
on 2 "logout" iscsi_detached $server4
on 2 "the daemon ends" iscsi_client_down
on 2 "the module goes" modprobe -r ib_iser
on 1 "the target goes" target_down
on 1 "and its module" modprobe -r ib_isert
finish

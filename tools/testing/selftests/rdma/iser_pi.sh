#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: --nodes 2 --core ours,distro --subnet opensm --mem 2048 --timeout 1200 --packages "fio open-iscsi"
# The kernel's own iSER with protection fields from the initiator's memory to the target's: in memory their
# guards are IP checksums, on the wire CRCs. The adapters check and convert them, LIO checks them once more.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/storage.sh
plan $((LAB_NODE == 1 ? 6 : 14))

target_up()
{
	lio_pi_disk pi 128 && iscsi_target rd_mcp_0/pi && put 1 "$iscsi_group/attrib/t10_pi" && iscsi_portal iser $server4
}

target_down() { no_iscsi_portal $server4 && no_iscsi_target && no_lio_pi_disk pi; }

initiator_up() { modprobe ib_iser pi_enable=1 && iscsi_client_up; }

# no_errors: neither an adapter nor a SCSI layer has found a field that is wrong
no_errors() { ! dmesg | grep -E "PI error found|(DIF|DIX)[^:]*: .*(error|mismatch|failed)|Sector: .* is bad"; }

# by_adapter: the disk's fields are those that the adapter makes and checks, and memory has none
by_adapter()
{
	local i=/sys/block/${1##*/}/integrity
	put 0 "$i/write_generate" && put 0 "$i/read_verify"
}

# integrity_keys: the adapter has keys that check and make protection fields
integrity_keys() { lab-vhcactl keys "node$LAB_NODE-0" | grep -q integrity; }

everywhere "ports have addresses" connections_up
on 1 "the target's module" modules ib_isert
on 2 "the initiator's" modules ib_iser
on 1 "a target whose disk keeps protection fields" target_up
on 2 "the initiator's daemon, and the fields are wanted" initiator_up
on 2 "login" iscsi_attached iser $server4
disk=$(scsi_disk)
on 2 "the disk has them, under IP checksums" grep -qx T10-DIF-TYPE1-IP "/sys/block/${disk##*/}/integrity/format"
on 2 "written, read back and compared, in blocks of several sizes" by_sizes "$disk"
on 2 "the adapter has keys that check and convert them" integrity_keys
on 2 "the adapter makes them alone" by_adapter "$disk"
on 2 "written, read back and compared so" by_sizes "$disk"
everywhere "nobody has found a field that is wrong" no_errors
on 2 "logout" iscsi_detached $server4
on 2 "the daemon ends" iscsi_client_down
on 2 "the module goes" modprobe -r ib_iser
on 1 "the target goes" target_down
on 1 "and its module" modprobe -r ib_isert
finish

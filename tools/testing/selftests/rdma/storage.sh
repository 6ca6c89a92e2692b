# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Helpers of the storage tests and of make demo-storage: sourced behind lib.sh, subnet.sh and
# connections.sh. Node 1 is the target, or server, with disks in memory; node 2 uses them.
# shellcheck shell=bash

configfs=/sys/kernel/config
nvmet=$configfs/nvmet
lio=$configfs/target

# put TEXT FILE
put() { echo "$1" >"$2"; }

# on NODE NAME COMMAND...: a check that NODE makes while the others wait. What follows needs it: if it
# fails the test ends.
on()
{
	[ "$LAB_NODE" != "$1" ] || ok "${@:2}"
	[ "$tap_bad" = 0 ] && lab-barrier "$2" || finish
}

# everywhere NAME COMMAND...: one that all nodes make
everywhere()
{
	ok "$@"
	[ "$tap_bad" = 0 ] && lab-barrier "$1" || finish
}

# modules NAME...: in the tree of our core modprobe finds those that were built for it
modules()
{
	local one
	for one; do
		modinfo -n "$one" && { [ "$LAB_CORE" != ours ] || modinfo -n "$one" | grep -q /updates/; } || return 1
	done
}

# given_back PROTOCOL WHERE...: node 2 has no disk any more, then node 1 serves none
given_back()
{
	on 2 "$1: disconnect" "$1_ends" "${@:2}"
	on 2 "$1: the client ends" "$1_client_down"
	on 1 "$1: node 1 serves no longer" "$1_over" "${@:2}"
	on 1 "$1: its QPs are gone" within qps_are 0
}

# guids: every node knows the GUID of each one's port, as srp_target wants it. All nodes meet here.
guids()
{
	hex "$port/gids/0" | cut -c17- >"$LAB_OUT/guid.$LAB_NODE"
	lab-barrier guids
}

# repeated TIMES COMMAND...: TIMES times, until COMMAND fails; then it prints the turn
repeated()
{
	local turn
	for ((turn = 1; turn <= $1; turn++)); do "${@:2}" || { echo "turn $turn"; return 1; }; done
}

# qps: how many connected QPs there are. Most belong to rdma_cm by their name, whichever module asked for
# them.
qps() { rdma resource show qp | grep -c 'type RC'; }
qps_are() { [ "$(qps)" = "$1" ]; }

# ---- disks and checked data ----------------------------------------------------

# configfs_up: it is a module, which may not be loaded yet
configfs_up() { modprobe configfs && { mountpoint -q $configfs || mount -t configfs configfs $configfs; }; }

# disk NAME MIB [0]: a disk in memory, /dev/NAME; with 0 it forgets what is written
disk()
{
	local d=$configfs/nullb/$1
	configfs_up && modprobe null_blk nr_devices=0 && mkdir "$d" && put "$2" "$d/size" &&
		put "${3:-1}" "$d/memory_backed" && put 1 "$d/power" && [ -b "/dev/$1" ]
}

no_disk() { rmdir "$configfs/nullb/$1"; }

# block_device PATTERN: the first one that has such a name. A file below /dev need not be a block device.
block_device()
{
	local one
	for one in /sys/class/block/$1; do
		[ ! -b "/dev/${one##*/}" ] || { echo "/dev/${one##*/}" && return 0; }
	done
	return 1
}

# fio_run NAME FILE OPTION...: its output goes to $LAB_OUT/NAME.json; what failed is shown
fio_run()
{
	local out=$LAB_OUT/$1.json
	fio --name="$1" --filename="$2" --direct=1 --ioengine=libaio --output-format=json --output="$out" \
		"${@:3}" >/tmp/fio 2>&1 && return
	cat /tmp/fio
	return 1
}

# verified FILE SIZE OPTION...: written at random with checksums, read back and compared
verified()
{
	fio_run verify "$1" --size="$2" --rw=randwrite --iodepth=16 --verify=crc32c --verify_fatal=1 "${@:3}"
}

# by_sizes FILE: the same with single blocks, pages, pieces that are several requests, and mixed ones
by_sizes()
{
	verified "$1" 1M --bs=512 && verified "$1" 4M --bs=4k && verified "$1" 16M --bs=64k &&
		verified "$1" 32M --bs=1M && verified "$1" 16M --bsrange=512-256k
}

# mixed FILE: 1 GiB in requests of mixed sizes, not all of whole pages
mixed() { verified "$1" 1G --bssplit=512/10:4k/20:12k/10:64k/30:256k/20:1m/10 --rw=write; }

# odd_lists FILE: by lists of pieces that are as odd as the disk allows
odd_lists() { /lab/src/tools/testing/selftests/rdma/scatter.py "$1" 100; }

# changed FILE: fio finds the block that another has overwritten
changed() { ! fio_run changed "$1" --size=8M --rw=randwrite --bs=4k --verify=crc32c --verify_only; }

# sum_of FILE MIB: checksum of its beginning, as it is on the disk
sum_of() { dd if="$1" bs=1M count="$2" iflag=direct status=none | sha256sum; }

# same FILE [SERVED]: what node 2 reads in its first 32 MiB is what SERVED (/dev/lab) of node 1 has
same()
{
	[ "$LAB_NODE" = 2 ] || sum_of "${2:-/dev/lab}" 32 >"$LAB_OUT/sum" || return 1
	lab-barrier summed
	[ "$LAB_NODE" = 1 ] || sum_of "$1" 32 | diff - "$LAB_OUT/sum"
}

# writes DISK: requests that were written; busy DISK NUMBER: more than this
writes() { awk '{ print $5 }' "/sys/class/block/${1##*/}/stat"; }
busy() { [ "$(writes "$1")" -gt "$2" ]; }

# ---- NVMe over fabrics --------------------------------------------------------

# nvmet_subsystem NAME DISK
nvmet_subsystem()
{
	modprobe nvmet && mkdir "$nvmet/subsystems/$1" && nvmet_namespace "$1" "$2"
}

# nvmet_namespace NAME DISK: the subsystem, which is for everybody, has the disk
nvmet_namespace()
{
	local s=$nvmet/subsystems/$1
	put 1 "$s/attr_allow_any_host" && mkdir "$s/namespaces/1" &&
		put "$2" "$s/namespaces/1/device_path" && put 1 "$s/namespaces/1/enable"
}

# nvmet_port NUMBER TRANSPORT ADDRESS
nvmet_port()
{
	local p=$nvmet/ports/$1
	mkdir "$p" && put "$2" "$p/addr_trtype" && put ipv4 "$p/addr_adrfam" && put "$3" "$p/addr_traddr" &&
		put 4420 "$p/addr_trsvcid"
}

# offered, withdrawn NUMBER NAME: the port has the subsystem, or has it no longer
offered() { ln -s "$nvmet/subsystems/$2" "$nvmet/ports/$1/subsystems/$2"; }
withdrawn() { rm "$nvmet/ports/$1/subsystems/$2"; }

no_nvmet_port() { rmdir "$nvmet/ports/$1"; }
no_nvmet_subsystem() { rmdir "$nvmet/subsystems/$1/namespaces/1" "$nvmet/subsystems/$1"; }

# nvme_attached TRANSPORT ADDRESS NAME OPTION...
nvme_attached()
{
	modprobe nvme-fabrics && nvme connect -t "$1" -a "$2" -s 4420 -n "$3" \
		--hostnqn=nqn.2014-08.org.nvmexpress:uuid:00000000-0000-4000-8000-00000000000"$LAB_NODE" \
		--hostid=00000000-0000-4000-8000-00000000000"$LAB_NODE" "${@:4}" && within nvme_disk
}

# nvme_disk: the block device; nvme_gone: there is no controller
nvme_disk() { block_device 'nvme*n1'; }
nvme_gone() { ! compgen -G '/sys/class/nvme/nvme*'; }
nvme_detached() { nvme disconnect -n "$1" && within nvme_gone; }

# nvme_is STATE: of the only controller
nvme_is() { grep -qx "$1" /sys/class/nvme/nvme*/state; }

# ---- NFS ----------------------------------------------------------------------

# nfsd_up: node 1 serves /export, a file system in memory, over TCP and over RDMA
nfsd_up()
{
	modprobe nfsd && mount -t nfsd nfsd /proc/fs/nfsd && mkdir -p /export &&
		mount -t tmpfs -o size=1200m tmpfs /export && chmod 777 /export &&
		put '/export *(rw,fsid=0,no_root_squash,insecure,no_subtree_check)' /etc/exports &&
		put 10 /proc/fs/nfsd/nfsv4leasetime && put 10 /proc/fs/nfsd/nfsv4gracetime &&
		rpc_programs && exportfs -ra && rpc.mountd && nfsd_begins
}

nfsd_begins() { rpc.nfsd --rdma=20049 4 && grep rdma /proc/fs/nfsd/portlist; }

# rpc_programs: what NFS 3 and its locks need beside it
rpc_programs()
{
	mkdir -p /run/rpcbind && rpcbind && modprobe lockd && put 10 /proc/sys/fs/nfs/nlm_grace_period &&
		rpc.statd --no-notify
}

nfsd_down()
{
	rpc.nfsd 0 && exportfs -ua && killall -w rpc.mountd rpc.statd rpcbind &&
		umount /proc/fs/nfsd && umount /export
}

nfs_client_up() { modprobe nfs && rpc_programs; }
nfs_client_down() { killall -w rpc.statd rpcbind; }

# nfs_attached TRANSPORT ADDRESS FOLDER WHERE OPTIONS
nfs_attached()
{
	local port=2049
	[ "$1" != rdma ] || port=20049
	mount -t nfs -o "proto=$1,port=$port,$5" "$2:$3" "$4"
}

# ---- SCSI: LIO as the target, for iSER, iSCSI and SRP -------------------------------------------

# lio_disk DISK: LIO can offer /dev/DISK
lio_disk()
{
	local d=$lio/core/iblock_0/$1
	modprobe target_core_mod && modprobe target_core_iblock && mkdir -p "$d" &&
		put "udev_path=/dev/$1" "$d/control" && put 1 "$d/enable"
}

no_lio_disk() { rmdir "$lio/core/iblock_0/$1" "$lio/core/iblock_0"; }

# lio_pi_disk DISK MIB: LIO has a disk that keeps protection fields, of T10's type 1: files in
# memory, $pi_files/DISK and DISK.protection. That of the fields is formatted.
pi_files=/run/lab/disks
lio_pi_disk()
{
	local d=$lio/core/fileio_0/$1 size=$(($2 << 20))
	configfs_up && modprobe target_core_mod && modprobe target_core_file &&
		mkdir -p "$d" $pi_files &&
		put "fd_dev_name=$pi_files/$1,fd_dev_size=$size" "$d/control" && put 1 "$d/enable" &&
		put 1 "$d/attrib/pi_prot_type" && put 1 "$d/attrib/pi_prot_format"
}

no_lio_pi_disk()
{
	rmdir "$lio/core/fileio_0/$1" "$lio/core/fileio_0" &&
		rm "$pi_files/$1" "$pi_files/$1.protection"
}

# lio_checks DISK 0|1: whether LIO compares data and fields itself
lio_checks() { put "$2" "$lio/core/fileio_0/$1/attrib/pi_prot_verify"; }

# lun GROUP DISK: the group of target ports has it as its LUN 0; DISK is lio_disk's, or HBA/DISK
lun()
{
	local disk=$2
	[[ $disk = */* ]] || disk=iblock_0/$disk
	mkdir "$1/lun/lun_0" && ln -s "$lio/core/$disk" "$1/lun/lun_0/disk"
}
no_lun() { rm "$1/lun/lun_0/disk" && rmdir "$1/lun/lun_0"; }

# scsi_disk: the block device of the only SCSI disk, whose driver is loaded only here; scsi_gone: there is
# none
scsi_disk() { modprobe sd_mod && block_device 'sd?'; }
scsi_gone() { ! scsi_disk; }

iqn=iqn.2026-01.lab.storage:disk
iscsi_group=$lio/iscsi/$iqn/tpgt_1

# iscsi_target DISK: without authentication, for everybody
iscsi_target()
{
	local a=$iscsi_group/attrib
	modprobe iscsi_target_mod && mkdir -p "$iscsi_group" && lun "$iscsi_group" "$1" && put 0 "$a/authentication" &&
		put 1 "$a/generate_node_acls" && put 0 "$a/demo_mode_write_protect" && put 1 "$iscsi_group/enable"
}

# iscsi_portal iser|tcp ADDRESS
iscsi_portal()
{
	local p=$iscsi_group/np/$2:3260
	mkdir "$p" && { [ "$1" = tcp ] || put 1 "$p/iser"; }
}

no_iscsi_portal() { rmdir "$iscsi_group/np/$1:3260"; }
no_iscsi_target()
{
	put 0 "$iscsi_group/enable" && no_lun "$iscsi_group" && rmdir "$iscsi_group" "${iscsi_group%/*}"
}

# iscsi_client_up: node 2 has the daemon of open-iscsi
iscsi_client_up()
{
	mkdir -p /run/lock/iscsi && put "InitiatorName=iqn.2026-01.lab.storage:node$LAB_NODE" /etc/iscsi/initiatorname.iscsi &&
		modprobe ib_iser && iscsid && within iscsiadm -m iface
}

iscsi_client_down() { iscsiadm -k 0 && within sh -c "! pgrep -x iscsid"; }

# iscsi_node ADDRESS OPERATION...: iscsiadm about our target there
iscsi_node() { iscsiadm -m node -T $iqn -p "$1:3260" "${@:2}"; }

# iscsi_attached iser|tcp ADDRESS
iscsi_attached()
{
	local transport=$1
	[ "$transport" = iser ] || { transport=default && modprobe iscsi_tcp; } || return 1
	iscsi_node "$2" -I "$transport" -o new && iscsi_node "$2" --login && within scsi_disk
}

iscsi_detached() { iscsi_node "$1" --logout && iscsi_node "$1" -o delete && within scsi_gone; }

# hexadecimal without its punctuation
hex() { tr -d ':\n' <"$1"; }

# find_srp_group: $srp_group is that of our port
find_srp_group()
{
	srp_group=$lio/srpt/0x$(hex "$port/gids/0")
	srp_group=$srp_group/${srp_group##*/}
}

# srp_target DISK GUID: our port offers it to the initiator whose port has this GUID (16 digits)
srp_target()
{
	modprobe ib_srpt && find_srp_group || return 1
	local acl=$srp_group/acls/0x0000000000000000$2
	mkdir -p "$srp_group" && lun "$srp_group" "$1" && mkdir "$acl" && mkdir "$acl/lun_0" &&
		ln -s "$srp_group/lun/lun_0" "$acl/lun_0/disk" && put 1 "$srp_group/enable"
}

no_srp_target()
{
	find_srp_group && put 0 "$srp_group/enable" && rm "$srp_group"/acls/*/lun_0/disk && rmdir "$srp_group"/acls/*/lun_0 &&
		rmdir "$srp_group"/acls/* && no_lun "$srp_group" &&
		rmdir "$srp_group" "${srp_group%/*}" "$lio/srpt"
}

# srp_found: the line of the only target that the fabric has. The subnet manager learns of it by a trap.
srp_found() { ibsrpdm -c -d /dev/infiniband/umad0 | grep id_ext; }

# srp_login NAMES: is refused until the last login to this target is quite over, which no event reports
srp_login() { put "$1" "/sys/class/infiniband_srp/srp-$LAB_DEV-1/add_target"; }

srp_attached() { within srp_found && within srp_login "$(srp_found)" && within scsi_disk; }

# srp_listens TCP-PORT: the target can be reached by address, too. Prints by which names a login
# asks for it.
srp_listens()
{
	local guid
	guid=$(</sys/module/ib_srpt/parameters/srpt_service_guid)
	put "$1" $lio/srpt/discovery_auth/rdma_cm_port && echo "id_ext=${guid#0x},ioc_guid=${guid#0x}"
}

# srp_attached_at ADDRESS TCP-PORT NAMES: by what srp_listens printed there
srp_attached_at() { within srp_login "$3,dest=$1:$2" && within scsi_disk; }

srp_detached()
{
	local one
	for one in /sys/class/srp_remote_ports/*/delete; do put 1 "$one"; done
	within scsi_gone
}

# ---- RNBD ---------------------------------------------------------------------

# rnbd_server_up: the memory of each session is what its queue can hold
rnbd_server_up()
{
	modprobe rtrs_server sess_queue_depth=64 && modprobe rnbd_server dev_search_path=/dev
}

rnbd_disk() { block_device 'rnbd*'; }
rnbd_gone() { ! rnbd_disk; }

# rnbd_of ATTRIBUTE: that of the disk
rnbd_of()
{
	local disk
	disk=$(rnbd_disk) && echo "/sys/block/${disk##*/}/rnbd/$1"
}

# rnbd_mapped ADDRESS DISK: by a session with a name of its own, since the server may not be done with
# the last one
rnbd_mapped()
{
	put "sessname=lab${EPOCHREALTIME/./} path=ip:$1 device_path=$2" /sys/class/rnbd-client/ctl/map_device
}
rnbd_attached() { rnbd_mapped "$1" "$2" && within rnbd_disk; }
rnbd_detached() { put normal "$(rnbd_of unmap_device)" && within rnbd_gone; }

# rnbd_path: the only one of the disk's session
rnbd_path() { echo "/sys/class/rtrs-client/$(<"$(rnbd_of session)")"/paths/*; }

# rnbd_open: if the server was not done with the last session the disk wants to be told
rnbd_open()
{
	grep -qx open "$(rnbd_of state)" ||
		{ put 1 "$(rnbd_of remap_device)" && grep -qx open "$(rnbd_of state)"; }
}

# ---- any protocol in the same way ------------------------------------------------
# P is nvme, iscsi, srp, nfs or rnbd; TRANSPORT is rdma, or tcp where there is that.
# P_served TRANSPORT ADDRESS DISK: node 1 offers its disk (nfs: /export); P_withdrawn and P_offered
# with the same: not for a while; P_over: no more.
# P_client_up, P_client_down: what node 2 needs beside it. P_begins TRANSPORT ADDRESS: it has the disk;
# P_file: prints which file that is; P_ends TRANSPORT ADDRESS.
# served_file P: what node 1 has of P_file, of the DISK lab

nvme_options="-i 1"
nvme_served()
{
	modprobe "nvmet-$1" && nvmet_subsystem lab "/dev/$3" && nvmet_port 1 "$1" "$2" && nvme_offered
}
nvme_offered() { offered 1 lab; }
nvme_withdrawn() { withdrawn 1 lab; }
nvme_over() { nvme_withdrawn && no_nvmet_port 1 && no_nvmet_subsystem lab; }
nvme_client_up() { modprobe nvme-fabrics; }
nvme_client_down() { :; }
# shellcheck disable=SC2086
nvme_begins() { nvme_attached "$1" "$2" lab $nvme_options; }
nvme_file() { nvme_disk; }
nvme_ends() { nvme_detached lab; }

iscsi_served() { lio_disk "$3" && iscsi_target "$3" && iscsi_portal "${1/rdma/iser}" "$2"; }
iscsi_offered() { put 1 $iscsi_group/enable; }
iscsi_withdrawn() { put 0 $iscsi_group/enable; }
iscsi_over() { no_iscsi_portal "$2" && no_iscsi_target && no_lio_disk "$3"; }
iscsi_begins() { iscsi_attached "${1/rdma/iser}" "$2"; }
iscsi_file() { scsi_disk; }
iscsi_ends() { iscsi_detached "$2"; }

# By the port's GID, or by the address where it is an Ethernet port. guids() comes first.
srp_tcp_port=4711
srp_by_address() { grep -q Ethernet "$port/link_layer"; }
srp_served()
{
	lio_disk "$3" && srp_target "$3" "$(<"$LAB_OUT/guid.2")" || return 1
	! srp_by_address || srp_listens $srp_tcp_port >"$LAB_OUT/srp.names"
}
srp_offered() { find_srp_group && put 1 "$srp_group/enable"; }
srp_withdrawn() { find_srp_group && put 0 "$srp_group/enable"; }
srp_over()
{
	! srp_by_address || put 0 $lio/srpt/discovery_auth/rdma_cm_port || return 1
	no_srp_target && no_lio_disk "$3"
}
srp_client_up() { modprobe -a ib_srp ib_umad; }
srp_client_down() { modprobe -r ib_srp; }
srp_begins()
{
	if srp_by_address; then
		srp_attached_at "$2" $srp_tcp_port "$(<"$LAB_OUT/srp.names")"
	else
		srp_attached
	fi
}
srp_file() { scsi_disk; }
srp_ends() { srp_detached; }

nfs_served() { nfsd_up && nfs_no_grace; }
# no client has anything to reclaim
nfs_no_grace() { put Y /proc/fs/nfsd/v4_end_grace; }
nfs_offered() { nfsd_begins; }
nfs_withdrawn() { rpc.nfsd 0; }
nfs_over() { nfsd_down; }
nfs_begins() { nfs_attached "$1" "$2" / /mnt vers=4.2; }
nfs_file() { echo /mnt/file; }
nfs_ends() { umount /mnt; }

rnbd_served() { rnbd_server_up; }
rnbd_over() { modprobe -r rnbd_server; }
rnbd_client_up() { modprobe rnbd_client; }
# 6.12's module must stay while its last session ends, for which it does not wait
rnbd_client_down() { :; }
rnbd_begins() { rnbd_attached "$2" "$3"; }
rnbd_file() { rnbd_disk; }
rnbd_ends() { rnbd_detached; }

served_file() { [ "$1" = nfs ] && echo /export/file || echo /dev/lab; }

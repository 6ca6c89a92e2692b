# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Helpers of the storage tests: sourced behind lib.sh, subnet.sh and
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

# qps: how many connected QPs there are. Most belong to rdma_cm by their name, whoever asked it.
qps() { rdma resource show qp | grep -c 'type RC'; }
qps_are() { [ "$(qps)" = "$1" ]; }

# ---- disks and checked data ----------------------------------------------------

# configfs_up: it is a module, which nobody may have loaded before
configfs_up() { modprobe configfs && { mountpoint -q $configfs || mount -t configfs configfs $configfs; }; }

# disk NAME MIB: a disk in memory, /dev/NAME
disk()
{
	local d=$configfs/nullb/$1
	configfs_up && modprobe null_blk nr_devices=0 && mkdir "$d" && put "$2" "$d/size" &&
		put 1 "$d/memory_backed" && put 1 "$d/power" && [ -b "/dev/$1" ]
}

no_disk() { rmdir "$configfs/nullb/$1"; }

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

# changed FILE: fio finds the block that another has overwritten
changed() { ! fio_run changed "$1" --size=8M --rw=randwrite --bs=4k --verify=crc32c --verify_only; }

# sum_of FILE MIB: checksum of its beginning, as it is on the disk
sum_of() { dd if="$1" bs=1M count="$2" iflag=direct status=none | sha256sum; }

# same FILE: what node 2 reads in its first 32 MiB is what /dev/lab of node 1 has
same()
{
	[ "$LAB_NODE" = 2 ] || sum_of /dev/lab 32 >"$LAB_OUT/sum" || return 1
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
	local s=$nvmet/subsystems/$1
	modprobe nvmet && mkdir "$s" && put 1 "$s/attr_allow_any_host" && mkdir "$s/namespaces/1" &&
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
		--hostid=00000000-0000-4000-8000-00000000000"$LAB_NODE" "${@:4}" && within 20 nvme_disk
}

# nvme_disk: the block device; nvme_gone: there is none
nvme_disk() { ls -d /dev/nvme*n1; }
nvme_gone() { ! ls /sys/class/nvme/nvme* 2>/dev/null | grep .; }
nvme_detached() { nvme disconnect -n "$1" && within 20 nvme_gone; }

# nvme_is STATE: of the only controller
nvme_is() { grep -qx "$1" /sys/class/nvme/nvme*/state; }

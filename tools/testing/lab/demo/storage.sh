#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# What make demo-storage runs in two guests: the kernel's own storage protocols, first by rdma_rxe on the
# distribution's modules, then over RDMA on ours, in a subnet with a manager, and, where they exist, over
# TCP on virtio-net, to the same disk in memory.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh
. /lab/src/tools/testing/selftests/rdma/storage.sh
. /lab/src/tools/testing/bench/guest/devices.sh

tcp4=10.77.0.1
rc=0

# step NODE TITLE COMMAND...: the other node waits
step()
{
	if [ "$LAB_NODE" = "$1" ]; then
		echo "== $2"
		"${@:3}" 2>&1 || {
			echo "FAILED: $2 (exit status $?: ${*:3})"
			rc=1
		}
	fi
	lab-barrier "$2"
}

# measure LABEL FILE: what the table needs; a file is first written, and all that is written is checked
measure()
{
	local label=$1 file=$2
	fio_run "$label.verify" "$file" --size=32M --rw=randwrite --bsrange=4k-256k --iodepth=16 --verify=crc32c --verify_fatal=1 &&
		fio_run "$label.write" "$file" --size=64M --rw=write --bs=128k --iodepth=8 --time_based --runtime=5 &&
		fio_run "$label.read" "$file" --size=64M --rw=read --bs=128k --iodepth=8 --time_based --runtime=5 &&
		fio_run "$label.latency" "$file" --size=64M --rw=randread --bs=4k --iodepth=1 --time_based --runtime=5
}

measure_disk() { local found; found=$("$2") && measure "$1" "$found"; }

# by_rxe PROTOCOL TITLE
by_rxe()
{
	step 1 "$2 by rdma_rxe: the target" "$1_served" rdma $tcp4 lab
	step 2 "$2 by rdma_rxe: connect, fio, disconnect" measure_rxe "$1"
	step 1 "$2 by rdma_rxe: the target goes" "$1_over" rdma $tcp4 lab
}
measure_rxe()
{
	"$1_client_up" && "$1_begins" rdma $tcp4 lab && measure_disk "$1.rxe" "$1_file" &&
		"$1_ends" rdma $tcp4 lab && "$1_client_down"
}

nvme_target()
{
	modprobe -a nvmet-rdma nvmet-tcp && nvmet_subsystem lab /dev/lab && nvmet_port 1 rdma $server4 && offered 1 lab &&
		nvmet_port 2 tcp $tcp4 && offered 2 lab
}

nvme_target_gone()
{
	withdrawn 1 lab && withdrawn 2 lab && no_nvmet_port 1 && no_nvmet_port 2 && no_nvmet_subsystem lab
}

iscsi_targets() { lio_disk lab && iscsi_target lab && iscsi_portal iser $server4 && iscsi_portal tcp $tcp4; }
iscsi_targets_gone() { no_iscsi_portal $server4 && no_iscsi_portal $tcp4 && no_iscsi_target; }
srp_target_for() { srp_target lab "$(<"$LAB_OUT/guid.2")"; }

step 1 "a disk in memory" disk lab 256
step 1 "fio on this disk where it is" measure local /dev/lab
echo "== the distribution's modules, with rdma_rxe on virtio-net"
rxe_up && modprobe rdma_ucm || rc=1
lab-barrier rxe
by_rxe nvme NVMe
by_rxe nfs NFS
by_rxe iscsi iSER
within qps_are 0 || rc=1
rxe_down
echo "== our modules and adapters; IPoIB gives the ports addresses"
ours_up
port=/sys/class/infiniband/$LAB_DEV/ports/1
connections_up || rc=1
hex "$port/gids/0" | cut -c17- >"$LAB_OUT/guid.$LAB_NODE"

step 1 "NVMe: nvmet offers it over RDMA and over TCP" nvme_target
step 2 "NVMe over RDMA: nvme connect" nvme_attached rdma $server4 lab -i 1
step 2 "NVMe over RDMA: fio" measure_disk nvme.rdma nvme_disk
step 2 "NVMe over RDMA: nvme disconnect" nvme_detached lab
step 2 "NVMe over TCP: nvme connect" nvme_attached tcp $tcp4 lab -i 1
step 2 "NVMe over TCP: fio" measure_disk nvme.tcp nvme_disk
step 2 "NVMe over TCP: nvme disconnect" nvme_detached lab
step 1 "NVMe: the target goes" nvme_target_gone

step 1 "NFS: a server" nfsd_up
step 2 "NFS: a client" nfs_client_up
step 2 "NFS over RDMA: mount" nfs_attached rdma $server4 / /mnt vers=4.2
step 2 "NFS over RDMA: fio" measure nfs.rdma /mnt/file
step 2 "NFS over RDMA: umount" umount /mnt
step 2 "NFS over TCP: mount" nfs_attached tcp $tcp4 / /mnt vers=4.2
step 2 "NFS over TCP: fio" measure nfs.tcp /mnt/file
step 2 "NFS over TCP: umount" umount /mnt
step 1 "NFS: the server goes" nfsd_down

step 1 "iSCSI: LIO offers the disk by iSER and over TCP" iscsi_targets
step 2 "iSCSI: the daemon" iscsi_client_up
step 2 "iSER: login" iscsi_attached iser $server4
step 2 "iSER: fio" measure_disk iscsi.rdma scsi_disk
step 2 "iSER: logout" iscsi_detached $server4
step 2 "iSCSI over TCP: login" iscsi_attached tcp $tcp4
step 2 "iSCSI over TCP: fio" measure_disk iscsi.tcp scsi_disk
step 2 "iSCSI over TCP: logout" iscsi_detached $tcp4
step 1 "iSCSI: the target goes" iscsi_targets_gone

step 1 "SRP: LIO offers the disk" srp_target_for
step 2 "SRP: the module" modprobe ib_srp
step 2 "SRP: login to what ibsrpdm finds" srp_attached
step 2 "SRP: fio" measure_disk srp.rdma scsi_disk
step 2 "SRP: logout" srp_detached
step 1 "SRP: the target goes" no_srp_target
manager_ends
exit $rc

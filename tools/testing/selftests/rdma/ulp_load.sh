# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Loads of the protocols that storage.sh does not know, or only in part: RDS, RNBD, 9P and SMC. Sourced
# behind storage_load.sh; for SMC behind smc_checks.sh, too.
# shellcheck shell=bash

sockets=/lab/src/tools/testing/selftests/rdma

# background NAME COMMAND...: a server, until it serves
background()
{
	"${@:2}" </dev/null >"/tmp/$1.log" 2>&1 &
	echo $! >>/tmp/servers
	within grep -q '^serves' "/tmp/$1.log"
}

# servers_end: those that have not ended by themselves, as 9P's does behind its last client
servers_end()
{
	local pid
	while read -r pid; do ! alive "$pid" || kill "$pid"; done </tmp/servers
	rm /tmp/servers
}

# ---- what is done with each protocol, beside what storage.sh has of it ---------------------------------
# P_load begins a load; P_written and P_kept: data that stay; P_down: the connection has ended; P_breaks:
# the load has failed by that; P_again: a new connection.

rds_served() { modprobe rds_rdma && background rds $sockets/rds_sockets.py serve $server4; }
rds_over() { servers_end && within modprobe -r rds_rdma; }
rds_client_up() { modprobe rds_rdma; }
rds_begins() { rds_pass && qps; }
rds_ends() { modprobe -r rds_rdma; }
rds_client_down() { [ ! -e /sys/module/rds_rdma ]; }
rds_pass() { $sockets/rds_sockets.py use "$own4" $server4 12; }
rds_once() { $sockets/rds_sockets.py once "$own4" $server4; }
# rds_load: by one socket, since a new one could not be bound while its address is away with the device
rds_load()
{
	load_files
	rds_goes_on </dev/null >/tmp/load.log 2>&1 &
	within settled 1 && load_is_well
}
rds_goes_on()
{
	$sockets/rds_sockets.py go_on "$own4" $server4 /tmp/load.stop >>/tmp/load.passes || : >/tmp/load.failed
	: >/tmp/load.ended
}
rds_written() { $sockets/rds_sockets.py use "$own4" $server4 60; }	# no data stay
rds_kept() { rds_written; }

rnbd_load() { load_begins "$(rnbd_disk)"; }
rnbd_written() { written "$(rnbd_disk)"; }
rnbd_kept() { kept "$(rnbd_disk)"; }
rnbd_down() { until_given_up; }
rnbd_breaks() { load_fails && grep 'Input/output error' /tmp/load.log; }
rnbd_again() { within rnbd_reconnects && within rnbd_open; }
rnbd_reconnects() { put 1 "$(rnbd_path)/reconnect" && grep -qx connected "$(rnbd_path)/state"; }

p9_served()
{
	mkdir -p /export && mount -t tmpfs tmpfs /export && background p9 $sockets/p9_server.py $server4 /export 1
}
p9_over() { servers_end && umount /export; }
p9_client_up() { modprobe 9pnet_rdma; }
p9_begins() { mount -t 9p -o trans=rdma,version=9p2000.L,msize=262144,access=any $server4 /mnt; }
p9_ends() { umount /mnt; }
p9_client_down() { modprobe -r 9pnet_rdma; }
p9_load() { load_begins /mnt/file; }
p9_written() { written /mnt/file; }
p9_kept() { kept /mnt/file; }

smc_served() { smc_client_up && background smc $sockets/smc_sockets.py answer $smc_server; }
smc_over() { servers_end && within modprobe -r smc; }
smc_client_up() { smc_up && $sockets/smc_sockets.py eid VHCA-LAB; }
smc_begins() { smc_pass && qps; }
smc_ends() { within modprobe -r smc; }
smc_client_down() { [ ! -e /sys/module/smc ]; }
smc_pass() { $sockets/smc_sockets.py talk rdma "$smc_own" $smc_server 4 262144; }
smc_load() { load_of smc_pass; }
smc_written() { $sockets/smc_sockets.py talk rdma "$smc_own" $smc_server 1 8388608; }
smc_kept() { smc_written; }
smc_breaks() { load_fails && grep -E 'Errno|has ended after|RDMA was given up' /tmp/load.log; }
smc_again() { within smc_pass; }

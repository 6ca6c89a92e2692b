# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A load for storage: passes of fio on a file, which writes with checksums, reads and compares, or
# of another command, until it is told to end. Sourced behind storage.sh.
# shellcheck shell=bash

# load_begins FILE: which is there. If a disk goes fio must not make a file that has its name.
load_begins() { load_of verified "$1" 8M --bs=16k --allow_file_create=0; }

# load_of COMMAND...: a load whose passes are this command
load_of()
{
	load_files
	load "$@" </dev/null >/tmp/load.log 2>&1 &
	within settled 1 && load_is_well
}

load_files() { rm -f /tmp/load.* && : >/tmp/load.passes; }

load()
{
	until [ -e /tmp/load.stop ]; do
		"$@" || { : >/tmp/load.failed && break; }
		echo >>/tmp/load.passes
	done
	: >/tmp/load.ended
}

passes() { wc -l </tmp/load.passes; }
settled() { [ -e /tmp/load.failed ] || [ "$(passes)" -ge "$1" ]; }
load_is_well() { [ ! -e /tmp/load.failed ] || { cat /tmp/load.log; return 1; }; }

# goes_on: a pass has ended well that began after this was called
goes_on() { within settled $(($(passes) + 2)) && load_is_well; }

# load_ends: well; load_fails: it does so by itself, since its disk has gone
load_ends() { : >/tmp/load.stop && within test -e /tmp/load.ended && load_is_well; }
load_fails() { within test -e /tmp/load.ended && [ -e /tmp/load.failed ]; }

# given_up: no connection is left that works
given_up()
{
	rdma resource show qp >/tmp/qps && ! grep 'type RC.*state RTS' /tmp/qps
}

# iscsi_patient: the initiator waits an hour for a target that has gone
iscsi_patient() { put 3600 "$(echo /sys/class/iscsi_session/session*/recovery_tmo)"; }

# port_is_active [PORT]
port_is_active() { [ "$(port_state "$LAB_DEV" "${1:-1}")" = "4: ACTIVE" ]; }

# What lies beside the load, from the beginning to the end. written FILE; kept FILE: it is read from the
# disk, and is what was written
beside="--offset=32M --size=4M --rw=randwrite --bs=16k --verify=crc32c"
# shellcheck disable=SC2086
written() { fio_run written "$1" $beside --verify_fatal=1; }
# shellcheck disable=SC2086
kept() { fio_run kept "$1" $beside --verify_only; }

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours
# Everything by write(): the programs run on a libibverbs that finds no ioctl.
. /lab/src/tools/testing/selftests/rdma/lib.sh
plan 5

preload=$programs/no_ioctl.so

by_write() { env LD_PRELOAD=$preload "$@"; }

ok "ibv_devinfo" by_write sh -c 'ibv_devinfo -v -d "$LAB_DEV" | grep PORT_ACTIVE'
ok "pingpong, polling" pair poll 18515 env LD_PRELOAD=$preload \
	ibv_rc_pingpong -d "$LAB_DEV" -c -n 100
ok "pingpong, events" pair events 18516 env LD_PRELOAD=$preload \
	ibv_rc_pingpong -d "$LAB_DEV" -p 18516 -e -c -n 100
by_write strace -f -e trace=ioctl,write -o /tmp/trace ibv_devinfo -d "$LAB_DEV" >/dev/null
is "no request went by ioctl" 0 "$(grep -c 'ioctl([0-9]*, _IOC(_IOC_READ|_IOC_WRITE, 0x1b' /tmp/trace)"
ok "requests went by write" grep -Eq 'write\([0-9]+, "\\0\\0\\0\\0' /tmp/trace
finish

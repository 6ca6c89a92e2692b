#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours,distro --subnet none --load modules
# check: --core ours
# A port as sysfs shows it from INIT to ACTIVE, on both cores. No subnet manager runs: ibportstate takes the
# port from one state to the next.
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
plan 7

# After the run on the previous core the port is still ACTIVE. ibportstate gives a LID to a port that has
# none: here it has one from the start, on both cores.
bounce() { lab-vhcactl link node1-0:1 down && within state_is "1: DOWN" && lab-vhcactl link node1-0:1 up; }

# goes STATE WORD: ibportstate's command WORD takes the port to STATE
goes() { ibportstate -D 0 1 "$2" >/tmp/goes 2>&1 || cat /tmp/goes; within state_is "$1"; }

modprobe ib_umad
ibportstate -D 0 1 arm >/dev/null 2>&1
ok "the link is lost and there again" bounce
ok "INIT" within state_is "2: INIT"
ok "as Linux 6.12 shows it" as_in_linux init
ok "ARMED" goes "3: ARMED" arm
ok "as Linux 6.12 shows it" as_in_linux armed
ok "ACTIVE" goes "4: ACTIVE" active
ok "as Linux 6.12 shows it" as_in_linux active
finish

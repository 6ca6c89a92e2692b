#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# What make demo runs in three guests with two switches between them, once opensm has made their
# ports ACTIVE: what it found, and traffic by the LIDs that it gave.
. /lab/src/tools/testing/selftests/rdma/lib.sh

rc=0
if [ "$LAB_NODE" = 1 ]; then
	for one in ibnetdiscover saquery sminfo; do
		echo "== $one"
		"$one" || rc=1
	done
	echo "== vhcactl draw"
	lab-vhcactl draw || rc=1
	lab-vhcactl draw svg >"$LAB_OUT/fabric.svg" || rc=1
fi
lab-barrier looked
pair subnet 18515 ibv_rc_pingpong -d "$LAB_DEV" -c || rc=1
exit $rc

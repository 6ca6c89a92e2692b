#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 2 --core ours --iommu
# The adapter behind a virtual IOMMU, where the driver's pages are granted and revoked one by
# one, and through a function level reset.
. /lab/src/tools/testing/selftests/rdma/lib.sh
plan 6

pci=/sys/class/infiniband/$LAB_DEV/device

ok "the adapter's DMA is translated" grep -q DMA "$pci/iommu_group/type"
pair first 18515 ibv_rc_pingpong -d "$LAB_DEV" -c -n 100 -s 65536
is "data arrive" 0 $?
lab-barrier done-first

ok "function level reset" sh -c "echo 1 >$pci/reset"
until [ "$(port_state "$LAB_DEV")" = "4: ACTIVE" ]; do sleep 0.05; done
lab-barrier active
pair second 18515 ibv_rc_pingpong -d "$LAB_DEV" -c -e -n 100 -s 65536
is "and arrive after it, with events" 0 $?
ok "nothing is left behind but what MADs take" sh -c "rdma res show $LAB_DEV | grep 'pd 1 cq 1 qp 2 cm_id 0 mr 0'"
ok "no access went astray" sh -c '! dmesg | grep -E "DMAR:.*(fault|ERROR)"'
finish

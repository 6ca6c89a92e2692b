#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours,distro --hca 2 --ports 2 --cpus 2
# What verbs do, as applications see it, compared with what hardware does.
second=$(cd /sys/class/infiniband && printf '%s\n' * | grep -vx "$LAB_DEV")
exec /lab/src/build/selftests/semantics "$LAB_DEV" "$second"

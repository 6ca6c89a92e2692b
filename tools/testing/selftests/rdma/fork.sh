#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours,distro --cpus 2
# check: --core ours
# A process forks while its memory is registered and its receives are posted, on both cores.
exec /lab/src/build/selftests/fork "$LAB_DEV"

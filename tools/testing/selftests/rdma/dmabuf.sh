#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours,distro
# check: --core ours
# Regions over parts of a DMA buffer, on both cores.
exec /lab/src/build/selftests/dmabuf "$LAB_DEV"

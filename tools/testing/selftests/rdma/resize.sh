#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours --cpus 2
# Completion queues and a shared receive queue are resized while messages pass.
exec /lab/src/build/selftests/resize "$LAB_DEV"

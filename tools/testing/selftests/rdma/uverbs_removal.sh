#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours
# The device is removed while a program uses it, and comes back.
exec /lab/src/build/selftests/uverbs_removal "$LAB_DEV"

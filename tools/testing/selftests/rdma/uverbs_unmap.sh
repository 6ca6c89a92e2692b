#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours --cpus 2
# long: --kernel debug --timeout 1800 -- 30
# The device goes while a program unmaps its pages; an argument says how often.
exec /lab/src/build/selftests/uverbs_unmap "$LAB_DEV" "$@"

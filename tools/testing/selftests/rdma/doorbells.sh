#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lab: --nodes 1 --core ours --device-arg --spin --device-arg 3
# long: --timeout 3600 -- 1000000
# doorbells.sh [MESSAGES]
# No doorbell and no event is lost if the device goes to sleep just when the doorbell is rung: it
# spins for 3 us, about the time that a program takes from a completion to the next message.
. /lab/src/tools/testing/selftests/rdma/lib.sh
exec /lab/src/build/selftests/doorbells "$LAB_DEV" "$@"

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# connect.sh WORD...: what bench/connect starts in a guest that counts instructions; each word is a part
# of guest/connect.c, perhaps with its number behind a colon. The figures land in $LAB_OUT/connect.
set -e
. /lab/src/tools/testing/selftests/rdma/lib.sh
. /lab/src/tools/testing/selftests/rdma/subnet.sh
. /lab/src/tools/testing/selftests/rdma/connections.sh

gcc -O2 -Wall -Wextra -Werror -o /tmp/connect /lab/src/tools/testing/bench/guest/connect.c -lrdmacm -libverbs
connections_up
ulimit -l unlimited
: >"$LAB_OUT/connect"
for word in "$@"; do
	IFS=: read -r part many <<<"$word"
	/tmp/connect "$own4" "$part" $many >>"$LAB_OUT/connect"
done
cat "$LAB_OUT/connect"

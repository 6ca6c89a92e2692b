#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# control.sh [flat]: what bench/control starts in a guest that counts instructions; the
# figures land in $LAB_OUT/control.
set -e
gcc -O2 -Wall -Wextra -Werror -o /tmp/control /lab/src/tools/testing/bench/guest/control.c -libverbs
/tmp/control "$@" >"$LAB_OUT/control"
cat "$LAB_OUT/control"

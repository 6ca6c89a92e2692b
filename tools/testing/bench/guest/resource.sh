#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# resource.sh FEW MANY: what bench/resource starts in a guest that counts instructions; the figures
# land in $LAB_OUT/resource.
set -e
gcc -O2 -Wall -Wextra -Werror -o /tmp/resource /lab/src/tools/testing/bench/guest/resource.c -libverbs
/tmp/resource "$@" >"$LAB_OUT/resource"
cat "$LAB_OUT/resource"

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# other_release_test.sh PROGRAM: a program with the provider in it and a
# libibverbs that is not the right release (the program itself) says so in one
# line and registers nothing.
set -eu

err=$("$1" 2>&1 >/dev/null) || { echo "not ok 1 - $1 failed: $err"; exit 1; }
case $err in
"libvhca: built for libibverbs of rdma-core "*", found /"*": vhca devices are not available") ;;
*) echo "not ok 1 - unexpected message: $err"; exit 1 ;;
esac
[ "$(echo "$err" | wc -l)" = 1 ] || { echo "not ok 1 - more than one line"; exit 1; }
echo "ok 1 - another release is refused: $err"

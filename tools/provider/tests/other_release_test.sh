#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# other_release_test.sh PROGRAM: PROGRAM contains the provider and is its own libibverbs, whose release the
# provider knows by the end of the file's name. Under names of other releases it prints one line and
# registers nothing; under the right name it registers (exit status 1) and prints nothing.
set -eu

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
number=0

result() {
	number=$((number + 1))
	if [ "$2" = "$3" ]; then
		echo "ok $number - $1"
	else
		echo "not ok $number - $1: expected '$3', came '$2'"
		exit 1
	fi
}

status=0
err=$("$1" 2>&1 >/dev/null) || status=$?
release=${err#libvhca: built for libibverbs of rdma-core }
release=${release%%,*}
says="libvhca: built for libibverbs of rdma-core $release, found"
result "another release is refused" "$status $err" \
	"0 $says $(readlink -f "$1"): vhca devices are not available"

for name in "lib.so.1$release" "lib.so.$release.1" ".$release" "$release"; do
	cp "$1" "$dir/$name"
	status=0
	err=$("$dir/$name" 2>&1 >/dev/null) || status=$?
	result "so is $name" "$status $err" "0 $says $dir/$name: vhca devices are not available"
done

cp "$1" "$dir/lib.so.1.14.$release"
status=0
err=$("$dir/lib.so.1.14.$release" 2>&1 >/dev/null) || status=$?
result "the right one is served" "$status $err" "1 "

# what counts is the file's own name, as libraries are found by links
ln -s "lib.so.1.14.$release" "$dir/lib.so.1"
status=0
err=$("$dir/lib.so.1" 2>&1 >/dev/null) || status=$?
result "also by a link" "$status $err" "1 "

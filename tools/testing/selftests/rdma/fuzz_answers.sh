# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# What the fuzzer's programs have done: sourced behind lib.sh.
# shellcheck shell=bash

# succeeded CALL LEAST: at least LEAST of these calls have succeeded
succeeded()
{
	local found
	found=$(awk -v call="sys:$1" '$1 == call { print $3 }' "$LAB_OUT/answers")
	echo "$1: ${found:-no} calls, at least $2 are expected"
	[ "${found:-0}" -ge "$2" ]
}

# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Sourced by the tests of what memory a request may reach.
# shellcheck shell=bash disable=SC2034
memory_plan=6

memory_objects() { rdma resource show | sed 's/ \(ctx\|cm_id\) [0-9]*//g'; }

memory_checks()
{
	local here=/lab/src/tools/testing/selftests/rdma name before

	for name in inline_sizes memory_faults; do
		ok "$name compiles" gcc -O1 -Wall -Wextra -Werror -o /tmp/$name $here/$name.c -libverbs
	done
	before=$(memory_objects)
	ok "inline data of every length" /tmp/inline_sizes "$LAB_DEV"
	ok "requests that reach for the wrong memory" /tmp/memory_faults "$LAB_DEV"
	is "no object is left" "$before" "$(memory_objects)"
	ok "nor a key in the device" sh -c "! lab-vhcactl keys node1-0 | grep -E ' (list|mw[12]) '"
}

# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Errors that a root port reports of the device below it: sourced behind lib.sh; aer_inject is loaded.
# shellcheck shell=bash

# bytes NUMBER: its four bytes as printf takes them, the lowest first
bytes()
{
	local i
	for i in 0 8 16 24; do printf '\\x%02x' $(($1 >> i & 255)); done
}

# report SLOT UNCORRECTABLE CORRECTABLE: the port receives a message of these errors (bits of the
# capability's status registers) from the adapter in SLOT. The driver takes 28 bytes: bus, device,
# function, both masks, and the head of the packet.
report()
{
	local at
	at=$(printf '\\x%02x\\x%02x\\x%02x\\x00' "$((16#${1:5:2}))" "$((16#${1:8:2}))" "${1:11:1}")
	# shellcheck disable=SC2059
	printf "$at$(bytes "$2")$(bytes "$3")$(bytes 0)$(bytes 0)$(bytes 0)$(bytes 0)" |
		dd of=/dev/aer_inject bs=28 count=1 status=none
}

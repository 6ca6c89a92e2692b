// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Names of opcodes: those of enum wire_opcode without their prefix.
 */
#include <stdio.h>
#include <string.h>

#include "wire/opcode.h"

/* What all services call the lower five bits. */
static const char *const names[32] = {
	"SEND_FIRST", "SEND_MIDDLE", "SEND_LAST", "SEND_LAST_IMM", "SEND_ONLY", "SEND_ONLY_IMM",
	"WRITE_FIRST", "WRITE_MIDDLE", "WRITE_LAST", "WRITE_LAST_IMM", "WRITE_ONLY",
	"WRITE_ONLY_IMM", "READ_REQ", "READ_RESP_FIRST", "READ_RESP_MIDDLE", "READ_RESP_LAST",
	"READ_RESP_ONLY", "ACK", "ATOMIC_ACK", "CMP_SWAP", "FETCH_ADD",
	[0x16] = "SEND_LAST_INV", "SEND_ONLY_INV",
	[0x1c] = "FLUSH", "ATOMIC_WRITE",
};

static const char *service(u8 opcode)
{
	switch (opcode & WIRE_SERVICE_MASK) {
	case WIRE_RC:
		return "RC";
	case WIRE_UC:
		return "UC";
	case WIRE_UD:
		return "UD";
	case WIRE_XRC:
		return "XRC";
	default:
		return "OWN_MASKED";
	}
}

const char *wire_name(u8 opcode, char *buf)
{
	if (wire_op(opcode)->kind == WIRE_NONE)
		snprintf(buf, WIRE_NAME_MAX, "0x%02x", opcode);
	else
		snprintf(buf, WIRE_NAME_MAX, "%s_%s", service(opcode), names[opcode & 0x1f]);
	return buf;
}

const char *wire_kind_name(u8 kind)
{
	static const char *const kinds[] = {
		"?", "SEND", "WRITE", "READ_REQ", "READ_RESP", "ACK", "CMP_SWAP", "FETCH_ADD",
		"MASKED_CMP_SWAP", "MASKED_FETCH_ADD", "ATOMIC_ACK", "ATOMIC_WRITE", "FLUSH",
	};

	return kinds[kind < ARRAY_SIZE(kinds) ? kind : 0];
}

u32 wire_named(const char *words, u64 opcodes[4])
{
	char name[WIRE_NAME_MAX], all[WIRE_NAME_MAX + 2], sought[WIRE_NAME_MAX + 2];
	u32 n = 0;

	memset(opcodes, 0, 4 * sizeof(*opcodes));
	if (!*words || strlen(words) >= WIRE_NAME_MAX)
		return 0;
	snprintf(sought, sizeof(sought), "_%s_", words);
	for (u32 op = 0; op < 256; op++) {
		if (wire_op(op)->kind == WIRE_NONE)
			continue;
		snprintf(all, sizeof(all), "_%s_", wire_name(op, name));
		if (!strstr(all, sought))
			continue;
		opcodes[op / 64] |= 1ull << (op % 64);
		n++;
	}
	return n;
}

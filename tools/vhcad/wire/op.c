// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The table of opcodes and the way back from it.
 */
#include "wire/wire.h"

#define F	WIRE_F_FIRST
#define L	WIRE_F_LAST
#define R	WIRE_F_RETH
#define A	WIRE_F_AETH
#define I	WIRE_F_IMM
#define D	WIRE_F_DATA
#define E	WIRE_F_DETH

static const struct wire_op ops[256] = {
	[OP_RC_SEND_FIRST]	= { WIRE_SEND, F | D },
	[OP_RC_SEND_MIDDLE]	= { WIRE_SEND, D },
	[OP_RC_SEND_LAST]	= { WIRE_SEND, L | D },
	[OP_RC_SEND_LAST_IMM]	= { WIRE_SEND, L | I | D },
	[OP_RC_SEND_ONLY]	= { WIRE_SEND, F | L | D },
	[OP_RC_SEND_ONLY_IMM]	= { WIRE_SEND, F | L | I | D },
	[OP_RC_WRITE_FIRST]	= { WIRE_WRITE, F | R | D },
	[OP_RC_WRITE_MIDDLE]	= { WIRE_WRITE, D },
	[OP_RC_WRITE_LAST]	= { WIRE_WRITE, L | D },
	[OP_RC_WRITE_LAST_IMM]	= { WIRE_WRITE, L | I | D },
	[OP_RC_WRITE_ONLY]	= { WIRE_WRITE, F | L | R | D },
	[OP_RC_WRITE_ONLY_IMM]	= { WIRE_WRITE, F | L | R | I | D },
	[OP_RC_READ_REQ]	= { WIRE_READ_REQ, F | L | R },
	[OP_RC_READ_RESP_FIRST]	= { WIRE_READ_RESP, F | A | D },
	[OP_RC_READ_RESP_MIDDLE] = { WIRE_READ_RESP, D },
	[OP_RC_READ_RESP_LAST]	= { WIRE_READ_RESP, L | A | D },
	[OP_RC_READ_RESP_ONLY]	= { WIRE_READ_RESP, F | L | A | D },
	[OP_RC_ACK]		= { WIRE_ACK, F | L | A },

	[OP_UC_SEND_FIRST]	= { WIRE_SEND, F | D },
	[OP_UC_SEND_MIDDLE]	= { WIRE_SEND, D },
	[OP_UC_SEND_LAST]	= { WIRE_SEND, L | D },
	[OP_UC_SEND_LAST_IMM]	= { WIRE_SEND, L | I | D },
	[OP_UC_SEND_ONLY]	= { WIRE_SEND, F | L | D },
	[OP_UC_SEND_ONLY_IMM]	= { WIRE_SEND, F | L | I | D },
	[OP_UC_WRITE_FIRST]	= { WIRE_WRITE, F | R | D },
	[OP_UC_WRITE_MIDDLE]	= { WIRE_WRITE, D },
	[OP_UC_WRITE_LAST]	= { WIRE_WRITE, L | D },
	[OP_UC_WRITE_LAST_IMM]	= { WIRE_WRITE, L | I | D },
	[OP_UC_WRITE_ONLY]	= { WIRE_WRITE, F | L | R | D },
	[OP_UC_WRITE_ONLY_IMM]	= { WIRE_WRITE, F | L | R | I | D },

	[OP_UD_SEND_ONLY]	= { WIRE_SEND, F | L | E | D },
	[OP_UD_SEND_ONLY_IMM]	= { WIRE_SEND, F | L | E | I | D },
};

const struct wire_op *wire_op(u8 opcode)
{
	return &ops[opcode];
}

/* First, middle, last, last with immediate, only, only with immediate. */
static const u8 send_ops[] = {
	OP_RC_SEND_FIRST, OP_RC_SEND_MIDDLE, OP_RC_SEND_LAST,
	OP_RC_SEND_LAST_IMM, OP_RC_SEND_ONLY, OP_RC_SEND_ONLY_IMM,
};

static const u8 write_ops[] = {
	OP_RC_WRITE_FIRST, OP_RC_WRITE_MIDDLE, OP_RC_WRITE_LAST,
	OP_RC_WRITE_LAST_IMM, OP_RC_WRITE_ONLY, OP_RC_WRITE_ONLY_IMM,
};

static const u8 resp_ops[] = {
	OP_RC_READ_RESP_FIRST, OP_RC_READ_RESP_MIDDLE, OP_RC_READ_RESP_LAST,
	OP_RC_READ_RESP_LAST, OP_RC_READ_RESP_ONLY, OP_RC_READ_RESP_ONLY,
};

static u8 place_in_message(u8 kind, bool first, bool last, bool imm)
{
	u32 place = last ? (first ? 4 : 2) + imm : !first;

	switch (kind) {
	case WIRE_SEND:
		return send_ops[place];
	case WIRE_WRITE:
		return write_ops[place];
	case WIRE_READ_RESP:
		return resp_ops[place];
	case WIRE_READ_REQ:
		return OP_RC_READ_REQ;
	default:
		return OP_RC_ACK;
	}
}

u8 wire_opcode(u8 service, u8 kind, bool first, bool last, bool imm)
{
	return service | place_in_message(kind, first, last, imm);
}

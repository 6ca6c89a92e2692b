// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The table of opcodes and the way back from it.
 */
#include "wire/opcode.h"

#define F	WIRE_F_FIRST
#define L	WIRE_F_LAST
#define R	WIRE_F_RETH
#define A	WIRE_F_AETH
#define I	WIRE_F_IMM
#define D	WIRE_F_DATA
#define E	WIRE_F_DETH
#define V	WIRE_F_INV
#define H	WIRE_F_FETH
#define T	WIRE_F_ATOMIC
#define M	WIRE_F_MASKS
#define O	WIRE_F_ORIG
#define X	WIRE_F_XRC

/* Bytes of the headers behind the BTH that go with a flag. */
#define LEN(f, flag, len)	((f) & WIRE_F_##flag ? WIRE_##len##_LEN : 0)
#define OP(name, f)	{ \
	.kind = name, \
	.flags = f, \
	.ext_len = LEN(f, DETH, DETH) + LEN(f, XRC, XRCETH) + LEN(f, FETH, FETH) + \
		   LEN(f, RETH, RETH) + LEN(f, AETH, AETH) + LEN(f, IMM, IMM) + \
		   LEN(f, ATOMIC, ATOMIC) + LEN(f, MASKS, MASKS) + LEN(f, ORIG, ORIG) + \
		   LEN(f, INV, IETH), \
}

static const struct wire_op ops[256] = {
	[OP_RC_SEND_FIRST]	= OP(WIRE_SEND, F | D),
	[OP_RC_SEND_MIDDLE]	= OP(WIRE_SEND, D),
	[OP_RC_SEND_LAST]	= OP(WIRE_SEND, L | D),
	[OP_RC_SEND_LAST_IMM]	= OP(WIRE_SEND, L | I | D),
	[OP_RC_SEND_ONLY]	= OP(WIRE_SEND, F | L | D),
	[OP_RC_SEND_ONLY_IMM]	= OP(WIRE_SEND, F | L | I | D),
	[OP_RC_WRITE_FIRST]	= OP(WIRE_WRITE, F | R | D),
	[OP_RC_WRITE_MIDDLE]	= OP(WIRE_WRITE, D),
	[OP_RC_WRITE_LAST]	= OP(WIRE_WRITE, L | D),
	[OP_RC_WRITE_LAST_IMM]	= OP(WIRE_WRITE, L | I | D),
	[OP_RC_WRITE_ONLY]	= OP(WIRE_WRITE, F | L | R | D),
	[OP_RC_WRITE_ONLY_IMM]	= OP(WIRE_WRITE, F | L | R | I | D),
	[OP_RC_READ_REQ]	= OP(WIRE_READ_REQ, F | L | R),
	[OP_RC_READ_RESP_FIRST]	= OP(WIRE_READ_RESP, F | A | D),
	[OP_RC_READ_RESP_MIDDLE] = OP(WIRE_READ_RESP, D),
	[OP_RC_READ_RESP_LAST]	= OP(WIRE_READ_RESP, L | A | D),
	[OP_RC_READ_RESP_ONLY]	= OP(WIRE_READ_RESP, F | L | A | D),
	[OP_RC_ACK]		= OP(WIRE_ACK, F | L | A),
	[OP_RC_ATOMIC_ACK]	= OP(WIRE_ATOMIC_ACK, F | L | A | O),
	[OP_RC_CMP_SWAP]	= OP(WIRE_CMP_SWAP, F | L | T),
	[OP_RC_FETCH_ADD]	= OP(WIRE_FETCH_ADD, F | L | T),
	[OP_RC_SEND_LAST_INV]	= OP(WIRE_SEND, L | V | D),
	[OP_RC_SEND_ONLY_INV]	= OP(WIRE_SEND, F | L | V | D),
	[OP_RC_FLUSH]		= OP(WIRE_FLUSH, F | L | H | R),
	[OP_RC_ATOMIC_WRITE]	= OP(WIRE_ATOMIC_WRITE, F | L | R | D),

	[OP_UC_SEND_FIRST]	= OP(WIRE_SEND, F | D),
	[OP_UC_SEND_MIDDLE]	= OP(WIRE_SEND, D),
	[OP_UC_SEND_LAST]	= OP(WIRE_SEND, L | D),
	[OP_UC_SEND_LAST_IMM]	= OP(WIRE_SEND, L | I | D),
	[OP_UC_SEND_ONLY]	= OP(WIRE_SEND, F | L | D),
	[OP_UC_SEND_ONLY_IMM]	= OP(WIRE_SEND, F | L | I | D),
	[OP_UC_WRITE_FIRST]	= OP(WIRE_WRITE, F | R | D),
	[OP_UC_WRITE_MIDDLE]	= OP(WIRE_WRITE, D),
	[OP_UC_WRITE_LAST]	= OP(WIRE_WRITE, L | D),
	[OP_UC_WRITE_LAST_IMM]	= OP(WIRE_WRITE, L | I | D),
	[OP_UC_WRITE_ONLY]	= OP(WIRE_WRITE, F | L | R | D),
	[OP_UC_WRITE_ONLY_IMM]	= OP(WIRE_WRITE, F | L | R | I | D),

	[OP_UD_SEND_ONLY]	= OP(WIRE_SEND, F | L | E | D),
	[OP_UD_SEND_ONLY_IMM]	= OP(WIRE_SEND, F | L | E | I | D),

	[OP_XRC_SEND_FIRST]	= OP(WIRE_SEND, F | X | D),
	[OP_XRC_SEND_MIDDLE]	= OP(WIRE_SEND, X | D),
	[OP_XRC_SEND_LAST]	= OP(WIRE_SEND, L | X | D),
	[OP_XRC_SEND_LAST_IMM]	= OP(WIRE_SEND, L | X | I | D),
	[OP_XRC_SEND_ONLY]	= OP(WIRE_SEND, F | L | X | D),
	[OP_XRC_SEND_ONLY_IMM]	= OP(WIRE_SEND, F | L | X | I | D),
	[OP_XRC_WRITE_FIRST]	= OP(WIRE_WRITE, F | X | R | D),
	[OP_XRC_WRITE_MIDDLE]	= OP(WIRE_WRITE, X | D),
	[OP_XRC_WRITE_LAST]	= OP(WIRE_WRITE, L | X | D),
	[OP_XRC_WRITE_LAST_IMM]	= OP(WIRE_WRITE, L | X | I | D),
	[OP_XRC_WRITE_ONLY]	= OP(WIRE_WRITE, F | L | X | R | D),
	[OP_XRC_WRITE_ONLY_IMM]	= OP(WIRE_WRITE, F | L | X | R | I | D),
	[OP_XRC_READ_REQ]	= OP(WIRE_READ_REQ, F | L | X | R),
	[OP_XRC_READ_RESP_FIRST] = OP(WIRE_READ_RESP, F | A | D),
	[OP_XRC_READ_RESP_MIDDLE] = OP(WIRE_READ_RESP, D),
	[OP_XRC_READ_RESP_LAST]	= OP(WIRE_READ_RESP, L | A | D),
	[OP_XRC_READ_RESP_ONLY]	= OP(WIRE_READ_RESP, F | L | A | D),
	[OP_XRC_ACK]		= OP(WIRE_ACK, F | L | A),
	[OP_XRC_ATOMIC_ACK]	= OP(WIRE_ATOMIC_ACK, F | L | A | O),
	[OP_XRC_CMP_SWAP]	= OP(WIRE_CMP_SWAP, F | L | X | T),
	[OP_XRC_FETCH_ADD]	= OP(WIRE_FETCH_ADD, F | L | X | T),
	[OP_XRC_SEND_LAST_INV]	= OP(WIRE_SEND, L | X | V | D),
	[OP_XRC_SEND_ONLY_INV]	= OP(WIRE_SEND, F | L | X | V | D),

	[OP_OWN_MASKED_CMP_SWAP]  = OP(WIRE_MASKED_CMP_SWAP, F | L | T | M),
	[OP_OWN_MASKED_FETCH_ADD] = OP(WIRE_MASKED_FETCH_ADD, F | L | T | M),
};

const struct wire_op *wire_op(u8 opcode)
{
	return &ops[opcode];
}

/* First, middle; last with each tail; only with each tail. */
static const u8 send_ops[] = {
	OP_RC_SEND_FIRST, OP_RC_SEND_MIDDLE,
	OP_RC_SEND_LAST, OP_RC_SEND_LAST_IMM, OP_RC_SEND_LAST_INV,
	OP_RC_SEND_ONLY, OP_RC_SEND_ONLY_IMM, OP_RC_SEND_ONLY_INV,
};

static const u8 write_ops[] = {
	OP_RC_WRITE_FIRST, OP_RC_WRITE_MIDDLE,
	OP_RC_WRITE_LAST, OP_RC_WRITE_LAST_IMM, OP_RC_WRITE_LAST,
	OP_RC_WRITE_ONLY, OP_RC_WRITE_ONLY_IMM, OP_RC_WRITE_ONLY,
};

static const u8 resp_ops[] = {
	OP_RC_READ_RESP_FIRST, OP_RC_READ_RESP_MIDDLE,
	OP_RC_READ_RESP_LAST, OP_RC_READ_RESP_LAST, OP_RC_READ_RESP_LAST,
	OP_RC_READ_RESP_ONLY, OP_RC_READ_RESP_ONLY, OP_RC_READ_RESP_ONLY,
};

/* Messages of one packet, and no choice. */
static const u8 single_op[] = {
	[WIRE_READ_REQ]		= OP_RC_READ_REQ,
	[WIRE_ACK]		= OP_RC_ACK,
	[WIRE_CMP_SWAP]		= OP_RC_CMP_SWAP,
	[WIRE_FETCH_ADD]	= OP_RC_FETCH_ADD,
	[WIRE_MASKED_CMP_SWAP]	= OP_OWN_MASKED_CMP_SWAP,
	[WIRE_MASKED_FETCH_ADD]	= OP_OWN_MASKED_FETCH_ADD,
	[WIRE_ATOMIC_ACK]	= OP_RC_ATOMIC_ACK,
	[WIRE_ATOMIC_WRITE]	= OP_RC_ATOMIC_WRITE,
	[WIRE_FLUSH]		= OP_RC_FLUSH,
};

static u8 place_in_message(u8 kind, bool first, bool last, u8 tail)
{
	u32 place = last ? (first ? 5 : 2) + tail : !first;

	switch (kind) {
	case WIRE_SEND:
		return send_ops[place];
	case WIRE_WRITE:
		return write_ops[place];
	case WIRE_READ_RESP:
		return resp_ops[place];
	default:
		return single_op[kind];
	}
}

u8 wire_opcode(u8 service, u8 kind, bool first, bool last, u8 tail)
{
	return service | place_in_message(kind, first, last, tail);
}

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Opcodes of the BTH: what they mean, and what they are called.
 */
#ifndef VHCAD_WIRE_OPCODE_H
#define VHCAD_WIRE_OPCODE_H

#include "lib/types.h"

/* Bytes of the headers behind a BTH. */
#define WIRE_DETH_LEN	8u
#define WIRE_XRCETH_LEN	4u
#define WIRE_RETH_LEN	16u
#define WIRE_AETH_LEN	4u
#define WIRE_IMM_LEN	4u
#define WIRE_IETH_LEN	4u
#define WIRE_FETH_LEN	4u
#define WIRE_ATOMIC_LEN	28u	/* AtomicETH */
#define WIRE_MASKS_LEN	16u	/* our own, behind an AtomicETH */
#define WIRE_ORIG_LEN	8u	/* AtomicAckETH */

/*
 * The transport service stands in the upper three bits of an opcode.  110 and
 * 111 are left to manufacturers: ours are operations of reliable connections.
 */
#define WIRE_SERVICE_MASK	0xe0u
#define WIRE_OWN		0xc0u

enum wire_service {
	WIRE_RC		= 0x00,
	WIRE_UC		= 0x20,
	WIRE_UD		= 0x60,
	WIRE_XRC	= 0xa0,
};

/* BTH opcodes.  Those of all services agree in the lower five bits. */
enum wire_opcode {
	OP_RC_SEND_FIRST	= 0x00,
	OP_RC_SEND_MIDDLE	= 0x01,
	OP_RC_SEND_LAST		= 0x02,
	OP_RC_SEND_LAST_IMM	= 0x03,
	OP_RC_SEND_ONLY		= 0x04,
	OP_RC_SEND_ONLY_IMM	= 0x05,
	OP_RC_WRITE_FIRST	= 0x06,
	OP_RC_WRITE_MIDDLE	= 0x07,
	OP_RC_WRITE_LAST	= 0x08,
	OP_RC_WRITE_LAST_IMM	= 0x09,
	OP_RC_WRITE_ONLY	= 0x0a,
	OP_RC_WRITE_ONLY_IMM	= 0x0b,
	OP_RC_READ_REQ		= 0x0c,
	OP_RC_READ_RESP_FIRST	= 0x0d,
	OP_RC_READ_RESP_MIDDLE	= 0x0e,
	OP_RC_READ_RESP_LAST	= 0x0f,
	OP_RC_READ_RESP_ONLY	= 0x10,
	OP_RC_ACK		= 0x11,
	OP_RC_ATOMIC_ACK	= 0x12,
	OP_RC_CMP_SWAP		= 0x13,
	OP_RC_FETCH_ADD		= 0x14,
	OP_RC_SEND_LAST_INV	= 0x16,
	OP_RC_SEND_ONLY_INV	= 0x17,
	OP_RC_FLUSH		= 0x1c,
	OP_RC_ATOMIC_WRITE	= 0x1d,

	OP_UC_SEND_FIRST	= 0x20,
	OP_UC_SEND_MIDDLE	= 0x21,
	OP_UC_SEND_LAST		= 0x22,
	OP_UC_SEND_LAST_IMM	= 0x23,
	OP_UC_SEND_ONLY		= 0x24,
	OP_UC_SEND_ONLY_IMM	= 0x25,
	OP_UC_WRITE_FIRST	= 0x26,
	OP_UC_WRITE_MIDDLE	= 0x27,
	OP_UC_WRITE_LAST	= 0x28,
	OP_UC_WRITE_LAST_IMM	= 0x29,
	OP_UC_WRITE_ONLY	= 0x2a,
	OP_UC_WRITE_ONLY_IMM	= 0x2b,

	OP_UD_SEND_ONLY		= 0x64,
	OP_UD_SEND_ONLY_IMM	= 0x65,

	OP_XRC_SEND_FIRST	= 0xa0,
	OP_XRC_SEND_MIDDLE	= 0xa1,
	OP_XRC_SEND_LAST	= 0xa2,
	OP_XRC_SEND_LAST_IMM	= 0xa3,
	OP_XRC_SEND_ONLY	= 0xa4,
	OP_XRC_SEND_ONLY_IMM	= 0xa5,
	OP_XRC_WRITE_FIRST	= 0xa6,
	OP_XRC_WRITE_MIDDLE	= 0xa7,
	OP_XRC_WRITE_LAST	= 0xa8,
	OP_XRC_WRITE_LAST_IMM	= 0xa9,
	OP_XRC_WRITE_ONLY	= 0xaa,
	OP_XRC_WRITE_ONLY_IMM	= 0xab,
	OP_XRC_READ_REQ		= 0xac,
	OP_XRC_READ_RESP_FIRST	= 0xad,
	OP_XRC_READ_RESP_MIDDLE	= 0xae,
	OP_XRC_READ_RESP_LAST	= 0xaf,
	OP_XRC_READ_RESP_ONLY	= 0xb0,
	OP_XRC_ACK		= 0xb1,
	OP_XRC_ATOMIC_ACK	= 0xb2,
	OP_XRC_CMP_SWAP		= 0xb3,
	OP_XRC_FETCH_ADD	= 0xb4,
	OP_XRC_SEND_LAST_INV	= 0xb6,
	OP_XRC_SEND_ONLY_INV	= 0xb7,

	OP_OWN_MASKED_CMP_SWAP	= 0xd3,
	OP_OWN_MASKED_FETCH_ADD	= 0xd4,
};

/* What a message does; opcodes add where in the message a packet stands. */
enum wire_kind {
	WIRE_NONE,		/* no such opcode */
	WIRE_SEND,
	WIRE_WRITE,
	WIRE_READ_REQ,
	WIRE_READ_RESP,
	WIRE_ACK,
	WIRE_CMP_SWAP,
	WIRE_FETCH_ADD,
	WIRE_MASKED_CMP_SWAP,
	WIRE_MASKED_FETCH_ADD,
	WIRE_ATOMIC_ACK,
	WIRE_ATOMIC_WRITE,
	WIRE_FLUSH,
};

/* Properties of an opcode. */
#define WIRE_F_FIRST	(1u << 0)
#define WIRE_F_LAST	(1u << 1)
#define WIRE_F_RETH	(1u << 2)
#define WIRE_F_AETH	(1u << 3)
#define WIRE_F_IMM	(1u << 4)
#define WIRE_F_DATA	(1u << 5)	/* may carry payload */
#define WIRE_F_DETH	(1u << 6)
#define WIRE_F_INV	(1u << 7)	/* invalidates a key of the receiver: IETH */
#define WIRE_F_FETH	(1u << 8)
#define WIRE_F_ATOMIC	(1u << 9)	/* AtomicETH */
#define WIRE_F_MASKS	(1u << 10)	/* masks behind it */
#define WIRE_F_ORIG	(1u << 11)	/* AtomicAckETH */
#define WIRE_F_XRC	(1u << 12)	/* names an SRQ of the receiver: XRCETH */

struct wire_op {
	u8 kind;		/* enum wire_kind */
	u8 ext_len;		/* bytes of headers behind the BTH */
	u16 flags;		/* WIRE_F_* */
};

/**
 * wire_op() - look an opcode up
 * @opcode: BTH opcode
 */
const struct wire_op *wire_op(u8 opcode);

/* Room for the name of an opcode, and its end. */
#define WIRE_NAME_MAX	32u

/**
 * wire_name() - what an opcode is called
 * @opcode: BTH opcode
 * @buf: WIRE_NAME_MAX bytes for it
 *
 * The name in enum wire_opcode without its prefix ("RC_SEND_ONLY"); "0xNN" if there is no such
 * opcode.  Returns @buf.
 */
const char *wire_name(u8 opcode, char *buf);

/** wire_kind_name() - what an enum wire_kind is called; "?" if there is no such kind */
const char *wire_kind_name(u8 kind);

/**
 * wire_named() - opcodes by a part of their names
 * @words: whole words of it, in their order: "RC_SEND", "ACK", "UD"
 * @opcodes: a bit for each opcode that has them
 *
 * Returns how many there are.
 */
u32 wire_named(const char *words, u64 opcodes[4]);

/** wire_service() - enum wire_service of an opcode */
static inline u8 wire_service(u8 opcode)
{
	u8 s = opcode & WIRE_SERVICE_MASK;

	return s == WIRE_OWN ? WIRE_RC : s;
}

/** wire_is_atomic() - is it a request that an Atomic Acknowledge answers? */
static inline bool wire_is_atomic(u8 kind)
{
	return kind >= WIRE_CMP_SWAP && kind <= WIRE_MASKED_FETCH_ADD;
}

/* What a message ends with. */
enum wire_tail {
	TAIL_NONE,
	TAIL_IMM,		/* immediate data */
	TAIL_INV,		/* a key to invalidate; SEND alone */
};

/**
 * wire_opcode() - the opcode of one packet of a message
 * @service: enum wire_service
 * @kind: enum wire_kind, one that the service has
 * @first: it is the first packet of the message
 * @last: it is the last packet
 * @tail: enum wire_tail, one that the kind has
 */
u8 wire_opcode(u8 service, u8 kind, bool first, bool last, u8 tail);

#endif /* VHCAD_WIRE_OPCODE_H */

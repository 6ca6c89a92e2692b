// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * BTH and extended headers to bytes and back.
 */
#include <string.h>

#include "lib/bytes.h"
#include "wire/transport.h"

/* Headers that only one-sided operations, and what goes with them, have. */
#define ONE_SIDED	(WIRE_F_INV | WIRE_F_FETH | WIRE_F_ATOMIC | WIRE_F_MASKS | WIRE_F_ORIG)

/* A FETH: four bits of what, two of how much, the rest is reserved. */
#define FETH_TYPE_MASK		0x0fu
#define FETH_LEVEL_SHIFT	4u
#define FETH_LEVEL_MASK		0x03u

/* The FETH is the one of them that stands before a RETH. */
static u8 *put_feth(const struct wire_hdr *h, u8 *p)
{
	put_be32(p, (u32)h->flush_level << FETH_LEVEL_SHIFT | h->flush_type);
	return p + WIRE_FETH_LEN;
}

static void put_one_sided(const struct wire_hdr *h, u16 f, u8 *p)
{
	if (f & WIRE_F_ATOMIC) {
		put_be64(p, h->va);
		put_be32(p + 8, h->rkey);
		put_be64(p + 12, h->swap_add);
		put_be64(p + 20, h->compare);
		p += WIRE_ATOMIC_LEN;
	}
	if (f & WIRE_F_MASKS) {
		put_be64(p, h->mask);
		put_be64(p + 8, h->compare_mask);
		p += WIRE_MASKS_LEN;
	}
	if (f & WIRE_F_ORIG)
		put_be64(p, h->orig);
	if (f & WIRE_F_INV)
		put_be32(p, h->inv_key);
}

void transport_put(const struct wire_hdr *h, u32 pad, u8 *buf)
{
	u16 f = wire_op(h->opcode)->flags;
	u8 *p = buf;

	p[0] = h->opcode;
	p[1] = h->se << 7 | h->mig << 6 | pad << 4;
	put_be16(p + 2, h->pkey);
	p[4] = 0;
	put_be24(p + 5, h->dqpn);
	p[8] = h->ackreq << 7;
	put_be24(p + 9, h->psn);
	p += WIRE_BTH_LEN;

	if (f & WIRE_F_DETH) {
		put_be32(p, h->qkey);
		p[4] = 0;
		put_be24(p + 5, h->sqpn);
		p += WIRE_DETH_LEN;
	}
	if (f & WIRE_F_XRC) {
		put_be32(p, h->srqn);
		p += WIRE_XRCETH_LEN;
	}
	if (f & WIRE_F_FETH)
		p = put_feth(h, p);
	if (f & WIRE_F_RETH) {
		put_be64(p, h->va);
		put_be32(p + 8, h->rkey);
		put_be32(p + 12, h->dmalen);
		p += WIRE_RETH_LEN;
	}
	if (f & WIRE_F_AETH) {
		p[0] = h->syndrome;
		put_be24(p + 1, h->msn);
		p += WIRE_AETH_LEN;
	}
	if (f & WIRE_F_IMM) {
		memcpy(p, &h->imm, 4);
		p += WIRE_IMM_LEN;
	}
	if (f & ONE_SIDED)
		put_one_sided(h, f, p);
}

static void parse_one_sided(const u8 *p, u16 f, struct wire_hdr *h)
{
	if (f & WIRE_F_ATOMIC) {
		h->va = get_be64(p);
		h->rkey = get_be32(p + 8);
		h->swap_add = get_be64(p + 12);
		h->compare = get_be64(p + 20);
		p += WIRE_ATOMIC_LEN;
	}
	if (f & WIRE_F_MASKS) {
		h->mask = get_be64(p);
		h->compare_mask = get_be64(p + 8);
		p += WIRE_MASKS_LEN;
	}
	if (f & WIRE_F_ORIG)
		h->orig = get_be64(p);
	if (f & WIRE_F_INV)
		h->inv_key = get_be32(p);
}

int transport_parse(const u8 *buf, u32 len, struct wire_hdr *h, u32 *pad)
{
	const u8 *p = buf;
	u16 f;

	if (len < WIRE_BTH_LEN)
		return WIRE_SHORT;
	h->opcode = p[0];
	h->se = p[1] >> 7;
	h->mig = p[1] >> 6 & 1;
	*pad = p[1] >> 4 & 3;
	if (p[1] & 0xf || wire_op(h->opcode)->kind == WIRE_NONE)
		return WIRE_BAD_HEADER;
	h->pkey = get_be16(p + 2);
	h->dqpn = get_be24(p + 5);
	h->ackreq = p[8] >> 7;
	h->psn = get_be24(p + 9);
	p += WIRE_BTH_LEN;

	f = wire_op(h->opcode)->flags;
	if (transport_len(h->opcode) + *pad > len)
		return WIRE_SHORT;
	if (f & WIRE_F_DETH) {
		h->qkey = get_be32(p);
		h->sqpn = get_be24(p + 5);
		p += WIRE_DETH_LEN;
	}
	if (f & WIRE_F_XRC) {
		h->srqn = get_be24(p + 1);
		p += WIRE_XRCETH_LEN;
	}
	if (f & WIRE_F_FETH) {
		h->flush_type = p[3] & FETH_TYPE_MASK;
		h->flush_level = p[3] >> FETH_LEVEL_SHIFT & FETH_LEVEL_MASK;
		p += WIRE_FETH_LEN;
	}
	if (f & WIRE_F_RETH) {
		h->va = get_be64(p);
		h->rkey = get_be32(p + 8);
		h->dmalen = get_be32(p + 12);
		p += WIRE_RETH_LEN;
	}
	if (f & WIRE_F_AETH) {
		h->syndrome = p[0];
		h->msn = get_be24(p + 1);
		p += WIRE_AETH_LEN;
	}
	if (f & WIRE_F_IMM)
		memcpy(&h->imm, p, 4);
	if (f & ONE_SIDED)
		parse_one_sided(p, f, h);
	return WIRE_OK;
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Headers to bytes and back.
 */
#include <string.h>

#include "wire/wire.h"

/* Headers that only one-sided operations, and what goes with them, have. */
#define ONE_SIDED	(WIRE_F_INV | WIRE_F_FETH | WIRE_F_ATOMIC | WIRE_F_MASKS | WIRE_F_ORIG)

/* A FETH: four bits of what, two of how much, the rest is reserved. */
#define FETH_TYPE_MASK		0x0fu
#define FETH_LEVEL_SHIFT	4u
#define FETH_LEVEL_MASK		0x03u

static u32 hdr_len(u8 opcode, bool grh)
{
	return WIRE_LRH_LEN + (grh ? WIRE_GRH_LEN : 0) + WIRE_BTH_LEN + wire_op(opcode)->ext_len;
}

u32 wire_hdr_len(const struct wire_hdr *h)
{
	return hdr_len(h->opcode, h->grh);
}

static u32 pad_of(u32 paylen)
{
	return -paylen & 3;
}

u32 wire_len(u8 opcode, bool grh, u32 paylen)
{
	return hdr_len(opcode, grh) + paylen + pad_of(paylen) + WIRE_ICRC_LEN + WIRE_VCRC_LEN;
}

void wire_put_grh(const struct wire_hdr *h, u32 paylen, u8 *buf)
{
	u32 rest = wire_len(h->opcode, h->grh, paylen) - WIRE_VCRC_LEN - WIRE_LRH_LEN -
		   WIRE_GRH_LEN;

	put_be32(buf, 6u << 28 | (u32)h->tclass << 20 | (h->flow_label & 0xfffff));
	put_be16(buf + 4, rest);
	buf[6] = WIRE_NXTHDR_IBA;
	buf[7] = h->hop_limit;
	memcpy(buf + 8, h->sgid, 16);
	memcpy(buf + 24, h->dgid, 16);
}

/* The FETH is the one of them that stands before a RETH. */
static u8 *put_feth(const struct wire_hdr *h, u8 *p)
{
	put_be32(p, (u32)h->flush_level << FETH_LEVEL_SHIFT | h->flush_type);
	return p + WIRE_FETH_LEN;
}

static u8 *put_one_sided(const struct wire_hdr *h, u16 f, u8 *p)
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
	if (f & WIRE_F_ORIG) {
		put_be64(p, h->orig);
		p += WIRE_ORIG_LEN;
	}
	if (f & WIRE_F_INV) {
		put_be32(p, h->inv_key);
		p += WIRE_IETH_LEN;
	}
	return p;
}

u32 wire_put(const struct wire_hdr *h, u32 paylen, u8 *buf)
{
	u16 f = wire_op(h->opcode)->flags;
	u32 end = wire_len(h->opcode, h->grh, paylen) - WIRE_VCRC_LEN;
	u8 *p = buf;

	p[0] = h->vl << 4;
	p[1] = h->sl << 4 | (h->grh ? WIRE_LNH_GLOBAL : WIRE_LNH_LOCAL);
	put_be16(p + 2, h->dlid);
	put_be16(p + 4, end / 4);
	put_be16(p + 6, h->slid);
	p += WIRE_LRH_LEN;

	if (h->grh) {
		wire_put_grh(h, paylen, p);
		p += WIRE_GRH_LEN;
	}

	p[0] = h->opcode;
	p[1] = h->se << 7 | h->mig << 6 | pad_of(paylen) << 4;
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
		p = put_one_sided(h, f, p);
	return p - buf;
}

static void put_le(u8 *p, u32 v, u32 n)
{
	for (u32 i = 0; i < n; i++)
		p[i] = v >> 8 * i;
}

static u32 get_le(const u8 *p, u32 n)
{
	u32 v = 0;

	for (u32 i = 0; i < n; i++)
		v |= (u32)p[i] << 8 * i;
	return v;
}

u32 wire_seal(u8 *buf, u32 hdrlen, u32 paylen)
{
	u32 len = hdrlen + paylen;

	memset(buf + len, 0, pad_of(paylen));
	len += pad_of(paylen);
	put_le(buf + len, wire_icrc(buf, len), WIRE_ICRC_LEN);
	len += WIRE_ICRC_LEN;
	put_le(buf + len, wire_vcrc(buf, len), WIRE_VCRC_LEN);
	return len + WIRE_VCRC_LEN;
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

/* Takes the headers apart; *at moves past them. */
static int parse_headers(const u8 *buf, u32 end, struct wire_hdr *h, u32 *at, u32 *pad)
{
	const u8 *p = buf;
	u32 lnh, need;
	u16 f;

	memset(h, 0, sizeof(*h));
	h->vl = p[0] >> 4;
	h->sl = p[1] >> 4;
	h->dlid = get_be16(p + 2);
	h->slid = get_be16(p + 6);
	lnh = p[1] & 3;
	if (p[0] & 0xf || (lnh != WIRE_LNH_LOCAL && lnh != WIRE_LNH_GLOBAL))
		return WIRE_BAD_HEADER;
	p += WIRE_LRH_LEN;

	h->grh = lnh == WIRE_LNH_GLOBAL;
	if (h->grh) {
		u32 word;

		if (end < WIRE_LRH_LEN + WIRE_GRH_LEN + WIRE_BTH_LEN)
			return WIRE_SHORT;
		word = get_be32(p);
		if (word >> 28 != 6 || p[6] != WIRE_NXTHDR_IBA)
			return WIRE_BAD_HEADER;
		if (get_be16(p + 4) != end + WIRE_ICRC_LEN - WIRE_LRH_LEN - WIRE_GRH_LEN)
			return WIRE_SHORT;
		h->tclass = word >> 20;
		h->flow_label = word & 0xfffff;
		h->hop_limit = p[7];
		memcpy(h->sgid, p + 8, 16);
		memcpy(h->dgid, p + 24, 16);
		p += WIRE_GRH_LEN;
	}

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
	need = wire_hdr_len(h);
	if (need + *pad > end)
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
	*at = need;
	return WIRE_OK;
}

int wire_parse(const u8 *buf, u32 len, struct wire_hdr *h, u32 *payload, u32 *paylen)
{
	u32 end, pad;
	int err;

	if (len < WIRE_LRH_LEN + WIRE_BTH_LEN + WIRE_ICRC_LEN + WIRE_VCRC_LEN)
		return WIRE_SHORT;
	end = len - WIRE_VCRC_LEN;
	if ((get_be16(buf + 4) & 0x7ff) * 4u != end)
		return WIRE_SHORT;
	if (get_le(buf + end, WIRE_VCRC_LEN) != wire_vcrc(buf, end))
		return WIRE_BAD_VCRC;
	end -= WIRE_ICRC_LEN;
	if (get_le(buf + end, WIRE_ICRC_LEN) != wire_icrc(buf, end))
		return WIRE_BAD_ICRC;
	err = parse_headers(buf, end, h, payload, &pad);
	if (err)
		return err;
	*paylen = end - pad - *payload;
	return WIRE_OK;
}

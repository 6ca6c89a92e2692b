// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Route headers to bytes and back.
 */
#include <string.h>

#include "lib/bytes.h"
#include "wire/link.h"

void link_put_grh(const struct wire_hdr *h, u32 end, u8 *buf)
{
	put_be32(buf, 6u << 28 | (u32)h->tclass << 20 | (h->flow_label & 0xfffff));
	put_be16(buf + 4, end - WIRE_LRH_LEN - WIRE_GRH_LEN);
	buf[6] = WIRE_NXTHDR_IBA;
	buf[7] = h->hop_limit;
	memcpy(buf + 8, h->sgid, 16);
	memcpy(buf + 24, h->dgid, 16);
}

void link_put(const struct wire_hdr *h, u32 end, u8 *buf)
{
	buf[0] = h->vl << 4;
	buf[1] = h->sl << 4 | (h->grh ? WIRE_LNH_GLOBAL : WIRE_LNH_LOCAL);
	put_be16(buf + 2, h->dlid);
	put_be16(buf + 4, end / 4);
	put_be16(buf + 6, h->slid);
	if (h->grh)
		link_put_grh(h, end, buf + WIRE_LRH_LEN);
}

int link_parse(const u8 *buf, u32 end, struct wire_hdr *h)
{
	const u8 *p = buf;
	u32 lnh;

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

		if (end < WIRE_LRH_LEN + WIRE_GRH_LEN + WIRE_ICRC_LEN)
			return WIRE_SHORT;
		word = get_be32(p);
		if (word >> 28 != 6 || p[6] != WIRE_NXTHDR_IBA)
			return WIRE_BAD_HEADER;
		if (get_be16(p + 4) != end - WIRE_LRH_LEN - WIRE_GRH_LEN)
			return WIRE_SHORT;
		h->tclass = word >> 20;
		h->flow_label = word & 0xfffff;
		h->hop_limit = p[7];
		memcpy(h->sgid, p + 8, 16);
		memcpy(h->dgid, p + 24, 16);
	}
	return WIRE_OK;
}

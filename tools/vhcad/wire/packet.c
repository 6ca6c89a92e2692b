// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Whole packets: what their layers write and read, padding and CRCs.
 */
#include <string.h>

#include "wire/wire.h"

static u32 hdr_len(u8 opcode, bool grh)
{
	return link_len(grh) + transport_len(opcode);
}

u32 wire_hdr_len(const struct wire_hdr *h)
{
	if (h->eth)
		return roce_len(&h->path) + transport_len(h->opcode);
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

u32 wire_path_len(const struct wire_path *path, u8 opcode, u32 paylen)
{
	if (!path->eth)
		return wire_len(opcode, path->grh, paylen);
	return roce_len(path) + transport_len(opcode) + paylen + pad_of(paylen) + WIRE_ICRC_LEN;
}

/* Bytes up to the VCRC, which RoCEv2 does not have. */
static u32 end_of(const struct wire_hdr *h, u32 paylen)
{
	return wire_path_len(&h->path, h->opcode, paylen) - (h->eth ? 0 : WIRE_VCRC_LEN);
}

void wire_put_grh(const struct wire_hdr *h, u32 paylen, u8 *buf)
{
	if (h->eth)
		roce_put_grh(&h->path, end_of(h, paylen), buf);
	else
		link_put_grh(h, end_of(h, paylen), buf);
}

u32 wire_put(const struct wire_hdr *h, u32 paylen, u8 *buf)
{
	if (h->eth)
		roce_put(&h->path, end_of(h, paylen), buf);
	else
		link_put(h, end_of(h, paylen), buf);
	transport_put(h, pad_of(paylen), buf + (h->eth ? roce_len(&h->path) : link_len(h->grh)));
	return wire_hdr_len(h);
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

static u32 add_padding(u8 *buf, u32 hdrlen, u32 paylen)
{
	memset(buf + hdrlen + paylen, 0, pad_of(paylen));
	return hdrlen + paylen + pad_of(paylen);
}

u32 wire_seal_roce(u8 *buf, u32 hdrlen, u32 paylen)
{
	u32 len = add_padding(buf, hdrlen, paylen), ip = roce_ip_at(buf), icrc = 0;

	wire_icrc_roce(buf + ip, len - ip, &icrc);
	put_le(buf + len, icrc, WIRE_ICRC_LEN);
	return len + WIRE_ICRC_LEN;
}

u32 wire_seal(u8 *buf, u32 hdrlen, u32 paylen)
{
	u32 len = add_padding(buf, hdrlen, paylen);

	put_le(buf + len, wire_icrc(buf, len), WIRE_ICRC_LEN);
	len += WIRE_ICRC_LEN;
	put_le(buf + len, wire_vcrc(buf, len), WIRE_VCRC_LEN);
	return len + WIRE_VCRC_LEN;
}

int wire_parse(const u8 *buf, u32 len, struct wire_hdr *h, u32 *payload, u32 *paylen)
{
	u32 end, at, pad;
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
	memset(h, 0, sizeof(*h));
	err = link_parse(buf, end + WIRE_ICRC_LEN, h);
	if (err)
		return err;
	at = link_len(h->grh);
	err = transport_parse(buf + at, end - at, h, &pad);
	if (err)
		return err;
	*payload = wire_hdr_len(h);
	*paylen = end - pad - *payload;
	return WIRE_OK;
}

int wire_parse_roce(const u8 *buf, u32 len, struct wire_hdr *h, u32 *payload, u32 *paylen)
{
	struct roce_place at;
	u32 icrc, pad;
	int err;

	memset(h, 0, sizeof(*h));
	if (!roce_find(buf, len, &at))
		return WIRE_BAD_HEADER;
	if (at.end - at.bth < WIRE_BTH_LEN + WIRE_ICRC_LEN)
		return WIRE_SHORT;
	at.end -= WIRE_ICRC_LEN;
	if (wire_icrc_roce(buf + at.ip, at.end - at.ip, &icrc) ||
	    get_le(buf + at.end, WIRE_ICRC_LEN) != icrc)
		return WIRE_BAD_ICRC;
	roce_parse(buf, &at, &h->path);
	err = transport_parse(buf + at.bth, at.end - at.bth, h, &pad);
	if (err)
		return err;
	*payload = at.bth + transport_len(h->opcode);
	*paylen = at.end - pad - *payload;
	return WIRE_OK;
}

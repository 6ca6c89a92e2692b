// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A model of TCP and UDP over IPoIB.  Checksums are computed as they are defined: 16-bit words, the
 * most significant byte first, each carry added at once.
 */
#include <string.h>

#include "lib/bytes.h"
#include "tests/ipmodel.h"
#include "tests/trandom.h"

#define ENCAP	4u

static void add_word(u16 *sum, u16 word)
{
	u32 s = (u32)*sum + word;

	*sum = s > 0xffff ? s - 0xffff : s;
}

static void add_bytes(u16 *sum, const u8 *p, u32 len)
{
	for (u32 i = 0; i < len; i += 2)
		add_word(sum, p[i] << 8 | (i + 1 < len ? p[i + 1] : 0));
}

struct ip_model ipm_random(u64 *state)
{
	u64 r = t_random(state);

	return (struct ip_model){
		.v6 = r & 1,
		.tcp = r & 2,
		.ip_words = r & 4 ? 0 : (r >> 8) % 11,
		.tcp_words = r & 8 ? 0 : (r >> 16) % 11,
		.tcp_flags = r >> 24,
		.id = r >> 32,
		.seq = t_random(state),
		.seed = t_random(state) | 1,
	};
}

static u32 ip_len(const struct ip_model *m)
{
	return m->v6 ? 40 : 20 + 4 * m->ip_words;
}

static u32 l4_len(const struct ip_model *m)
{
	return m->tcp ? 20 + 4 * m->tcp_words : 8;
}

u32 ipm_header_len(const struct ip_model *m)
{
	return ENCAP + ip_len(m) + l4_len(m);
}

static u32 sum_at(const struct ip_model *m)
{
	return ENCAP + ip_len(m) + (m->tcp ? 16 : 6);
}

static void build_l4(const struct ip_model *m, u8 *p, u64 *rnd)
{
	for (u32 i = 0; i < l4_len(m); i++)
		p[i] = t_random(rnd);
	if (m->tcp) {
		put_be32(p + 4, m->seq);
		p[12] = l4_len(m) / 4 << 4;
		p[13] = m->tcp_flags;
		put_be16(p + 16, 0);
	} else {
		put_be16(p + 4, 8 + m->len);
		put_be16(p + 6, 0);
	}
}

/* Returns the sum of the addresses. */
static u16 build_ip(const struct ip_model *m, u8 *p, u64 *rnd)
{
	u32 rest = l4_len(m) + m->len;
	u16 header = 0, addrs = 0;

	for (u32 i = 0; i < ip_len(m); i++)
		p[i] = t_random(rnd);
	if (m->v6) {
		p[0] = 0x60 | (p[0] & 15);
		put_be16(p + 4, rest);
		p[6] = m->tcp ? 6 : 17;
		add_bytes(&addrs, p + 8, 32);
		return addrs;
	}
	p[0] = 0x40 | ip_len(m) / 4;
	put_be16(p + 2, ip_len(m) + rest);
	put_be16(p + 4, m->id);
	put_be16(p + 6, 0x4000);
	p[9] = m->tcp ? 6 : 17;
	put_be16(p + 10, 0);
	add_bytes(&header, p, ip_len(m));
	put_be16(p + 10, ~header);
	add_bytes(&addrs, p + 12, 8);
	return addrs;
}

u32 ipm_build(const struct ip_model *m, u8 *p)
{
	u8 *ip = p + ENCAP, *l4 = ip + ip_len(m);
	u64 rnd = m->seed;
	u16 sum;

	put_be16(p, m->v6 ? 0x86dd : 0x0800);
	put_be16(p + 2, 0);
	sum = build_ip(m, ip, &rnd);
	build_l4(m, l4, &rnd);
	if (m->len)
		memcpy(l4 + l4_len(m), m->data, m->len);
	add_word(&sum, m->tcp ? 6 : 17);
	add_word(&sum, l4_len(m) + m->len);
	add_bytes(&sum, l4, l4_len(m) + m->len);
	sum = ~sum;
	if (!m->tcp && !sum)
		sum = 0xffff;
	put_be16(p + sum_at(m), sum);
	return ipm_header_len(m) + m->len;
}

void ipm_spoil_sums(const struct ip_model *m, u8 *p)
{
	u64 rnd = m->seed ^ 2;

	if (!m->v6)
		put_be16(p + ENCAP + 10, t_random(&rnd));
	put_be16(p + sum_at(m), t_random(&rnd));
}

u32 ipm_segments(const struct ip_model *m, u32 mss)
{
	return m->len ? (m->len + mss - 1) / mss : 1;
}

struct ip_model ipm_segment(const struct ip_model *m, u32 i, u32 mss)
{
	struct ip_model s = *m;
	bool last = i + 1 == ipm_segments(m, mss);

	s.data = m->data + i * mss;
	s.len = last ? m->len - i * mss : mss;
	s.id = m->id + i;
	s.seq = m->seq + i * mss;
	if (i)
		s.tcp_flags &= 0x7f;		/* CWR */
	if (!last)
		s.tcp_flags &= 0xff - 0x09;	/* FIN, PSH */
	return s;
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * IP packets in datagrams of IPoIB.
 */
#include <endian.h>
#include <string.h>

#include "lib/bytes.h"
#include "wire/ip.h"

#define ENCAP_LEN	4u	/* the IPoIB header: an Ethertype, and two bytes */
#define TYPE_IPV4	0x0800u
#define TYPE_IPV6	0x86ddu

/* Offsets in the headers of IP. */
#define IPV4_LEN	2u
#define IPV4_ID		4u
#define IPV4_FRAG	6u
#define IPV4_PROTO	9u
#define IPV4_SUM	10u
#define IPV4_ADDRS	12u
#define IPV4_MIN	20u
#define IPV4_FRAG_BITS	0x3fffu	/* more fragments, and the offset */
#define IPV6_LEN	4u
#define IPV6_NEXT	6u
#define IPV6_ADDRS	8u
#define IPV6_HEAD	40u

/* Offsets in the headers of TCP and UDP. */
#define TCP_SEQ		4u
#define TCP_OFF		12u
#define TCP_FLAGS	13u
#define TCP_SUM		16u
#define TCP_MIN		20u
#define UDP_LEN		4u
#define UDP_SUM		6u
#define UDP_HEAD	8u

#define TCP_FIN		0x01u
#define TCP_PSH		0x08u
#define TCP_CWR		0x80u

#define PROTO_TCP	6u
#define PROTO_UDP	17u

/* Adds words as they lie in memory: a sum of 16-bit words does not depend on the byte order. */
static u64 sum(u64 s, const u8 *p, u32 len)
{
	u32 v;

	for (; len >= sizeof(v); p += sizeof(v), len -= sizeof(v)) {
		memcpy(&v, p, sizeof(v));
		s += v;
	}
	v = 0;
	memcpy(&v, p, len);
	return s + v;
}

static u16 fold(u64 s)
{
	while (s >> 16)
		s = (s & 0xffff) + (s >> 16);
	return s;
}

static u32 find_ipv4(const u8 *ip, u32 len, struct ip_frame *f)
{
	u32 ihl, total;

	if (len < IPV4_MIN || ip[0] >> 4 != 4)
		return 0;
	ihl = (ip[0] & 15) * 4;
	total = get_be16(ip + IPV4_LEN);
	if (ihl < IPV4_MIN || total < ihl || total > len ||
	    get_be16(ip + IPV4_FRAG) & IPV4_FRAG_BITS)
		return 0;
	f->v6 = false;
	f->l4 = ENCAP_LEN + ihl;
	f->end = ENCAP_LEN + total;
	return ip[IPV4_PROTO];
}

static u32 find_ipv6(const u8 *ip, u32 len, struct ip_frame *f)
{
	u32 payload;

	if (len < IPV6_HEAD || ip[0] >> 4 != 6)
		return 0;
	payload = get_be16(ip + IPV6_LEN);
	if (payload > len - IPV6_HEAD)
		return 0;
	f->v6 = true;
	f->l4 = ENCAP_LEN + IPV6_HEAD;
	f->end = f->l4 + payload;
	return ip[IPV6_NEXT];
}

static bool find_tcp(const u8 *tcp, u32 len, struct ip_frame *f)
{
	u32 head;

	if (len < TCP_MIN)
		return false;
	head = (tcp[TCP_OFF] >> 4) * 4;
	f->tcp = true;
	f->head = f->l4 + head;
	return head >= TCP_MIN && head <= len;
}

static bool find_udp(const u8 *udp, u32 len, struct ip_frame *f)
{
	f->tcp = false;
	f->head = f->l4 + UDP_HEAD;
	return len >= UDP_HEAD && get_be16(udp + UDP_LEN) == len;
}

bool ip_front(const u8 *p)
{
	return get_be16(p) == TYPE_IPV4 || get_be16(p) == TYPE_IPV6;
}

bool ip_find(const u8 *p, u32 len, struct ip_frame *f)
{
	u32 proto;

	if (len < ENCAP_LEN)
		return false;
	switch (get_be16(p)) {
	case TYPE_IPV4:
		proto = find_ipv4(p + ENCAP_LEN, len - ENCAP_LEN, f);
		break;
	case TYPE_IPV6:
		proto = find_ipv6(p + ENCAP_LEN, len - ENCAP_LEN, f);
		break;
	default:
		return false;
	}
	if (proto == PROTO_TCP)
		return find_tcp(p + f->l4, f->end - f->l4, f);
	return proto == PROTO_UDP && find_udp(p + f->l4, f->end - f->l4, f);
}

/* The sum of all that the checksum of TCP or UDP is about. */
static u16 sum_l4(const u8 *p, const struct ip_frame *f)
{
	u32 len = f->end - f->l4;
	u64 s = (u64)htobe16(f->tcp ? PROTO_TCP : PROTO_UDP) + htobe16(len);

	if (f->v6)
		s = sum(s, p + ENCAP_LEN + IPV6_ADDRS, 32);
	else
		s = sum(s, p + ENCAP_LEN + IPV4_ADDRS, 8);
	return fold(sum(s, p + f->l4, len));
}

static void put_sum(u8 *at, u16 s)
{
	memcpy(at, &s, sizeof(s));
}

void ip_set_sums(u8 *p, const struct ip_frame *f)
{
	u8 *at = p + f->l4 + (f->tcp ? TCP_SUM : UDP_SUM);
	u16 s;

	if (!f->v6) {
		put_sum(p + ENCAP_LEN + IPV4_SUM, 0);
		put_sum(p + ENCAP_LEN + IPV4_SUM,
			~fold(sum(0, p + ENCAP_LEN, f->l4 - ENCAP_LEN)));
	}
	put_sum(at, 0);
	s = ~sum_l4(p, f);
	/* 0 would mean that UDP has no checksum */
	put_sum(at, !s && !f->tcp ? 0xffff : s);
}

bool ip_sums_ok(const u8 *p, const struct ip_frame *f)
{
	if (!f->v6 && fold(sum(0, p + ENCAP_LEN, f->l4 - ENCAP_LEN)) != 0xffff)
		return false;
	return (f->tcp || get_be16(p + f->l4 + UDP_SUM)) && sum_l4(p, f) == 0xffff;
}

bool ip_segment(u8 *p, u32 hlen, u32 len, u32 i, u32 mss, bool last, struct ip_frame *f)
{
	u8 *ip = p + ENCAP_LEN, *tcp;

	/* the large packet's length says nothing about the segment */
	if (hlen >= ENCAP_LEN + IPV4_MIN && get_be16(p) == TYPE_IPV4)
		put_be16(ip + IPV4_LEN, len - ENCAP_LEN);
	else if (hlen >= ENCAP_LEN + IPV6_HEAD && get_be16(p) == TYPE_IPV6)
		put_be16(ip + IPV6_LEN, len - ENCAP_LEN - IPV6_HEAD);
	if (!ip_find(p, len, f) || !f->tcp || f->head != hlen)
		return false;
	tcp = p + f->l4;
	if (!f->v6)
		put_be16(ip + IPV4_ID, get_be16(ip + IPV4_ID) + i);
	put_be32(tcp + TCP_SEQ, get_be32(tcp + TCP_SEQ) + i * mss);
	if (!last)
		tcp[TCP_FLAGS] &= ~(TCP_FIN | TCP_PSH);
	if (i)
		tcp[TCP_FLAGS] &= ~TCP_CWR;
	return true;
}

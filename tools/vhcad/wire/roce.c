// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Ethernet, IP and UDP headers to bytes and back.
 */
#include "lib/bytes.h"
#include "wire/roce.h"

#define TYPE_IPV4	0x0800u
#define TYPE_VLAN	0x8100u
#define TYPE_IPV6	0x86ddu
#define TYPE_AT		12u		/* in a frame */

#define PROTO_UDP	17u
#define IPV4_PLAIN	0x45u		/* version 4, no options */
#define IPV4_WHOLE	0x4000u		/* don't fragment */
#define IPV4_FRAGMENT	0x3fffu		/* set if fragments follow, or this is not the first one */

/* The ports that RoCEv2 sends from, which its flow labels are folded into. */
#define SPORT_FIRST	0xc000u
#define SPORT_BITS	14u
#define FLOW_MASK	0xfffffu

u16 roce_sport(u32 flow_label)
{
	u32 low = (1u << SPORT_BITS) - 1;

	return SPORT_FIRST | ((flow_label ^ (flow_label & FLOW_MASK) >> SPORT_BITS) & low);
}

u32 roce_flow(u32 qpn, u32 peer)
{
	u64 both = (u64)qpn * peer;

	return (both ^ both >> 20 ^ both >> 40) & FLOW_MASK;
}

void roce_mcast_mac(const u8 *mgid, u8 mac[WIRE_MAC_LEN])
{
	static const u8 ipv4[3] = { 0x01, 0x00, 0x5e };

	if (gid_is_ipv4(mgid)) {
		memcpy(mac, ipv4, sizeof(ipv4));
		mac[3] = mgid[13] & 0x7f;
		memcpy(mac + 4, mgid + 14, 2);
	} else {
		memset(mac, 0x33, 2);
		memcpy(mac + 2, mgid + 12, 4);
	}
}

/* The sum that a correct header, or one without its checksum, has. */
static u16 ipv4_sum(const u8 *ip)
{
	u32 sum = 0;

	for (u32 i = 0; i < ROCE_IPV4_LEN; i += 2)
		sum += get_be16(ip + i);
	sum = (sum & 0xffff) + (sum >> 16);
	return sum + (sum >> 16);
}

/* @len: of the packet from this header on, here and below */
static void put_ipv4(const struct wire_path *p, u32 len, u8 *ip)
{
	ip[0] = IPV4_PLAIN;
	ip[1] = p->tclass;
	put_be16(ip + 2, len);
	/* a packet that is never fragmented needs no identification */
	put_be16(ip + 4, 0);
	put_be16(ip + 6, IPV4_WHOLE);
	ip[8] = p->hop_limit;
	ip[9] = PROTO_UDP;
	put_be16(ip + 10, 0);
	memcpy(ip + 12, p->sgid + 12, 4);
	memcpy(ip + 16, p->dgid + 12, 4);
	put_be16(ip + 10, ~ipv4_sum(ip));
}

static void put_ipv6(const struct wire_path *p, u32 len, u8 *ip)
{
	put_be32(ip, 6u << 28 | (u32)p->tclass << 20 | (p->flow_label & FLOW_MASK));
	put_be16(ip + 4, len - ROCE_IPV6_LEN);
	ip[6] = PROTO_UDP;
	ip[7] = p->hop_limit;
	memcpy(ip + 8, p->sgid, 16);
	memcpy(ip + 24, p->dgid, 16);
}

static u32 ip_at(const struct wire_path *p)
{
	return ROCE_ETH_LEN + (p->vlan == WIRE_NO_TAG ? 0 : ROCE_TAG_LEN);
}

void roce_put(const struct wire_path *p, u32 len, u8 *buf)
{
	u32 ip = ip_at(p), udp = ip + (p->ipv4 ? ROCE_IPV4_LEN : ROCE_IPV6_LEN);

	memcpy(buf, p->dmac, WIRE_MAC_LEN);
	memcpy(buf + WIRE_MAC_LEN, p->smac, WIRE_MAC_LEN);
	if (p->vlan != WIRE_NO_TAG) {
		put_be16(buf + TYPE_AT, TYPE_VLAN);
		put_be16(buf + TYPE_AT + 2, p->vlan);
	}
	put_be16(buf + ip - 2, p->ipv4 ? TYPE_IPV4 : TYPE_IPV6);
	if (p->ipv4)
		put_ipv4(p, len - ip, buf + ip);
	else
		put_ipv6(p, len - ip, buf + ip);
	put_be16(buf + udp, p->sport);
	put_be16(buf + udp + 2, ROCE_UDP_PORT);
	put_be16(buf + udp + 4, len - udp);
	put_be16(buf + udp + 6, 0);
}

void roce_put_grh(const struct wire_path *p, u32 len, u8 *buf)
{
	if (!p->ipv4) {
		put_ipv6(p, len - ip_at(p), buf);
		return;
	}
	memset(buf, 0, ROCE_IPV6_LEN - ROCE_IPV4_LEN);
	put_ipv4(p, len - ip_at(p), buf + ROCE_IPV6_LEN - ROCE_IPV4_LEN);
}

u32 roce_ip_at(const u8 *buf)
{
	return ROCE_ETH_LEN + (get_be16(buf + TYPE_AT) == TYPE_VLAN ? ROCE_TAG_LEN : 0);
}

/* Offset of the packet's end in an IPv4 header that is plain and correct; else 0. */
static u32 ipv4_end(const u8 *ip, u32 left)
{
	if (left < ROCE_IPV4_LEN || ip[0] != IPV4_PLAIN || ip[9] != PROTO_UDP ||
	    get_be16(ip + 6) & IPV4_FRAGMENT || ipv4_sum(ip) != 0xffff)
		return 0;
	return get_be16(ip + 2);
}

/* The same of an IPv6 header. */
static u32 ipv6_end(const u8 *ip, u32 left)
{
	if (left < ROCE_IPV6_LEN || ip[0] >> 4 != 6 || ip[6] != PROTO_UDP)
		return 0;
	/* such a GID stands for an IPv4 address */
	if (gid_is_ipv4(ip + 8) || gid_is_ipv4(ip + 24))
		return 0;
	return ROCE_IPV6_LEN + get_be16(ip + 4);
}

bool roce_find(const u8 *buf, u32 len, struct roce_place *at)
{
	u32 left, end, udp;
	bool ipv4;

	if (len < ROCE_ETH_LEN + ROCE_TAG_LEN)
		return false;
	at->ip = roce_ip_at(buf);
	/* 4095 is no VLAN */
	if (at->ip > ROCE_ETH_LEN &&
	    (get_be16(buf + ROCE_ETH_LEN) & ROCE_VLAN_MASK) == ROCE_VLAN_MASK)
		return false;
	left = len - at->ip;
	ipv4 = get_be16(buf + at->ip - 2) == TYPE_IPV4;
	if (!ipv4 && get_be16(buf + at->ip - 2) != TYPE_IPV6)
		return false;
	end = ipv4 ? ipv4_end(buf + at->ip, left) : ipv6_end(buf + at->ip, left);
	udp = ipv4 ? ROCE_IPV4_LEN : ROCE_IPV6_LEN;
	if (end < udp + ROCE_UDP_LEN || end > left)
		return false;
	at->end = at->ip + end;
	at->bth = at->ip + udp + ROCE_UDP_LEN;
	udp += at->ip;
	return get_be16(buf + udp + 2) == ROCE_UDP_PORT && get_be16(buf + udp + 4) == at->end - udp;
}

static void parse_ipv4(const u8 *ip, struct wire_path *p)
{
	p->ipv4 = true;
	p->tclass = ip[1];
	p->hop_limit = ip[8];
	memset(p->sgid + 10, 0xff, 2);
	memset(p->dgid + 10, 0xff, 2);
	memcpy(p->sgid + 12, ip + 12, 4);
	memcpy(p->dgid + 12, ip + 16, 4);
}

static void parse_ipv6(const u8 *ip, struct wire_path *p)
{
	u32 word = get_be32(ip);

	p->tclass = word >> 20;
	p->flow_label = word & FLOW_MASK;
	p->hop_limit = ip[7];
	memcpy(p->sgid, ip + 8, 16);
	memcpy(p->dgid, ip + 24, 16);
}

void roce_parse(const u8 *buf, const struct roce_place *at, struct wire_path *p)
{
	memset(p, 0, sizeof(*p));
	p->eth = true;
	p->grh = true;
	memcpy(p->dmac, buf, WIRE_MAC_LEN);
	memcpy(p->smac, buf + WIRE_MAC_LEN, WIRE_MAC_LEN);
	p->vlan = at->ip == ROCE_ETH_LEN ? WIRE_NO_TAG : get_be16(buf + TYPE_AT + 2);
	if (get_be16(buf + at->ip - 2) == TYPE_IPV4)
		parse_ipv4(buf + at->ip, p);
	else
		parse_ipv6(buf + at->ip, p);
	p->sport = get_be16(buf + at->bth - ROCE_UDP_LEN);
}

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The link layer of RoCEv2: Ethernet with or without a VLAN's tag, IPv4 or IPv6 with plain headers,
 * and UDP.  The UDP checksum is 0, as the ICRC covers more.
 */
#ifndef VHCAD_WIRE_ROCE_H
#define VHCAD_WIRE_ROCE_H

#include <string.h>

#include "wire/hdr.h"

#define ROCE_UDP_PORT		4791u
#define ROCE_ETH_LEN		14u
#define ROCE_TAG_LEN		4u
#define ROCE_IPV4_LEN		20u
#define ROCE_IPV6_LEN		40u
#define ROCE_UDP_LEN		8u
#define ROCE_MAX_LEN		(ROCE_ETH_LEN + ROCE_TAG_LEN + ROCE_IPV6_LEN + ROCE_UDP_LEN)

#define ROCE_VLAN_MASK		0xfffu
#define ROCE_PRIO_SHIFT		13u

/** roce_vlan() - the VLAN of a tag, or WIRE_NO_TAG; a tag that only has a priority is in none */
static inline u16 roce_vlan(u16 tag)
{
	return tag == WIRE_NO_TAG || !(tag & ROCE_VLAN_MASK) ? WIRE_NO_TAG : tag & ROCE_VLAN_MASK;
}

/** gid_is_ipv4() - is it an IPv4 address mapped to IPv6? */
static inline bool gid_is_ipv4(const u8 *gid)
{
	static const u8 prefix[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(gid, prefix, sizeof(prefix));
}

/** gid_is_mcast() - is it the address of a group, IPv6's or IPv4's? */
static inline bool gid_is_mcast(const u8 *gid)
{
	return gid[0] == 0xff || (gid_is_ipv4(gid) && gid[12] >> 4 == 0xe);
}

/** mac_is_mcast() - is it the address of a group of stations? */
static inline bool mac_is_mcast(const u8 *mac)
{
	return mac[0] & 1;
}

/** roce_mcast_mac() - the Ethernet address of a group */
void roce_mcast_mac(const u8 *mgid, u8 mac[WIRE_MAC_LEN]);

/** roce_flow() - a flow label for two QPs that have none, so that connections differ */
u32 roce_flow(u32 qpn, u32 peer);

/** roce_sport() - the UDP port that a flow label stands for; as rdma_flow_label_to_udp_sport() */
u16 roce_sport(u32 flow_label);

/** roce_len() - bytes up to the BTH */
static inline u32 roce_len(const struct wire_path *p)
{
	return ROCE_ETH_LEN + (p->vlan == WIRE_NO_TAG ? 0 : ROCE_TAG_LEN) +
	       (p->ipv4 ? ROCE_IPV4_LEN : ROCE_IPV6_LEN) + ROCE_UDP_LEN;
}

/**
 * roce_put() - write these headers
 * @p: path
 * @len: bytes of the whole frame
 * @buf: roce_len() bytes
 */
void roce_put(const struct wire_path *p, u32 len, u8 *buf);

/** roce_put_grh() - write the IP header alone, 40 bytes (IPv4: behind zeros); see roce_put() */
void roce_put_grh(const struct wire_path *p, u32 len, u8 *buf);

/** roce_ip_at() - where the IP header of a frame begins, behind its tag if there is one */
u32 roce_ip_at(const u8 *buf);

/* Where parts of a frame begin, and the packet in it ends. */
struct roce_place {
	u32 ip, bth, end;
};

/**
 * roce_find() - is it a frame of RoCEv2?
 * @buf: frame
 * @len: its bytes
 * @at: receives where its parts are; @at->end is not above @len
 *
 * Only this is checked: a frame with options, of a fragment, with lengths that do not agree, with a
 * wrong checksum of its IPv4 header, or to another port is not RoCEv2's.
 */
bool roce_find(const u8 *buf, u32 len, struct roce_place *at);

/** roce_parse() - the path of a frame that roce_find() has found */
void roce_parse(const u8 *buf, const struct roce_place *at, struct wire_path *p);

#endif /* VHCAD_WIRE_ROCE_H */

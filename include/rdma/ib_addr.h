/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Resolution of IP addresses to link addresses, and conversion between IP addresses and GIDs.
 */
#ifndef IB_ADDR_H
#define IB_ADDR_H

#include <linux/ethtool.h>
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <linux/socket.h>
#include <net/if_inet6.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>
#include <rdma/ib_pack.h>
#include <rdma/ib_verbs.h>

/**
 * struct rdma_dev_addr - link addresses of the two ends of a path
 * @src_dev_addr: own link address
 * @dst_dev_addr: the peer's, or the router's
 * @broadcast: broadcast address of the interface; on IPoIB it holds P_Key and MGID
 * @dev_type: ARPHRD_* of the interface
 * @bound_dev_if: interface the address is bound to, 0 for any
 * @transport: RDMA_TRANSPORT_*
 * @net: network namespace
 * @sgid_attr: source GID entry, reference held, or NULL
 * @network: network layer
 * @hoplimit: hops to the peer
 */
struct rdma_dev_addr {
	unsigned char src_dev_addr[MAX_ADDR_LEN];
	unsigned char dst_dev_addr[MAX_ADDR_LEN];
	unsigned char broadcast[MAX_ADDR_LEN];
	unsigned short dev_type;
	int bound_dev_if;
	enum rdma_transport_type transport;
	struct net *net;
	const struct ib_gid_attr *sgid_attr;
	enum rdma_network_type network;
	int hoplimit;
};

void rdma_copy_src_l2_addr(struct rdma_dev_addr *dev_addr,
			   const struct net_device *dev);

int rdma_translate_ip(const struct sockaddr *addr,
		      struct rdma_dev_addr *dev_addr);

int rdma_resolve_ip(struct sockaddr *src_addr, const struct sockaddr *dst_addr,
		    struct rdma_dev_addr *addr, unsigned long timeout_ms,
		    void (*callback)(int status, struct sockaddr *src_addr,
				     struct rdma_dev_addr *addr, void *context),
		    bool resolve_by_gid_attr, void *context);

void rdma_addr_cancel(struct rdma_dev_addr *addr);

int rdma_addr_size(const struct sockaddr *addr);

int rdma_addr_size_in6(struct sockaddr_in6 *addr);

int rdma_addr_size_kss(struct __kernel_sockaddr_storage *addr);

/* An IPoIB broadcast address is 4 bytes of QPN and the MGID, whose bytes 4 and 5 hold the P_Key. */
#define RDMA_IPOIB_GID_OFFSET	4
#define RDMA_IPOIB_PKEY_OFFSET	(RDMA_IPOIB_GID_OFFSET + 4)

static inline u16 ib_addr_get_pkey(struct rdma_dev_addr *dev_addr)
{
	return get_unaligned_be16(dev_addr->broadcast + RDMA_IPOIB_PKEY_OFFSET);
}

static inline void ib_addr_set_pkey(struct rdma_dev_addr *dev_addr, u16 pkey)
{
	put_unaligned_be16(pkey, dev_addr->broadcast + RDMA_IPOIB_PKEY_OFFSET);
}

static inline void ib_addr_get_mgid(struct rdma_dev_addr *dev_addr, union ib_gid *gid)
{
	const u8 *mgid = dev_addr->broadcast + RDMA_IPOIB_GID_OFFSET;

	memcpy(gid->raw, mgid, sizeof(gid->raw));
}

/* Offset of the GID in the link addresses. */
static inline int rdma_addr_gid_offset(struct rdma_dev_addr *dev_addr)
{
	if (dev_addr->dev_type != ARPHRD_INFINIBAND)
		return 0;
	return RDMA_IPOIB_GID_OFFSET;
}

static inline void rdma_addr_get_sgid(struct rdma_dev_addr *dev_addr, union ib_gid *gid)
{
	const u8 *from = &dev_addr->src_dev_addr[rdma_addr_gid_offset(dev_addr)];

	memcpy(gid->raw, from, sizeof(gid->raw));
}

static inline void rdma_addr_set_sgid(struct rdma_dev_addr *dev_addr, union ib_gid *gid)
{
	u8 *to = &dev_addr->src_dev_addr[rdma_addr_gid_offset(dev_addr)];

	memcpy(to, gid->raw, sizeof(gid->raw));
}

static inline void rdma_addr_get_dgid(struct rdma_dev_addr *dev_addr, union ib_gid *gid)
{
	const u8 *from = &dev_addr->dst_dev_addr[rdma_addr_gid_offset(dev_addr)];

	memcpy(gid->raw, from, sizeof(gid->raw));
}

static inline void rdma_addr_set_dgid(struct rdma_dev_addr *dev_addr, union ib_gid *gid)
{
	u8 *to = &dev_addr->dst_dev_addr[rdma_addr_gid_offset(dev_addr)];

	memcpy(to, gid->raw, sizeof(gid->raw));
}

/* The VLAN number that means "no VLAN". */
#define RDMA_NO_VLAN	0xffff

/**
 * rdma_vlan_dev_vlan_id() - get the VLAN of an interface
 * @dev: interface
 *
 * Return: the VLAN ID, or 0xffff for an interface that is no VLAN.
 */
static inline u16 rdma_vlan_dev_vlan_id(const struct net_device *dev)
{
	if (!is_vlan_dev(dev))
		return RDMA_NO_VLAN;
	return vlan_dev_vlan_id(dev);
}

static inline struct net_device *rdma_vlan_dev_real_dev(const struct net_device *dev)
{
	if (!is_vlan_dev(dev))
		return NULL;
	return vlan_dev_real_dev(dev);
}

/**
 * rdma_ip2gid() - convert an IP address to a GID
 * @addr: IPv4 or IPv6 address
 * @gid: receives the GID
 *
 * Return: 0, or -EINVAL for another family.
 */
static inline int rdma_ip2gid(struct sockaddr *addr, union ib_gid *gid)
{
	if (addr->sa_family == AF_INET6) {
		const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)addr;

		memcpy(gid->raw, &in6->sin6_addr, sizeof(gid->raw));
		return 0;
	}
	if (addr->sa_family == AF_INET) {
		const struct sockaddr_in *in = (const struct sockaddr_in *)addr;
		struct in6_addr mapped;

		ipv6_addr_set_v4mapped(in->sin_addr.s_addr, &mapped);
		memcpy(gid->raw, &mapped, sizeof(gid->raw));
		return 0;
	}
	return -EINVAL;
}

/**
 * rdma_gid2ip() - convert a GID to an IP address
 * @out: receives the address, IPv4 if the GID is an IPv4-mapped one; the rest is cleared
 * @gid: GID
 */
static inline void rdma_gid2ip(struct sockaddr *out, const union ib_gid *gid)
{
	if (!ipv6_addr_v4mapped((const struct in6_addr *)gid->raw)) {
		struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };

		memcpy(&in6.sin6_addr, gid->raw, sizeof(in6.sin6_addr));
		*(struct sockaddr_in6 *)out = in6;
	} else {
		struct sockaddr_in in = { .sin_family = AF_INET };

		memcpy(&in.sin_addr, &gid->raw[12], sizeof(in.sin_addr));
		*(struct sockaddr_in *)out = in;
	}
}

/**
 * iboe_get_mtu() - get the largest path MTU that fits the frames of an Ethernet interface
 * @mtu: the interface's MTU, bytes
 *
 * Room is left for the longest headers of RoCE, also those of XRC atomics.
 *
 * Return: the code, or 0 when not even 256 bytes fit.
 */
static inline enum ib_mtu iboe_get_mtu(int mtu)
{
	const int headers = IB_GRH_BYTES + IB_UDP_BYTES + IB_BTH_BYTES + IB_EXT_XRC_BYTES +
			    IB_EXT_ATOMICETH_BYTES + IB_ICRC_BYTES;
	int payload = mtu - headers;

	if (payload < 256)
		return 0;
	return ib_mtu_int_to_enum(payload);
}

/* Is it fe80::/64? */
static inline int rdma_link_local_addr(struct in6_addr *addr)
{
	static const u8 prefix[8] = { 0xfe, 0x80 };

	return memcmp(addr, prefix, sizeof(prefix)) == 0;
}

/**
 * rdma_get_ll_mac() - get the MAC address in an interface identifier
 * @addr: link-local address made from a MAC address
 * @mac: receives the six bytes
 */
static inline void rdma_get_ll_mac(struct in6_addr *addr, u8 *mac)
{
	const u8 *eui64 = &addr->s6_addr[8];

	mac[0] = eui64[0] ^ 0x02;
	mac[1] = eui64[1];
	mac[2] = eui64[2];
	mac[3] = eui64[5];
	mac[4] = eui64[6];
	mac[5] = eui64[7];
}

/* Is it an IPv6 multicast address, or an IPv4-mapped one? */
static inline int rdma_is_multicast_addr(struct in6_addr *addr)
{
	if (ipv6_addr_is_multicast(addr))
		return 1;
	return ipv6_addr_v4mapped(addr) && ipv4_is_multicast(addr->s6_addr32[3]);
}

/**
 * rdma_get_mcast_mac() - get the MAC address of a multicast group
 * @addr: group
 * @mac: receives 33:33 and the four low bytes
 */
static inline void rdma_get_mcast_mac(struct in6_addr *addr, u8 *mac)
{
	memset(mac, 0x33, 2);
	memcpy(mac + 2, &addr->s6_addr[12], 4);
}

/**
 * rdma_get_vlan_id() - get the VLAN ID in a RoCE v1 GID made from a MAC address
 * @dgid: GID
 *
 * Return: the VLAN ID, 0xffff if there is none.
 */
static inline u16 rdma_get_vlan_id(union ib_gid *dgid)
{
	u16 id = get_unaligned_be16(&dgid->raw[11]);

	return id < VLAN_N_VID ? id : RDMA_NO_VLAN;
}

#endif /* IB_ADDR_H */

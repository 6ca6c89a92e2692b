// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Checksums and large sends, of which devices say what they can do for UD QPs.
 */
#include <kunit/visibility.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <rdma/rdma_ext.h>

#include "offload.h"

#define SENDS	(NETIF_F_CSUM_MASK | NETIF_F_ALL_TSO)

/**
 * ipoib_offload_features() - what a device can do for IPoIB
 * @attr: the device's attributes
 *
 * Context: any.
 * Return: features of a network device.
 */
netdev_features_t ipoib_offload_features(const struct ib_device_attr *attr)
{
	netdev_features_t features = 0;

	if (attr->device_cap_flags & IB_DEVICE_UD_IP_CSUM)
		features |= NETIF_F_IP_CSUM | NETIF_F_RXCSUM;
	if (attr->kernel_cap_flags & IBK_UD_TSO)
		features |= NETIF_F_TSO;
	if (attr->kernel_cap_flags & IBK_UD_IPV6_CSUM)
		features |= NETIF_F_IPV6_CSUM;
	if (attr->kernel_cap_flags & IBK_UD_IPV6_TSO)
		features |= NETIF_F_TSO6;
	return features;
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_offload_features);

/**
 * ipoib_offload_allowed() - the features that a mode leaves
 * @features: features wanted
 * @connected: the mode
 *
 * Context: any.
 * Return: those that the interface can have.
 */
netdev_features_t ipoib_offload_allowed(netdev_features_t features, bool connected)
{
	return connected ? features & ~SENDS : features;
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_offload_allowed);

/* Where TCP or UDP starts, and the protocol; 0: none that a device knows. */
static int find_l4(const struct sk_buff *skb, int net, u8 *proto)
{
	struct ipv6hdr v6;
	struct iphdr v4;
	const struct ipv6hdr *ip6;
	const struct iphdr *ip;

	switch (skb->protocol) {
	case htons(ETH_P_IP):
		ip = skb_header_pointer(skb, net, sizeof(v4), &v4);
		if (!ip || ip->version != 4 || ip->ihl < 5 || ip_is_fragment(ip))
			return 0;
		if (!skb_is_gso(skb) && net + ntohs(ip->tot_len) != skb->len)
			return 0;
		*proto = ip->protocol;
		return net + ip->ihl * 4;
	case htons(ETH_P_IPV6):
		ip6 = skb_header_pointer(skb, net, sizeof(v6), &v6);
		if (!ip6 || ip6->version != 6)
			return 0;
		if (!skb_is_gso(skb) && net + (int)sizeof(v6) + ntohs(ip6->payload_len) != skb->len)
			return 0;
		*proto = ip6->nexthdr;
		return net + sizeof(v6);
	default:
		return 0;
	}
}

static bool tcp_fits(const struct sk_buff *skb, int l4)
{
	const struct tcphdr *tcp;
	struct tcphdr copy;

	tcp = skb_header_pointer(skb, l4, sizeof(copy), &copy);
	return tcp && tcp->doff >= 5 && l4 + tcp->doff * 4 <= skb->len &&
	       skb->csum_offset == offsetof(struct tcphdr, check);
}

static bool udp_fits(const struct sk_buff *skb, int l4)
{
	const struct udphdr *udp;
	struct udphdr copy;

	udp = skb_header_pointer(skb, l4, sizeof(copy), &copy);
	return udp && l4 + ntohs(udp->len) == skb->len && !skb_is_gso(skb) &&
	       skb->csum_offset == offsetof(struct udphdr, check);
}

/**
 * ipoib_offload_fits() - can a device do what a packet leaves to it?
 * @skb: packet whose checksum is missing
 *
 * A device refuses what is not TCP or UDP with the headers that it says, and its QP then sends
 * nothing until it is brought back: programs that write whole packets must not cause that.
 *
 * Context: any.
 * Return: whether it can.
 */
bool ipoib_offload_fits(const struct sk_buff *skb)
{
	int l4;
	u8 proto;

	if (skb->encapsulation)
		return false;
	l4 = find_l4(skb, skb_network_offset(skb), &proto);
	if (!l4 || l4 != skb_checksum_start_offset(skb) || l4 != skb_transport_offset(skb))
		return false;
	if (proto == IPPROTO_TCP)
		return tcp_fits(skb, l4);
	return proto == IPPROTO_UDP && udp_fits(skb, l4);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_offload_fits);

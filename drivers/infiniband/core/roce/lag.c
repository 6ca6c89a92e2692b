// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * RoCE on a bond: the slave through which packets to an address are sent.
 *
 * The bond itself chooses it, for a packet with the headers of those that the device will send.
 */
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>
#include <rdma/lag.h>

static __be16 put_ipv4(struct sk_buff *skb, const struct ib_global_route *grh)
{
	struct iphdr *ip = skb_put_zero(skb, sizeof(*ip));

	ip->version = 4;
	ip->ihl = sizeof(*ip) / 4;
	ip->tos = grh->traffic_class;
	ip->ttl = grh->hop_limit;
	ip->tot_len = htons(sizeof(*ip) + sizeof(struct udphdr));
	ip->protocol = IPPROTO_UDP;
	memcpy(&ip->saddr, &grh->sgid_attr->gid.raw[12], sizeof(ip->saddr));
	memcpy(&ip->daddr, &grh->dgid.raw[12], sizeof(ip->daddr));
	return htons(ETH_P_IP);
}

static __be16 put_ipv6(struct sk_buff *skb, const struct ib_global_route *grh)
{
	struct ipv6hdr *ip = skb_put_zero(skb, sizeof(*ip));

	ip6_flow_hdr(ip, grh->traffic_class, htonl(grh->flow_label & IB_GRH_FLOWLABEL_MASK));
	ip->hop_limit = grh->hop_limit;
	ip->payload_len = htons(sizeof(struct udphdr));
	ip->nexthdr = IPPROTO_UDP;
	memcpy(&ip->saddr, grh->sgid_attr->gid.raw, sizeof(ip->saddr));
	memcpy(&ip->daddr, grh->dgid.raw, sizeof(ip->daddr));
	return htons(ETH_P_IPV6);
}

static void put_udp(struct sk_buff *skb, const struct ib_global_route *grh)
{
	struct udphdr *udp = skb_put_zero(skb, sizeof(*udp));

	udp->source = htons(rdma_flow_label_to_udp_sport(grh->flow_label));
	udp->dest = htons(ROCE_V2_UDP_DPORT);
	udp->len = htons(sizeof(*udp));
}

/* The bond reads only headers, so the packet consists of them. */
static struct sk_buff *make_packet(struct net_device *bond, const struct rdma_ah_attr *ah_attr,
				   gfp_t gfp)
{
	const struct ib_global_route *grh = &ah_attr->grh;
	struct sk_buff *skb;
	struct ethhdr *eth;

	skb = alloc_skb(sizeof(*eth) + sizeof(struct ipv6hdr) + sizeof(struct udphdr), gfp);
	if (!skb)
		return NULL;
	skb->dev = bond;
	skb_reset_mac_header(skb);
	eth = skb_put_zero(skb, sizeof(*eth));
	ether_addr_copy(eth->h_dest, ah_attr->roce.dmac);
	rdma_read_gid_l2_fields(grh->sgid_attr, NULL, eth->h_source);
	skb_set_network_header(skb, skb->len);
	skb->protocol = ipv6_addr_v4mapped((const struct in6_addr *)grh->dgid.raw) ?
			put_ipv4(skb, grh) : put_ipv6(skb, grh);
	eth->h_proto = skb->protocol;
	skb_set_transport_header(skb, skb->len);
	put_udp(skb, grh);
	return skb;
}

static struct net_device *ask_bond(struct ib_device *device, struct net_device *bond,
				   const struct rdma_ah_attr *ah_attr, gfp_t gfp)
{
	bool all = device->lag_flags & RDMA_LAG_FLAGS_HASH_ALL_SLAVES;
	struct sk_buff *skb = make_packet(bond, ah_attr, gfp);
	struct net_device *slave;

	if (!skb)
		return ERR_PTR(-ENOMEM);
	scoped_guard(rcu) {
		slave = netdev_get_xmit_slave(bond, skb, all);
		dev_hold(slave);
	}
	kfree_skb(skb);
	return slave;
}

/**
 * rdma_lag_get_ah_roce_slave() - get the slave of a bond through which packets to an address are
 * sent
 * @device: device
 * @ah_attr: the address, with its source GID entry and Ethernet address
 * @flags: GFP_ATOMIC if the caller must not sleep
 *
 * Context: as @flags says.
 * Return: the slave's net device, for rdma_lag_put_ah_roce_slave(); NULL if none is to be chosen,
 * because the address is not one of RoCE v2, has no flow label, or its source GID is not a bond's;
 * or an ERR_PTR: -EINVAL or -ENODEV for a source GID that has left its table, -ENOMEM.
 */
struct net_device *rdma_lag_get_ah_roce_slave(struct ib_device *device,
					      struct rdma_ah_attr *ah_attr, gfp_t flags)
{
	const struct ib_gid_attr *sgid_attr = ah_attr->grh.sgid_attr;
	struct net_device *netdev, *slave = NULL;

	if (ah_attr->type != RDMA_AH_ATTR_TYPE_ROCE || !ah_attr->grh.flow_label ||
	    sgid_attr->gid_type != IB_GID_TYPE_ROCE_UDP_ENCAP)
		return NULL;
	scoped_guard(rcu) {
		netdev = rdma_read_gid_attr_ndev_rcu(sgid_attr);
		if (IS_ERR(netdev))
			return netdev;
		dev_hold(netdev);
	}
	if (netif_is_bond_master(netdev))
		slave = ask_bond(device, netdev, ah_attr, flags);
	dev_put(netdev);
	return slave;
}
EXPORT_SYMBOL_IF_KUNIT(rdma_lag_get_ah_roce_slave);

/**
 * rdma_lag_put_ah_roce_slave() - drop the reference to the slave of a bond
 * @xmit_slave: result of rdma_lag_get_ah_roce_slave(), or NULL
 *
 * Context: any.
 */
void rdma_lag_put_ah_roce_slave(struct net_device *xmit_slave)
{
	dev_put(xmit_slave);
}
EXPORT_SYMBOL_IF_KUNIT(rdma_lag_put_ah_roce_slave);

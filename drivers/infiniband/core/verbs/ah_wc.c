// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Reply addresses, made from the completion of a received datagram and the 40 bytes before its
 * payload.
 */
#include <kunit/static_stub.h>
#include <net/ip.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/rdma_ext.h>
#include "verbs_priv.h"

#define NO_VLAN		0xffff
#define FLOW_LABEL_MASK	0xfffff
#define TCLASS_SHIFT	20
/* The hop limit of replies, since the distance of the sender is unknown. */
#define HOP_LIMIT	0xff

static bool is_ipv4(const struct iphdr *ip)
{
	/* RoCE v2 allows no IP options. */
	return ip->version == 4 && ip->ihl == 5 && !ip_fast_csum(ip, ip->ihl);
}

/**
 * ib_get_rdma_header_version() - is there an IPv4 or an IPv6 header before a payload?
 * @hdr: the 40 bytes before the payload
 *
 * An IPv4 header is in the last 20 of them, and the bytes before it may look like an IPv6 header:
 * then the checksum of the IPv4 header decides.
 *
 * Context: any.
 * Return: 4, 6 (also for a GRH), or 0 for neither.
 */
int ib_get_rdma_header_version(const union rdma_network_hdr *hdr)
{
	u8 version = be32_to_cpu(hdr->ibgrh.version_tclass_flow) >> 28;

	if (version == 6)
		return is_ipv4(&hdr->roce4grh) ? 4 : 6;
	return hdr->roce4grh.version == 4 ? 4 : 0;
}
EXPORT_SYMBOL(ib_get_rdma_header_version);

/**
 * ib_get_gids_from_rdma_hdr() - get the GIDs of sender and receiver of a datagram
 * @hdr: the 40 bytes before the payload
 * @net_type: the type of the headers
 * @sgid: receives the sender's GID
 * @dgid: receives the receiver's GID
 *
 * IPv4 addresses become IPv4-mapped IPv6 addresses.
 *
 * Context: any.
 * Return: 0; -EINVAL for an unknown @net_type or if @sgid or @dgid is NULL.
 */
int ib_get_gids_from_rdma_hdr(const union rdma_network_hdr *hdr, enum rdma_network_type net_type,
			      union ib_gid *sgid, union ib_gid *dgid)
{
	if (!sgid || !dgid)
		return -EINVAL;

	switch (net_type) {
	case RDMA_NETWORK_IPV4:
		ipv6_addr_set_v4mapped(hdr->roce4grh.saddr, (struct in6_addr *)sgid->raw);
		ipv6_addr_set_v4mapped(hdr->roce4grh.daddr, (struct in6_addr *)dgid->raw);
		return 0;
	case RDMA_NETWORK_IB:
	case RDMA_NETWORK_ROCE_V1:
	case RDMA_NETWORK_IPV6:
		*sgid = hdr->ibgrh.sgid;
		*dgid = hdr->ibgrh.dgid;
		return 0;
	default:
		return -EINVAL;
	}
}
EXPORT_SYMBOL(ib_get_gids_from_rdma_hdr);

/* If the completion does not give the type, it is taken from the header. */
static enum rdma_network_type network_type(struct ib_device *device, u32 port_num,
					   const struct ib_wc *wc, const struct ib_grh *grh)
{
	if (!rdma_cap_eth_ah(device, port_num))
		return RDMA_NETWORK_IB;
	if (wc->wc_flags & IB_WC_WITH_NETWORK_HDR_TYPE)
		return wc->network_hdr_type;
	if (ib_get_rdma_header_version((const union rdma_network_hdr *)grh) == 4)
		return RDMA_NETWORK_IPV4;
	return grh->next_hdr == IPPROTO_UDP ? RDMA_NETWORK_IPV6 : RDMA_NETWORK_ROCE_V1;
}

struct eth_gid {
	enum ib_gid_type type;
	u16 vlan;
};

static bool is_eth_gid(const union ib_gid *gid, const struct ib_gid_attr *attr, void *context)
{
	const struct eth_gid *wanted = context;
	u16 vlan = NO_VLAN;

	return attr->gid_type == wanted->type && !rdma_read_gid_l2_fields(attr, &vlan, NULL) &&
	       vlan == wanted->vlan;
}

/* Finds the GID entry of the address to which the message was sent; the reply is sent from it. */
static const struct ib_gid_attr *find_source(struct ib_device *device, u32 port_num,
					     const struct ib_wc *wc, const union ib_gid *dgid,
					     enum ib_gid_type type)
{
	struct eth_gid wanted = {
		.type = type, .vlan = wc->wc_flags & IB_WC_WITH_VLAN ? wc->vlan_id : NO_VLAN,
	};

	if (rdma_protocol_roce(device, port_num))
		return rdma_find_gid_by_filter(device, dgid, port_num, is_eth_gid, &wanted);
	/* The well-known GID of the SA is in no GID table. */
	if (dgid->global.interface_id == cpu_to_be64(IB_SA_WELL_KNOWN_GUID))
		return rdma_get_gid_attr(device, port_num, 0);
	return rdma_find_gid_by_port(device, dgid, IB_GID_TYPE_IB, port_num, NULL);
}

/**
 * rdma_wc_sender() - make an address vector of a datagram's sender, without Ethernet address
 * @device: device that received it
 * @port_num: port that received it
 * @wc: its completion
 * @grh: the 40 bytes before its payload; read only if @wc says that they hold a header
 * @ah_attr: receives the address vector, to be destroyed with rdma_destroy_ah_attr()
 *
 * Unlike ib_init_ah_attr_from_wc() this does not resolve the Ethernet address of a RoCE peer.
 *
 * Context: any.
 * Return: 0, or an error of ib_init_ah_attr_from_wc() other than those of the resolution.
 */
int rdma_wc_sender(struct ib_device *device, u32 port_num, const struct ib_wc *wc,
		   const struct ib_grh *grh, struct rdma_ah_attr *ah_attr)
{
	bool roce = rdma_protocol_roce(device, port_num);
	const struct ib_gid_attr *source;
	enum rdma_network_type type;
	union ib_gid sgid, dgid;
	u32 flow;
	int ret;

	*ah_attr = (struct rdma_ah_attr){ .type = rdma_ah_find_type(device, port_num) };
	rdma_ah_set_port_num(ah_attr, port_num);
	rdma_ah_set_sl(ah_attr, wc->sl);
	if (!roce) {
		rdma_ah_set_dlid(ah_attr, wc->slid);
		rdma_ah_set_path_bits(ah_attr, wc->dlid_path_bits);
	}
	if (!(wc->wc_flags & IB_WC_GRH))
		return roce ? -EPROTOTYPE : 0;

	type = network_type(device, port_num, wc, grh);
	ret = ib_get_gids_from_rdma_hdr((const union rdma_network_hdr *)grh, type, &sgid, &dgid);
	if (ret)
		return ret;
	source = find_source(device, port_num, wc, &dgid, ib_network_to_gid_type(type));
	if (IS_ERR(source))
		return PTR_ERR(source);
	flow = be32_to_cpu(grh->version_tclass_flow);
	rdma_move_grh_sgid_attr(ah_attr, &sgid, flow & FLOW_LABEL_MASK, HOP_LIMIT,
				flow >> TCLASS_SHIFT, source);
	return 0;
}
EXPORT_SYMBOL(rdma_wc_sender);

/**
 * rdma_wc_sender_is_known() - can a datagram be answered without resolving its sender?
 * @device: device that received it
 * @port_num: port that received it
 * @wc: its completion
 * @grh: the 40 bytes before its payload; read only if @wc says that they hold a header
 *
 * A receive handler that must not wait calls this before ib_init_ah_attr_from_wc(): the sender of a
 * datagram chooses the address to which the reply goes, and may choose one that does not exist.
 *
 * Context: may sleep, but does not wait for replies from the network.
 * Return: false if ib_init_ah_attr_from_wc() would have to wait for the resolution of the sender's
 * Ethernet address, which has been started now; true also if it would fail at once.
 */
bool rdma_wc_sender_is_known(struct ib_device *device, u32 port_num, const struct ib_wc *wc,
			     const struct ib_grh *grh)
{
	struct rdma_ah_attr back;
	bool known;

	KUNIT_STATIC_STUB_REDIRECT(rdma_wc_sender_is_known, device, port_num, wc, grh);
	might_sleep();
	if (!rdma_protocol_roce(device, port_num) ||
	    rdma_wc_sender(device, port_num, wc, grh, &back))
		return true;
	known = ah_attr_dmac_is_known(&back);
	rdma_destroy_ah_attr(&back);
	return known;
}
EXPORT_SYMBOL(rdma_wc_sender_is_known);

/**
 * ib_init_ah_attr_from_wc() - make an address vector for a reply to a datagram
 * @device: device that received it
 * @port_num: port that received it
 * @wc: its completion
 * @grh: the 40 bytes before its payload; read only if @wc says that they hold a header
 * @ah_attr: receives the address vector, which with a GRH owns a reference on its source GID entry:
 *	to be destroyed with rdma_destroy_ah_attr()
 *
 * Context: may sleep.
 * Return: 0; -EPROTOTYPE for a RoCE datagram without a header; -EINVAL for a header of unknown
 * type; -ENOENT or -ENODEV if this port does not have the address to which it was sent; the error
 * of rdma_addr_find_l2_eth_by_grh() if the sender's Ethernet address cannot be resolved.
 */
int ib_init_ah_attr_from_wc(struct ib_device *device, u32 port_num, const struct ib_wc *wc,
			    const struct ib_grh *grh, struct rdma_ah_attr *ah_attr)
{
	int ret;

	KUNIT_STATIC_STUB_REDIRECT(ib_init_ah_attr_from_wc, device, port_num, wc, grh, ah_attr);
	might_sleep();
	ret = rdma_wc_sender(device, port_num, wc, grh, ah_attr);
	if (ret || !rdma_protocol_roce(device, port_num))
		return ret;
	ret = ah_attr_resolve_dmac(ah_attr);
	if (ret)
		rdma_destroy_ah_attr(ah_attr);
	return ret;
}
EXPORT_SYMBOL(ib_init_ah_attr_from_wc);

/**
 * ib_create_ah_from_wc() - make an address handle for a reply to a datagram
 * @pd: PD
 * @wc: its completion
 * @grh: the 40 bytes before its payload
 * @port_num: the port that received it
 *
 * Context: may sleep.
 * Return: the AH, to be destroyed with rdma_destroy_ah(); or an ERR_PTR with an error of
 * ib_init_ah_attr_from_wc() or rdma_create_ah().
 */
struct ib_ah *ib_create_ah_from_wc(struct ib_pd *pd, const struct ib_wc *wc,
				   const struct ib_grh *grh, u32 port_num)
{
	struct rdma_ah_attr back;
	int ret = ib_init_ah_attr_from_wc(pd->device, port_num, wc, grh, &back);
	struct ib_ah *ah = ERR_PTR(ret);

	if (!ret) {
		ah = rdma_create_ah(pd, &back, RDMA_CREATE_AH_SLEEPABLE);
		rdma_destroy_ah_attr(&back);
	}
	return ah;
}
EXPORT_SYMBOL(ib_create_ah_from_wc);

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Address vectors.  One with a GRH may own a reference to its source GID entry;
 * the calls here say for each copy and move who owns it afterwards.
 */
#include <net/if_inet6.h>
#include <net/ip.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include "../addr/addr.h"
#include "verbs_priv.h"

static const struct ib_gid_attr *ah_attr_sgid(const struct rdma_ah_attr *ah_attr)
{
	return ah_attr->ah_flags & IB_AH_GRH ? ah_attr->grh.sgid_attr : NULL;
}

/**
 * rdma_destroy_ah_attr() - drop the reference an address vector owns
 * @ah_attr: address vector, without source GID entry afterwards
 *
 * Context: any.
 */
void rdma_destroy_ah_attr(struct rdma_ah_attr *ah_attr)
{
	const struct ib_gid_attr *sgid_attr = ah_attr_sgid(ah_attr);

	if (!sgid_attr)
		return;
	ah_attr->grh.sgid_attr = NULL;
	rdma_put_gid_attr(sgid_attr);
}
EXPORT_SYMBOL(rdma_destroy_ah_attr);

/**
 * rdma_copy_ah_attr() - copy an address vector
 * @dest: receives the copy, with a reference of its own; it is overwritten
 * @src: address vector
 *
 * Context: any.
 */
void rdma_copy_ah_attr(struct rdma_ah_attr *dest, const struct rdma_ah_attr *src)
{
	const struct ib_gid_attr *sgid_attr = ah_attr_sgid(src);

	*dest = *src;
	if (sgid_attr)
		rdma_hold_gid_attr(sgid_attr);
}
EXPORT_SYMBOL(rdma_copy_ah_attr);

/**
 * rdma_move_ah_attr() - move an address vector
 * @dest: address vector, destroyed and overwritten; takes over the reference of @src
 * @src: address vector, without source GID entry afterwards
 *
 * Context: any.
 */
void rdma_move_ah_attr(struct rdma_ah_attr *dest, struct rdma_ah_attr *src)
{
	rdma_destroy_ah_attr(dest);
	*dest = *src;
	src->grh.sgid_attr = NULL;
}
EXPORT_SYMBOL(rdma_move_ah_attr);

/**
 * rdma_replace_ah_attr() - copy an address vector over one that owns a reference
 * @old: address vector, destroyed and overwritten
 * @new: address vector that is copied
 *
 * Context: any.
 */
void rdma_replace_ah_attr(struct rdma_ah_attr *old, const struct rdma_ah_attr *new)
{
	struct rdma_ah_attr copy;

	/*
	 * The old and the new attributes may share the entry, so the new reference is taken first.
	 */
	rdma_copy_ah_attr(&copy, new);
	rdma_destroy_ah_attr(old);
	*old = copy;
}
EXPORT_SYMBOL(rdma_replace_ah_attr);

/**
 * rdma_move_grh_sgid_attr() - give an address vector a GRH
 * @attr: address vector without source GID entry
 * @dgid: destination GID
 * @flow_label: flow label, 20 bits
 * @hop_limit: hop limit
 * @traffic_class: traffic class
 * @sgid_attr: source GID entry; its reference goes to @attr
 *
 * Context: any.
 */
void rdma_move_grh_sgid_attr(struct rdma_ah_attr *attr, union ib_gid *dgid, u32 flow_label,
			     u8 hop_limit, u8 traffic_class, const struct ib_gid_attr *sgid_attr)
{
	u8 index = sgid_attr->index;

	rdma_ah_set_grh(attr, dgid, flow_label, index, hop_limit, traffic_class);
	attr->grh.sgid_attr = sgid_attr;
}
EXPORT_SYMBOL(rdma_move_grh_sgid_attr);

/**
 * ah_attr_check() - check that an address vector can be used on a device
 * @device: device
 * @ah_attr: address vector
 *
 * Return: 0, or -EINVAL with the reason recorded.
 */
int ah_attr_check(struct ib_device *device, const struct rdma_ah_attr *ah_attr)
{
	const struct ib_gid_attr *sgid_attr = ah_attr_sgid(ah_attr);
	u32 port = ah_attr->port_num;

	if (!rdma_is_port_valid(device, port))
		return rdma_refuse(-EINVAL, "address vector: no port %u", port);
	if (!(ah_attr->ah_flags & IB_AH_GRH) &&
	    (rdma_is_grh_required(device, port) || ah_attr->type == RDMA_AH_ATTR_TYPE_ROCE))
		return rdma_refuse(-EINVAL, "address vector: port %u needs a GRH", port);
	if (sgid_attr &&
	    (sgid_attr->index != ah_attr->grh.sgid_index || sgid_attr->port_num != port))
		return rdma_refuse(-EINVAL, "address vector: GID %u is not sgid_index %u, port %u",
				   sgid_attr->index, ah_attr->grh.sgid_index, port);
	return 0;
}

/**
 * ah_attr_hold_sgid() - check an address vector and give it its source GID entry
 * @device: device
 * @ah_attr: address vector; a GRH without an entry gets the one of sgid_index
 * @held: receives the entry if it was looked up here, else NULL; for ah_attr_drop_sgid()
 *
 * Context: any but hard interrupts.
 * Return: 0; -EINVAL; or the error of rdma_get_gid_attr().
 */
int ah_attr_hold_sgid(struct ib_device *device, struct rdma_ah_attr *ah_attr,
		      const struct ib_gid_attr **held)
{
	struct ib_global_route *grh = &ah_attr->grh;
	const struct ib_gid_attr *entry;
	int ret;

	*held = NULL;
	ret = ah_attr_check(device, ah_attr);
	if (ret || !(ah_attr->ah_flags & IB_AH_GRH) || grh->sgid_attr)
		return ret;
	entry = rdma_get_gid_attr(device, ah_attr->port_num, grh->sgid_index);
	if (IS_ERR(entry))
		return rdma_refuse(PTR_ERR(entry), "address vector: no GID at index %u of port %u",
				   grh->sgid_index, ah_attr->port_num);
	grh->sgid_attr = entry;
	*held = entry;
	return 0;
}

/**
 * ah_attr_drop_sgid() - undo ah_attr_hold_sgid()
 * @ah_attr: address vector; restored to what the caller of ah_attr_hold_sgid() passed
 * @held: result of ah_attr_hold_sgid()
 */
void ah_attr_drop_sgid(struct rdma_ah_attr *ah_attr, const struct ib_gid_attr *held)
{
	if (!held)
		return;
	ah_attr->grh.sgid_attr = NULL;
	rdma_put_gid_attr(held);
}

/* A link-local GID of RoCE v1 contains the Ethernet address. */
static bool has_dmac(const struct rdma_ah_attr *ah_attr)
{
	return rdma_link_local_addr((struct in6_addr *)ah_attr->grh.dgid.raw) &&
	       ah_attr->grh.sgid_attr->gid_type == IB_GID_TYPE_ROCE;
}

/**
 * ah_attr_dmac_is_known() - is the Ethernet address of a RoCE peer known without resolution?
 * @ah_attr: address vector with its source GID entry
 *
 * Context: may sleep, but does not wait for replies from the network.
 * Return: false if ah_attr_resolve_dmac() would have to wait for neighbour discovery, which has
 * been started now.
 */
bool ah_attr_dmac_is_known(const struct rdma_ah_attr *ah_attr)
{
	const struct ib_global_route *grh = &ah_attr->grh;

	return rdma_is_multicast_addr((struct in6_addr *)grh->dgid.raw) || has_dmac(ah_attr) ||
	       addr_eth_is_known(&grh->sgid_attr->gid, &grh->dgid, grh->sgid_attr);
}

/**
 * ah_attr_resolve_dmac() - find the Ethernet address of a RoCE peer
 * @ah_attr: address vector with its source GID entry; receives the Ethernet address and, if
 *	neighbour discovery was needed, the hop limit of the route
 *
 * Users name a peer by GID alone, while its frames need an Ethernet address.
 *
 * Context: may sleep, for up to a second.
 * Return: 0, or the error of rdma_addr_find_l2_eth_by_grh().
 */
int ah_attr_resolve_dmac(struct rdma_ah_attr *ah_attr)
{
	struct ib_global_route *grh = &ah_attr->grh;
	struct in6_addr *dgid = (struct in6_addr *)grh->dgid.raw;
	int hop_limit, ret;

	if (rdma_is_multicast_addr(dgid)) {
		if (ipv6_addr_v4mapped(dgid))
			ip_eth_mc_map(dgid->s6_addr32[3], ah_attr->roce.dmac);
		else
			ipv6_eth_mc_map(dgid, ah_attr->roce.dmac);
		return 0;
	}
	if (has_dmac(ah_attr)) {
		rdma_get_ll_mac(dgid, ah_attr->roce.dmac);
		return 0;
	}
	ret = rdma_addr_find_l2_eth_by_grh(&grh->sgid_attr->gid, &grh->dgid, ah_attr->roce.dmac,
					   grh->sgid_attr, &hop_limit);
	if (!ret)
		grh->hop_limit = hop_limit;
	return ret;
}

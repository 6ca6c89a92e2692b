/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Access to members of address vectors of any type, and UDP ports and flow labels
 * of RoCE v2.
 */
#ifndef RDMA_VERBS_AH_ATTR_H
#define RDMA_VERBS_AH_ATTR_H

#include <linux/bug.h>
#include <rdma/verbs/ah.h>
#include <rdma/verbs/caps.h>

/**
 * rdma_ah_retrieve_dmac() - get the destination MAC of an address vector
 * @attr: address vector
 *
 * Return: the six bytes, or NULL if it is not of type RoCE.
 */
static inline u8 *rdma_ah_retrieve_dmac(struct rdma_ah_attr *attr)
{
	return attr->type == RDMA_AH_ATTR_TYPE_ROCE ? attr->roce.dmac : NULL;
}

static inline void rdma_ah_set_dlid(struct rdma_ah_attr *attr, u32 dlid)
{
	switch (attr->type) {
	case RDMA_AH_ATTR_TYPE_IB:
		attr->ib.dlid = dlid;
		break;
	case RDMA_AH_ATTR_TYPE_OPA:
		attr->opa.dlid = dlid;
		break;
	default:
		break;
	}
}

static inline u32 rdma_ah_get_dlid(const struct rdma_ah_attr *attr)
{
	switch (attr->type) {
	case RDMA_AH_ATTR_TYPE_IB:
		return attr->ib.dlid;
	case RDMA_AH_ATTR_TYPE_OPA:
		return attr->opa.dlid;
	default:
		return 0;
	}
}

static inline void rdma_ah_set_path_bits(struct rdma_ah_attr *attr, u8 src_path_bits)
{
	switch (attr->type) {
	case RDMA_AH_ATTR_TYPE_IB:
		attr->ib.src_path_bits = src_path_bits;
		break;
	case RDMA_AH_ATTR_TYPE_OPA:
		attr->opa.src_path_bits = src_path_bits;
		break;
	default:
		break;
	}
}

static inline u8 rdma_ah_get_path_bits(const struct rdma_ah_attr *attr)
{
	switch (attr->type) {
	case RDMA_AH_ATTR_TYPE_IB:
		return attr->ib.src_path_bits;
	case RDMA_AH_ATTR_TYPE_OPA:
		return attr->opa.src_path_bits;
	default:
		return 0;
	}
}

static inline void rdma_ah_set_make_grd(struct rdma_ah_attr *attr, bool make_grd)
{
	if (attr->type != RDMA_AH_ATTR_TYPE_OPA)
		return;
	attr->opa.make_grd = make_grd;
}

static inline bool rdma_ah_get_make_grd(const struct rdma_ah_attr *attr)
{
	return attr->type == RDMA_AH_ATTR_TYPE_OPA && attr->opa.make_grd;
}

static inline void rdma_ah_set_sl(struct rdma_ah_attr *attr, u8 sl)
{
	attr->sl = sl;
}

static inline u8 rdma_ah_get_sl(const struct rdma_ah_attr *attr)
{
	return attr->sl;
}

static inline void rdma_ah_set_port_num(struct rdma_ah_attr *attr, u32 port_num)
{
	attr->port_num = port_num;
}

static inline u32 rdma_ah_get_port_num(const struct rdma_ah_attr *attr)
{
	return attr->port_num;
}

static inline void rdma_ah_set_static_rate(struct rdma_ah_attr *attr, u8 static_rate)
{
	attr->static_rate = static_rate;
}

static inline u8 rdma_ah_get_static_rate(const struct rdma_ah_attr *attr)
{
	return attr->static_rate;
}

static inline void rdma_ah_set_ah_flags(struct rdma_ah_attr *attr, enum ib_ah_flags flag)
{
	attr->ah_flags = flag;
}

static inline enum ib_ah_flags rdma_ah_get_ah_flags(const struct rdma_ah_attr *attr)
{
	return attr->ah_flags;
}

static inline const struct ib_global_route *rdma_ah_read_grh(const struct rdma_ah_attr *attr)
{
	return &attr->grh;
}

/* The same, writable. */
static inline struct ib_global_route *rdma_ah_retrieve_grh(struct rdma_ah_attr *attr)
{
	return &attr->grh;
}

static inline void rdma_ah_set_dgid_raw(struct rdma_ah_attr *attr, void *dgid)
{
	memcpy(&attr->grh.dgid, dgid, sizeof(union ib_gid));
}

static inline void rdma_ah_set_subnet_prefix(struct rdma_ah_attr *attr, __be64 prefix)
{
	attr->grh.dgid.global.subnet_prefix = prefix;
}

static inline void rdma_ah_set_interface_id(struct rdma_ah_attr *attr, __be64 if_id)
{
	attr->grh.dgid.global.interface_id = if_id;
}

/**
 * rdma_ah_set_grh() - give an address vector a global route
 * @attr: address vector; holds no reference to a source GID entry
 * @dgid: destination GID, or NULL to keep the one it has
 * @flow_label: 20 bits
 * @sgid_index: index of the source GID
 * @hop_limit: routers it may pass
 * @traffic_class: traffic class
 */
static inline void rdma_ah_set_grh(struct rdma_ah_attr *attr, union ib_gid *dgid, u32 flow_label,
				   u8 sgid_index, u8 hop_limit, u8 traffic_class)
{
	attr->grh = (struct ib_global_route) {
		.dgid = dgid ? *dgid : attr->grh.dgid,
		.flow_label = flow_label,
		.sgid_index = sgid_index,
		.hop_limit = hop_limit,
		.traffic_class = traffic_class,
	};
	attr->ah_flags = IB_AH_GRH;
}

/**
 * rdma_ah_find_type() - get the type of address vectors of a port
 * @dev: device
 * @port_num: port
 *
 * Return: the type; RDMA_AH_ATTR_TYPE_UNDEFINED for ports without address vectors.
 */
static inline enum rdma_ah_attr_type rdma_ah_find_type(struct ib_device *dev, u32 port_num)
{
	if (rdma_protocol_roce(dev, port_num))
		return RDMA_AH_ATTR_TYPE_ROCE;
	if (rdma_protocol_ib(dev, port_num) && rdma_cap_opa_ah(dev, port_num))
		return RDMA_AH_ATTR_TYPE_OPA;
	if (rdma_protocol_ib(dev, port_num) || dev->type == RDMA_DEVICE_TYPE_SMI)
		return RDMA_AH_ATTR_TYPE_IB;
	return RDMA_AH_ATTR_TYPE_UNDEFINED;
}

/* Converts a LID to 16 bits; a larger one is a bug of the caller. */
static inline u16 ib_lid_cpu16(u32 lid)
{
	WARN_ON_ONCE(lid > U16_MAX);
	return lid;
}

/* The same, in network byte order. */
static inline __be16 ib_lid_be16(u32 lid)
{
	return cpu_to_be16(ib_lid_cpu16(lid));
}

/* Range of UDP source ports of RoCE v2, and the 20 bits of a flow label. */
#define IB_ROCE_UDP_ENCAP_VALID_PORT_MIN (0xC000)
#define IB_ROCE_UDP_ENCAP_VALID_PORT_MAX (0xFFFF)
#define IB_GRH_FLOWLABEL_MASK (0x000FFFFF)

/**
 * rdma_flow_label_to_udp_sport() - compute the UDP source port for a flow label
 * @fl: flow label
 *
 * Return: port 0xC000 + the label's 14 low bits, the 6 high ones folded in.
 */
static inline u16 rdma_flow_label_to_udp_sport(u32 fl)
{
	u32 low = fl & GENMASK(13, 0), high = (fl & IB_GRH_FLOWLABEL_MASK) >> 14;

	return IB_ROCE_UDP_ENCAP_VALID_PORT_MIN | (low ^ high);
}

/**
 * rdma_calc_flow_label() - compute the flow label of two connected QPs
 * @lqpn: local QP number
 * @rqpn: remote QP number
 *
 * Return: the same 20 bits on both sides.
 */
static inline u32 rdma_calc_flow_label(u32 lqpn, u32 rqpn)
{
	u64 product = (u64)lqpn * rqpn;
	u64 half = product ^ (product >> 20);

	return (half ^ (half >> 40)) & IB_GRH_FLOWLABEL_MASK;
}

/**
 * rdma_get_udp_sport() - compute the UDP source port of two connected QPs
 * @fl: flow label, or 0 to derive one from the QP numbers
 * @lqpn: local QP number
 * @rqpn: remote QP number
 *
 * Return: the port.
 */
static inline u16 rdma_get_udp_sport(u32 fl, u32 lqpn, u32 rqpn)
{
	return rdma_flow_label_to_udp_sport(fl ? fl : rdma_calc_flow_label(lqpn, rqpn));
}

#endif /* RDMA_VERBS_AH_ATTR_H */

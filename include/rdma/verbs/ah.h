/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Addresses: routes, rates, address vectors and address handles.
 */
#ifndef RDMA_VERBS_AH_H
#define RDMA_VERBS_AH_H

#include <linux/ip.h>
#include <rdma/rdma_object.h>
#include <rdma/verbs/types.h>
#include <rdma/verbs/uobject.h>

struct ib_wc;

/**
 * struct ib_global_route - the part of an address that crosses subnets
 * @sgid_attr: source GID entry, a counted reference once the core has resolved it
 * @dgid: destination GID
 * @flow_label: 20 bits
 * @sgid_index: index of the source GID in the port's table
 * @hop_limit: routers it may pass
 * @traffic_class: traffic class
 */
struct ib_global_route {
	const struct ib_gid_attr *sgid_attr;
	union ib_gid	dgid;
	u32		flow_label;
	u8		sgid_index;
	u8		hop_limit;
	u8		traffic_class;
};

/* Global route header before a datagram's payload, in wire format. */
struct ib_grh {
	__be32		version_tclass_flow;
	__be16		paylen;
	u8		next_hdr;
	u8		hop_limit;
	union ib_gid	sgid;
	union ib_gid	dgid;
};

/* The 40 bytes before a datagram's payload: a GRH, or padding and an IPv4 header. */
union rdma_network_hdr {
	struct ib_grh ibgrh;
	struct {
		u8		reserved[20];
		struct iphdr	roce4grh;
	};
};

#define IB_QPN_MASK		0xFFFFFF

enum {
	IB_MULTICAST_QPN = 0xffffff
};

#define IB_LID_PERMISSIVE	cpu_to_be16(0xFFFF)
#define IB_MULTICAST_LID_BASE	cpu_to_be16(0xC000)

enum ib_ah_flags {
	IB_AH_GRH	= 1
};

/* Static rates; the values are those of a path record. */
enum ib_rate {
	IB_RATE_PORT_CURRENT = 0,
	IB_RATE_2_5_GBPS = 2,
	IB_RATE_5_GBPS   = 5,
	IB_RATE_10_GBPS  = 3,
	IB_RATE_20_GBPS  = 6,
	IB_RATE_30_GBPS  = 4,
	IB_RATE_40_GBPS  = 7,
	IB_RATE_60_GBPS  = 8,
	IB_RATE_80_GBPS  = 9,
	IB_RATE_120_GBPS = 10,
	IB_RATE_14_GBPS  = 11,
	IB_RATE_56_GBPS  = 12,
	IB_RATE_112_GBPS = 13,
	IB_RATE_168_GBPS = 14,
	IB_RATE_25_GBPS  = 15,
	IB_RATE_100_GBPS = 16,
	IB_RATE_200_GBPS = 17,
	IB_RATE_300_GBPS = 18,
	IB_RATE_28_GBPS  = 19,
	IB_RATE_50_GBPS  = 20,
	IB_RATE_400_GBPS = 21,
	IB_RATE_600_GBPS = 22,
	IB_RATE_800_GBPS = 23,
};

__attribute_const__ int ib_rate_to_mult(enum ib_rate rate);

__attribute_const__ int ib_rate_to_mbps(enum ib_rate rate);

__attribute_const__ enum ib_rate mult_to_ib_rate(int mult);

/* Arguments of a driver's create_ah(); see enum rdma_create_ah_flags. */
struct rdma_ah_init_attr {
	struct rdma_ah_attr *ah_attr;
	u32 flags;
	struct net_device *xmit_slave;
};

enum rdma_ah_attr_type {
	RDMA_AH_ATTR_TYPE_UNDEFINED,
	RDMA_AH_ATTR_TYPE_IB,
	RDMA_AH_ATTR_TYPE_ROCE,
	RDMA_AH_ATTR_TYPE_OPA,
};

struct ib_ah_attr {
	u16			dlid;
	u8			src_path_bits;
};

struct roce_ah_attr {
	u8			dmac[ETH_ALEN];
};

struct opa_ah_attr {
	u32			dlid;
	u8			src_path_bits;
	bool			make_grd;
};

/**
 * struct rdma_ah_attr - an address vector
 * @grh: global route, valid when @ah_flags has IB_AH_GRH
 * @sl: service level, 4 bits
 * @static_rate: enum ib_rate
 * @port_num: local port to send from
 * @ah_flags: enum ib_ah_flags
 * @type: which member of the union is valid
 * @ib: LID route
 * @roce: destination MAC
 * @opa: Omni-Path route
 */
struct rdma_ah_attr {
	struct ib_global_route	grh;
	u8			sl;
	u8			static_rate;
	u32			port_num;
	u8			ah_flags;
	enum rdma_ah_attr_type type;
	union {
		struct ib_ah_attr ib;
		struct roce_ah_attr roce;
		struct opa_ah_attr opa;
	};
};

/**
 * struct ib_ah - address handle: an address vector bound to a PD
 * @device: device
 * @pd: PD it belongs to
 * @uobject: the user's handle, NULL for a kernel AH
 * @sgid_attr: source GID entry, reference held while the AH lives
 * @type: type of address
 * @RDMA_OBJECT_BASE: object base
 */
struct ib_ah {
	struct ib_device	*device;
	struct ib_pd		*pd;
	struct ib_uobject	*uobject;
	const struct ib_gid_attr *sgid_attr;
	enum rdma_ah_attr_type	type;

	RDMA_OBJECT_BASE;
};

enum rdma_create_ah_flags {
	RDMA_CREATE_AH_SLEEPABLE = BIT(0),
};

struct ib_ah *rdma_create_ah(struct ib_pd *pd, struct rdma_ah_attr *ah_attr,
			     u32 flags);

struct ib_ah *rdma_create_user_ah(struct ib_pd *pd,
				  struct rdma_ah_attr *ah_attr,
				  struct ib_udata *udata);

int ib_get_gids_from_rdma_hdr(const union rdma_network_hdr *hdr,
			      enum rdma_network_type net_type,
			      union ib_gid *sgid, union ib_gid *dgid);

int ib_get_rdma_header_version(const union rdma_network_hdr *hdr);

int ib_init_ah_attr_from_wc(struct ib_device *device, u32 port_num,
			    const struct ib_wc *wc, const struct ib_grh *grh,
			    struct rdma_ah_attr *ah_attr);

struct ib_ah *ib_create_ah_from_wc(struct ib_pd *pd, const struct ib_wc *wc,
				   const struct ib_grh *grh, u32 port_num);

int rdma_modify_ah(struct ib_ah *ah, struct rdma_ah_attr *ah_attr);

int rdma_query_ah(struct ib_ah *ah, struct rdma_ah_attr *ah_attr);

enum rdma_destroy_ah_flags {
	RDMA_DESTROY_AH_SLEEPABLE = BIT(0),
};

int rdma_destroy_ah_user(struct ib_ah *ah, u32 flags, struct ib_udata *udata);

/**
 * rdma_destroy_ah() - destroy a kernel AH
 * @ah: address handle
 * @flags: enum rdma_destroy_ah_flags
 */
static inline void rdma_destroy_ah(struct ib_ah *ah, u32 flags)
{
	int err = rdma_destroy_ah_user(ah, flags, NULL);

	WARN_ONCE(err, "kernel AH not destroyed: %d\n", err);
}

void rdma_destroy_ah_attr(struct rdma_ah_attr *ah_attr);

void rdma_move_grh_sgid_attr(struct rdma_ah_attr *attr, union ib_gid *dgid,
			     u32 flow_label, u8 hop_limit, u8 traffic_class,
			     const struct ib_gid_attr *sgid_attr);

void rdma_copy_ah_attr(struct rdma_ah_attr *dest,
		       const struct rdma_ah_attr *src);

void rdma_replace_ah_attr(struct rdma_ah_attr *old,
			  const struct rdma_ah_attr *new);

void rdma_move_ah_attr(struct rdma_ah_attr *dest, struct rdma_ah_attr *src);

#endif /* RDMA_VERBS_AH_H */

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Declarations that every part of the verbs API uses: forward declarations, GIDs and
 * the transports.
 */
#ifndef RDMA_VERBS_TYPES_H
#define RDMA_VERBS_TYPES_H

#include <linux/bits.h>
#include <linux/err.h>
#include <linux/ethtool.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/in6.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <uapi/rdma/ib_user_ioctl_verbs.h>
#include <uapi/rdma/ib_user_verbs.h>
#include <uapi/rdma/rdma_netlink.h>
#include <uapi/rdma/rdma_user_ioctl.h>

struct ib_ah;
struct ib_counters;
struct ib_cq;
struct ib_cqe;
struct ib_device;
struct ib_dm;
struct ib_flow_action;
struct ib_mad;
struct ib_mr;
struct ib_mw;
struct ib_pd;
struct ib_port;
struct ib_qp;
struct ib_rwq_ind_table;
struct ib_srq;
struct ib_ucontext;
struct ib_ucq_object;
struct ib_umem;
struct ib_umem_odp;
struct ib_uobject;
struct ib_uqp_object;
struct ib_usrq_object;
struct ib_uverbs_file;
struct ib_uwq_object;
struct ib_wq;
struct ib_xrcd;
struct hw_stats_device_data;
struct iw_cm_conn_param;
struct iw_cm_id;
struct rdma_cm_id;
struct rdma_counter;
struct uapi_definition;
struct uverbs_attr_bundle;

#define IB_FW_VERSION_NAME_MAX	ETHTOOL_FWVERS_LEN

/*
 * Work queues of the core: ib_wq for its own slow work, ib_comp_wq and
 * ib_comp_unbound_wq for CQs polled by IB_POLL_WORKQUEUE and
 * IB_POLL_UNBOUND_WORKQUEUE.
 */
extern struct workqueue_struct *ib_wq;

extern struct workqueue_struct *ib_comp_wq;

extern struct workqueue_struct *ib_comp_unbound_wq;

/**
 * union ib_gid - 128-bit address of a port, in network byte order
 * @raw: as bytes
 * @global: as subnet prefix and interface identifier
 */
union ib_gid {
	u8	raw[16];
	struct {
		__be64	subnet_prefix;
		__be64	interface_id;
	} global;
};

/* The GID of sixteen zero bytes, which an empty entry of a GID table has. */
extern union ib_gid zgid;

/* Format of the packets that use a GID: InfiniBand, RoCE v1, or RoCE v2 over UDP. */
enum ib_gid_type {
	IB_GID_TYPE_IB = IB_UVERBS_GID_TYPE_IB,
	IB_GID_TYPE_ROCE = IB_UVERBS_GID_TYPE_ROCE_V1,
	IB_GID_TYPE_ROCE_UDP_ENCAP = IB_UVERBS_GID_TYPE_ROCE_V2,
	IB_GID_TYPE_SIZE
};

/* UDP destination port of RoCE v2. */
#define ROCE_V2_UDP_DPORT      4791

/**
 * struct ib_gid_attr - a GID table entry
 * @ndev: network device the GID comes from, NULL on InfiniBand ports; read under RCU
 * @device: device whose table holds the entry
 * @gid: the GID
 * @gid_type: format of the packets that use it
 * @index: index in the port's table
 * @port_num: port, from 1
 *
 * The rdma_get_gid_attr() and rdma_find_gid() families return it with a reference,
 * which rdma_put_gid_attr() releases.
 */
struct ib_gid_attr {
	struct net_device __rcu	*ndev;
	struct ib_device	*device;
	union ib_gid		gid;
	enum ib_gid_type	gid_type;
	u16			index;
	u32			port_num;
};

enum {
	IB_SA_WELL_KNOWN_GUID	= BIT_ULL(57) | 2,
};

enum rdma_transport_type {
	RDMA_TRANSPORT_IB,
	RDMA_TRANSPORT_IWARP,
	RDMA_TRANSPORT_USNIC,
	RDMA_TRANSPORT_USNIC_UDP,
	RDMA_TRANSPORT_UNSPECIFIED,
};

enum rdma_protocol_type {
	RDMA_PROTOCOL_IB,
	RDMA_PROTOCOL_IBOE,
	RDMA_PROTOCOL_IWARP,
	RDMA_PROTOCOL_USNIC_UDP
};

__attribute_const__ enum rdma_transport_type
rdma_node_get_transport(unsigned int node_type);

/* Network layer of an InfiniBand or RoCE packet. */
enum rdma_network_type {
	RDMA_NETWORK_IB,
	RDMA_NETWORK_ROCE_V1,
	RDMA_NETWORK_IPV4,
	RDMA_NETWORK_IPV6
};

/**
 * ib_network_to_gid_type() - get the GID type that belongs to a network layer
 * @network_type: network layer
 *
 * Return: IB_GID_TYPE_ROCE_UDP_ENCAP for IP, IB_GID_TYPE_ROCE for RoCE v1, else IB_GID_TYPE_IB.
 */
static inline enum ib_gid_type ib_network_to_gid_type(enum rdma_network_type network_type)
{
	switch (network_type) {
	case RDMA_NETWORK_ROCE_V1:
		return IB_GID_TYPE_ROCE;
	case RDMA_NETWORK_IPV4:
	case RDMA_NETWORK_IPV6:
		return IB_GID_TYPE_ROCE_UDP_ENCAP;
	default:
		return IB_GID_TYPE_IB;
	}
}

/**
 * rdma_gid_attr_network_type() - get the network layer that a GID table entry uses
 * @attr: the entry
 *
 * Return: the network layer; for RoCE v2, IPv4 if the GID is an IPv4-mapped address,
 * else IPv6.
 */
static inline enum rdma_network_type
rdma_gid_attr_network_type(const struct ib_gid_attr *attr)
{
	switch (attr->gid_type) {
	case IB_GID_TYPE_IB:
		return RDMA_NETWORK_IB;
	case IB_GID_TYPE_ROCE:
		return RDMA_NETWORK_ROCE_V1;
	default:
		return ipv6_addr_v4mapped((const struct in6_addr *)attr->gid.raw) ?
		       RDMA_NETWORK_IPV4 : RDMA_NETWORK_IPV6;
	}
}

enum rdma_link_layer {
	IB_LINK_LAYER_UNSPECIFIED,
	IB_LINK_LAYER_INFINIBAND,
	IB_LINK_LAYER_ETHERNET,
};

#endif /* RDMA_VERBS_TYPES_H */

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Differences between the kernels for which the core and the modules above it are built: Linux
 * 6.12, whose interfaces the sources use, and Linux 7. The driver's compat.h has its definitions
 * for the kernel's own core.
 */
#ifndef RDMA_COMPAT_H
#define RDMA_COMPAT_H

#include <linux/cleanup.h>
#include <linux/dma-buf.h>
#include <linux/mm.h>
#include <linux/rtnetlink.h>
#include <linux/version.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>
#include <net/rtnetlink.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)

#define RDMA_NS_DMA_BUF		"DMA_BUF"
#define move_notify		invalidate_mappings
#define zap_vma_ptes		zap_special_vma_range
#define system_unbound_wq	system_dfl_wq

DEFINE_LOCK_GUARD_0(rtnl, rtnl_lock(), rtnl_unlock())

/* The result type of class.namespace(). */
#define RDMA_CLASS_NS		const struct ns_common

static inline RDMA_CLASS_NS *rdma_class_ns_of(const struct net *net)
{
	return &net->ns;
}

static inline struct dst_entry *rdma_ip6_route(struct net *net, struct flowi6 *flow)
{
	return ip6_dst_lookup_flow(net, NULL, flow, NULL);
}

/* Defines rtnl_link_ops.newlink as a call of a function with the arguments of Linux 6.12. */
#define RDMA_NEWLINK(name, function)						\
static int name(struct net_device *netdev, struct rtnl_newlink_params *params,	\
		struct netlink_ext_ack *extack)					\
{										\
	return function(params->src_net, netdev, params->tb, params->data, extack); \
}

#else

#include <net/ipv6_stubs.h>

#define RDMA_NS_DMA_BUF		DMA_BUF
/* Linux 7 requires this flag for work queues without WQ_UNBOUND. */
#define WQ_PERCPU		0

#define RDMA_CLASS_NS		const void

static inline RDMA_CLASS_NS *rdma_class_ns_of(const struct net *net)
{
	return net;
}

static inline struct dst_entry *rdma_ip6_route(struct net *net, struct flowi6 *flow)
{
	return ipv6_stub->ipv6_dst_lookup_flow(net, NULL, flow, NULL);
}

#define RDMA_NEWLINK(name, function)						\
static int name(struct net *net, struct net_device *netdev, struct nlattr *tb[],	\
		struct nlattr *data[], struct netlink_ext_ack *extack)		\
{										\
	return function(net, netdev, tb, data, extack);				\
}

#endif

#endif /* RDMA_COMPAT_H */

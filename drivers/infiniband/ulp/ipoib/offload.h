/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the stack can leave to the device.
 */
#ifndef IPOIB_OFFLOAD_H
#define IPOIB_OFFLOAD_H

#include <linux/skbuff.h>
#include <rdma/ib_verbs.h>

netdev_features_t ipoib_offload_features(const struct ib_device_attr *attr);
netdev_features_t ipoib_offload_allowed(netdev_features_t features, bool connected);
bool ipoib_offload_fits(const struct sk_buff *skb);

/* Is something of the packet left to the device, which only datagrams can have? */
static inline bool ipoib_offload_used(const struct sk_buff *skb)
{
	return skb->ip_summed == CHECKSUM_PARTIAL;
}

#endif /* IPOIB_OFFLOAD_H */

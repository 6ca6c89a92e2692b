/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the files of roce/ share among themselves.
 *
 * watch.c receives the events of net devices and has the list of devices; port.c updates a port's
 * table; wanted.c determines the GIDs that a port should have. lag.c is independent: it chooses the
 * slave of a bond.
 */
#ifndef RDMA_CORE_ROCE_PRIV_H
#define RDMA_CORE_ROCE_PRIV_H

#include <linux/list.h>
#include <linux/netdevice.h>
#include <rdma/ib_verbs.h>

#include "roce.h"

/**
 * struct roce_gid - a GID that a port should have, once for each type of RoCE
 * @netdev: its net device, referenced
 * @gid: the GID
 * @standard: it is the one that is derived from the MAC address
 */
struct roce_gid {
	struct net_device *netdev;
	union ib_gid gid;
	bool standard;
};

/* The kind of a change. */
enum roce_change_type {
	ROCE_CHANGE_ANY,	/* anything */
	ROCE_CHANGE_MAC,	/* the MAC address of a net device */
	ROCE_CHANGE_ADDRESS,	/* one IP address has come or gone */
};

/**
 * struct roce_change - a change after which the tables are to be updated
 * @entry: in the queue
 * @type: type of the change
 * @netdev: the net device that has changed, referenced; NULL for ROCE_CHANGE_ANY
 * @gid: the address, for ROCE_CHANGE_ADDRESS
 */
struct roce_change {
	struct list_head entry;
	enum roce_change_type type;
	struct net_device *netdev;
	union ib_gid gid;
};

/**
 * roce_concerns() - may a change have added or removed a GID?
 * @change: the change
 * @netdev: net device of the GID
 * @gid: the GID
 *
 * Addresses that are added one by one get their indices in this order. Any other change meanwhile
 * has an event of its own, which is handled later.
 *
 * Return: whether the table has to be updated for this GID.
 */
static inline bool roce_concerns(const struct roce_change *change, const struct net_device *netdev,
				 const union ib_gid *gid)
{
	return change->type != ROCE_CHANGE_ADDRESS ||
	       (change->netdev == netdev && !memcmp(&change->gid, gid, sizeof(*gid)));
}

/**
 * struct roce_gids - the GIDs that a port should have, of those that a change concerns
 * @change: the change
 * @gid: the GIDs, in the order in which they get their indices
 * @count: number of them
 * @room: size of @gid
 */
struct roce_gids {
	const struct roce_change *change;
	struct roce_gid *gid;
	unsigned int count;
	unsigned int room;
};

int roce_gids_collect(struct roce_gids *gids, struct net_device *bottom,
		      const struct roce_change *change);
void roce_gids_release(struct roce_gids *gids);

int roce_port_follow(struct ib_device *device, u32 port_num, const struct roce_change *change);

#endif

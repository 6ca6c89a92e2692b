/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the files of the cache room share among themselves.
 */
#ifndef RDMA_CORE_CACHE_PRIV_H
#define RDMA_CORE_CACHE_PRIV_H

#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>

#include "../device/device.h"
#include "cache.h"

struct gid_table;

/**
 * struct pkey_table - a port's P_Keys at one time; replaced as a whole
 * @rcu: frees it when readers have gone
 * @count: number of entries
 * @pkey: the entries, in host byte order
 */
struct pkey_table {
	struct rcu_head rcu;
	unsigned int count;
	u16 pkey[] __counted_by(count);
};

/**
 * struct rdma_port_cache - what is cached of a port
 * @update: one refresh at a time
 * @gids: GID table; from setup to release
 * @pkeys: P_Key table; NULL before the first refresh
 * @lmc: LID mask count
 * @state: enum ib_port_state
 */
struct rdma_port_cache {
	struct mutex update;
	struct gid_table *gids;
	struct pkey_table __rcu *pkeys;
	u8 lmc;
	u8 state;
};

/* The cache of a port, or NULL if there is no such port or no cache yet. */
static inline struct rdma_port_cache *port_cache(struct ib_device *device, u32 port_num)
{
	if (!device->port_data || !rdma_is_port_valid(device, port_num))
		return NULL;
	return rdma_port(device, port_num)->cache;
}

/* gid.c: a table's life, and its contents. Changes are made with the port's update mutex held. */
struct gid_table *gid_table_alloc(unsigned int size);
void gid_table_clear(struct gid_table *table);
bool gid_table_release(struct gid_table *table);
int gid_table_set(struct gid_table *table, const struct ib_gid_attr *attr, bool *changed);

#endif

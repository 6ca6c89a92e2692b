/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the files of cache/ share among themselves.
 */
#ifndef RDMA_CORE_CACHE_PRIV_H
#define RDMA_CORE_CACHE_PRIV_H

#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>

#include "../device/device.h"
#include "cache.h"

/**
 * struct gid_entry - a GID and its attributes
 * @rcu: delays freeing past the readers once there are no users
 * @netdev_rcu: delays dropping the reference to @netdev past the readers
 * @users: the table's reference and those of users
 * @memory: one reference for all @users, one while @netdev_rcu is pending
 * @retired: it has been removed from the table
 * @table: the table, which lives as long as any entry of it
 * @netdev: its net device, referenced until the entry is retired, or NULL
 * @context: the driver's; see rdma_read_gid_hw_context()
 * @attr: the part that users see
 */
struct gid_entry {
	struct rcu_head rcu;
	struct rcu_head netdev_rcu;
	struct kref users;
	refcount_t memory;
	bool retired;
	struct gid_table *table;
	struct net_device *netdev;
	void *context;
	struct ib_gid_attr attr;
};

/**
 * struct gid_table - GID table of a port
 * @ref: the port's reference and those of entries
 * @lock: one change at a time. The driver's add_gid and del_gid are called with it held; it is
 *	  taken inside the port's update mutex
 * @rcu: frees the table
 * @size: number of entries
 * @reserved: number of leading indices that are reserved for standard GIDs
 * @wanting: a GID has found no free index since the last notification
 * @entry: the entries, NULL where an index is free; of a RoCE port, a retired one as long as
 *	   somebody uses it
 */
struct gid_table {
	struct kref ref;
	struct mutex lock;
	struct rcu_head rcu;
	unsigned int size;
	unsigned int reserved;
	bool wanting;
	struct gid_entry __rcu *entry[] __counted_by(size);
};

static inline struct gid_entry *to_entry(const struct ib_gid_attr *attr)
{
	return container_of(attr, struct gid_entry, attr);
}

/**
 * struct pkey_table - a port's P_Keys at one time; replaced as a whole
 * @rcu: frees it after the last reader
 * @count: number of entries
 * @pkey: the entries, in host byte order
 */
struct pkey_table {
	struct rcu_head rcu;
	unsigned int count;
	u16 pkey[] __counted_by(count);
};

/**
 * struct rdma_port_cache - cached attributes of a port
 * @update: one refresh at a time
 * @gids: GID table; from setup to release
 * @pkeys: P_Key table; NULL before the first refresh
 * @attrs: the attributes that ib_cache_get_port() gives; written with @update held
 * @owed: bits of enum refresh that the last refresh failed to read; protected by @update
 */
struct rdma_port_cache {
	struct mutex update;
	struct gid_table *gids;
	struct pkey_table __rcu *pkeys;
	struct rdma_cached_port attrs;
	unsigned int owed;
};

/*
 * The cache of a port, or NULL if there is no such port or no cache yet. An event that comes while
 * the device is registered may read it at the same time as it is made.
 */
static inline struct rdma_port_cache *port_cache(struct ib_device *device, u32 port_num)
{
	if (!device->port_data || !rdma_is_port_valid(device, port_num))
		return NULL;
	return READ_ONCE(rdma_port(device, port_num)->cache);
}

/* table.c: a table's life, and its contents */
struct gid_table *gid_table_alloc(unsigned int size, unsigned int reserved);
void gid_table_clear(struct gid_table *table, bool roce);
bool gid_table_release(struct gid_table *table);
int gid_table_set(struct gid_table *table, const struct ib_gid_attr *attr, bool *changed);
int gid_table_add(struct gid_table *table, const struct ib_gid_attr *attr, bool standard,
		  bool *changed);
bool gid_table_prune(struct gid_table *table, gid_keep_fn keep, void *context);
void gid_entry_put(struct gid_entry *entry);

#endif

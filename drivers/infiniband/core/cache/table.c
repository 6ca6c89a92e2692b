// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * GID tables: their entries, and how they change.
 *
 * An entry never changes: a GID that takes over an index gets an entry of its own, and users of the
 * old one go on seeing what they took a reference to, except for the net device, which a reference
 * must not keep from being unregistered. An index of a RoCE port, which drivers and packets name,
 * is not given to another GID while the old one has users. Look-ups run under RCU, and so in any
 * context.
 */
#include <linux/cleanup.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <rdma/rdma_reject.h>

#include "cache_priv.h"

/* The memory may come from vmalloc(), which cannot be freed in every context of the last user. */
static void free_table(struct kref *ref)
{
	struct gid_table *table = container_of(ref, struct gid_table, ref);

	mutex_destroy(&table->lock);
	kvfree_rcu(table, rcu);
}

static void free_entry(struct gid_entry *entry)
{
	if (refcount_dec_and_test(&entry->memory))
		kfree(entry);
}

static void entry_unreadable(struct rcu_head *rcu)
{
	free_entry(container_of(rcu, struct gid_entry, rcu));
}

static void netdev_unreadable(struct rcu_head *rcu)
{
	struct gid_entry *entry = container_of(rcu, struct gid_entry, netdev_rcu);

	dev_put(entry->netdev);
	free_entry(entry);
}

/*
 * The net device may be waiting to be unregistered, which is delayed for no longer than the readers
 * under RCU need. The entry's memory stays until they have finished, too.
 */
static void forget_netdev(struct gid_entry *entry)
{
	if (!entry->netdev)
		return;
	RCU_INIT_POINTER(entry->attr.ndev, NULL);
	refcount_inc(&entry->memory);
	call_rcu(&entry->netdev_rcu, netdev_unreadable);
}

/* Called in any context when an index is free again in a table where a GID has found none */
static void (*index_freed)(void);

/**
 * ib_cache_gid_on_free() - set the function to call when a full table has a free entry again
 * @freed: called in any context, once for all GIDs that a table has refused since the last call; or
 *	   NULL
 *
 * Context: while there is no device.
 */
void ib_cache_gid_on_free(void (*freed)(void))
{
	WRITE_ONCE(index_freed, freed);
}

static void notify_freed(struct gid_table *table)
{
	typeof(index_freed) freed = READ_ONCE(index_freed);

	if (freed && READ_ONCE(table->wanting) && xchg(&table->wanting, false))
		freed();
}

/* Called when the last reference is dropped. Readers under RCU may still see the entry. */
static void entry_unused(struct kref *users)
{
	struct gid_entry *entry = container_of(users, struct gid_entry, users);
	struct gid_table *table = entry->table;

	/* Unless another GID has taken the index over, it is free from here on. */
	if (cmpxchg(&table->entry[entry->attr.index], RCU_INITIALIZER(entry), NULL) ==
	    RCU_INITIALIZER(entry))
		notify_freed(table);
	kref_put(&table->ref, free_table);
	call_rcu(&entry->rcu, entry_unreadable);
}

/**
 * gid_entry_put() - drop a reference to an entry
 * @entry: the entry
 *
 * Context: any.
 */
void gid_entry_put(struct gid_entry *entry)
{
	kref_put(&entry->users, entry_unused);
}

/**
 * gid_table_alloc() - make an empty table
 * @size: number of entries
 * @reserved: number of leading indices that only standard GIDs get
 *
 * Return: the table or NULL.
 */
struct gid_table *gid_table_alloc(unsigned int size, unsigned int reserved)
{
	struct gid_table *table = kvzalloc(struct_size(table, entry, size), GFP_KERNEL);

	if (!table)
		return NULL;
	kref_init(&table->ref);
	mutex_init(&table->lock);
	table->size = size;
	table->reserved = reserved;
	return table;
}

static struct gid_entry *alloc_entry(struct gid_table *table, const struct ib_gid_attr *attr)
{
	struct gid_entry *entry = kzalloc(sizeof(*entry), GFP_KERNEL);

	if (!entry)
		return NULL;
	kref_init(&entry->users);
	refcount_set(&entry->memory, 1);
	kref_get(&table->ref);
	entry->table = table;
	entry->attr = *attr;
	entry->netdev = rcu_dereference_protected(attr->ndev, true);
	dev_hold(entry->netdev);
	return entry;
}

/* Ends an entry that is no longer in the table: drops the table's reference. */
static void retire(struct gid_entry *entry)
{
	WRITE_ONCE(entry->retired, true);
	forget_netdev(entry);
	gid_entry_put(entry);
}

static struct gid_entry *entry_at(const struct gid_table *table, unsigned int index)
{
	return rcu_dereference_protected(table->entry[index], lockdep_is_held(&table->lock));
}

/* The last user of a retired entry may free it at any time: read it under RCU. */
static struct gid_entry *gid_at(const struct gid_table *table, unsigned int index)
{
	struct gid_entry *entry;

	guard(rcu)();
	entry = entry_at(table, index);
	return entry && !entry->retired ? entry : NULL;
}

/**
 * gid_table_set() - put a GID of a port that is no RoCE port at an index
 * @table: the table
 * @attr: the GID and its attributes; a zero GID empties the index; if there is a net device, which
 *	the caller holds, the entry takes a reference of its own
 * @changed: set to true if the table is different now, else left alone
 *
 * Return: 0, -EINVAL for an index beyond the table, or -ENOMEM.
 */
int gid_table_set(struct gid_table *table, const struct ib_gid_attr *attr, bool *changed)
{
	struct gid_entry *old, *entry = NULL;

	if (attr->index >= table->size)
		return -EINVAL;
	guard(mutex)(&table->lock);
	old = entry_at(table, attr->index);
	if (rdma_is_zero_gid(&attr->gid)) {
		if (!old)
			return 0;
	} else {
		if (old && !memcmp(&old->attr.gid, &attr->gid, sizeof(attr->gid)) &&
		    old->attr.gid_type == attr->gid_type &&
		    rcu_access_pointer(old->attr.ndev) == rcu_access_pointer(attr->ndev))
			return 0;
		entry = alloc_entry(table, attr);
		if (!entry)
			return -ENOMEM;
	}
	rcu_assign_pointer(table->entry[attr->index], entry);
	if (old)
		retire(old);
	*changed = true;
	return 0;
}

/* Returns an index for a new GID, or -1. */
static int find_free(const struct gid_table *table, bool standard)
{
	unsigned int end = standard ? table->reserved : table->size;

	for (unsigned int index = standard ? 0 : table->reserved; index < end; index++)
		if (!entry_at(table, index))
			return index;
	return -1;
}

/*
 * As find_free(). On failure entry_unused() is told by @wanting, unless an index has become free
 * meanwhile.
 */
static int find_place(struct gid_table *table, bool standard)
{
	int index = find_free(table, standard);

	if (index >= 0)
		return index;
	WRITE_ONCE(table->wanting, true);
	/* Pairs with cmpxchg() in entry_unused(), which is before its look at wanting. */
	smp_mb();
	return find_free(table, standard);
}

/*
 * A port has one standard GID of each type and net device, whatever its value is. Another GID is
 * not needed if the standard one has the same value.
 */
static bool is_there(const struct gid_table *table, const struct ib_gid_attr *attr, bool standard)
{
	for (unsigned int index = 0; index < (standard ? table->reserved : table->size); index++) {
		const struct gid_entry *entry = gid_at(table, index);

		if (entry && entry->attr.gid_type == attr->gid_type &&
		    entry->netdev == rcu_access_pointer(attr->ndev) &&
		    (standard || !memcmp(&entry->attr.gid, &attr->gid, sizeof(attr->gid))))
			return true;
	}
	return false;
}

/**
 * gid_table_add() - add a GID to the table of a RoCE port
 * @table: the table
 * @attr: device, port, GID, type and net device; index is ignored
 * @standard: it is the standard GID of its net device
 * @changed: set to true if the table is different now, else left alone
 *
 * The driver gets the GID before look-ups can find it.
 *
 * Context: may sleep.
 * Return: 0, also if the GID is there already; -ENOSPC, -ENOMEM, or the driver's error.
 */
int gid_table_add(struct gid_table *table, const struct ib_gid_attr *attr, bool standard,
		  bool *changed)
{
	struct ib_device *device = attr->device;
	struct gid_entry *entry;
	int index, ret = 0;

	guard(mutex)(&table->lock);
	if (is_there(table, attr, standard))
		return 0;
	index = find_place(table, standard);
	if (index < 0)
		return -ENOSPC;
	entry = alloc_entry(table, attr);
	if (!entry)
		return -ENOMEM;
	entry->attr.index = index;
	if (rdma_cap_roce_gid_table(device, attr->port_num))
		ret = device->ops.add_gid(&entry->attr, &entry->context);
	if (ret) {
		retire(entry);
		return ret;
	}
	rcu_assign_pointer(table->entry[index], entry);
	*changed = true;
	return 0;
}

/* Look-ups do not find the GID any more; its index becomes free with the last reference. */
static void remove_roce(struct gid_entry *entry)
{
	const struct ib_gid_attr *attr = &entry->attr;

	WRITE_ONCE(entry->retired, true);
	if (rdma_cap_roce_gid_table(attr->device, attr->port_num))
		attr->device->ops.del_gid(attr, &entry->context);
	retire(entry);
}

/**
 * gid_table_prune() - remove GIDs from the table of a RoCE port
 * @table: the table
 * @keep: says whether a GID stays
 * @context: given to @keep
 *
 * Context: may sleep.
 * Return: whether one was removed.
 */
bool gid_table_prune(struct gid_table *table, gid_keep_fn keep, void *context)
{
	bool removed = false;

	guard(mutex)(&table->lock);
	for (unsigned int index = 0; index < table->size; index++) {
		struct gid_entry *entry = gid_at(table, index);

		if (!entry || keep(&entry->attr, index < table->reserved, context))
			continue;
		remove_roce(entry);
		removed = true;
	}
	return removed;
}

static bool keep_none(const struct ib_gid_attr *attr, bool standard, void *context)
{
	return false;
}

/**
 * gid_table_clear() - empty a table
 * @table: the table
 * @roce: it is a RoCE port's
 */
void gid_table_clear(struct gid_table *table, bool roce)
{
	if (roce) {
		gid_table_prune(table, keep_none, NULL);
		return;
	}
	guard(mutex)(&table->lock);
	for (unsigned int index = 0; index < table->size; index++) {
		struct gid_entry *entry = entry_at(table, index);

		RCU_INIT_POINTER(table->entry[index], NULL);
		if (entry)
			retire(entry);
	}
}

/**
 * gid_table_release() - drop the port's reference to a table
 * @table: a cleared table
 *
 * Return: true if it is freed; false if somebody still has a reference to an entry.
 */
bool gid_table_release(struct gid_table *table)
{
	return kref_put(&table->ref, free_table);
}

/**
 * rdma_hold_gid_attr() - take another reference
 * @attr: attributes that the caller has a reference of
 *
 * Context: any.
 */
void rdma_hold_gid_attr(const struct ib_gid_attr *attr)
{
	kref_get(&to_entry(attr)->users);
}
EXPORT_SYMBOL(rdma_hold_gid_attr);

/**
 * rdma_put_gid_attr() - drop a reference
 * @attr: attributes that are not used any more
 *
 * Context: any.
 */
void rdma_put_gid_attr(const struct ib_gid_attr *attr)
{
	gid_entry_put(to_entry(attr));
}
EXPORT_SYMBOL(rdma_put_gid_attr);

/**
 * rdma_read_gid_hw_context() - get the driver's data of a GID
 * @attr: attributes that the caller has a reference of
 *
 * Called by drivers. Context: any.
 * Return: what add_gid has stored; NULL for a driver without add_gid.
 */
void *rdma_read_gid_hw_context(const struct ib_gid_attr *attr)
{
	return to_entry(attr)->context;
}
EXPORT_SYMBOL(rdma_read_gid_hw_context);

static int port_table(struct ib_device *device, u32 port_num, struct gid_table **table)
{
	struct rdma_port_cache *cache = port_cache(device, port_num);

	if (!cache || !rdma_protocol_roce(device, port_num))
		return rdma_refuse(-EINVAL, "%s: port %u is no RoCE port", device->name, port_num);
	*table = cache->gids;
	return 0;
}

/**
 * ib_cache_gid_add() - add a GID to the table of a RoCE port
 * @attr: device, port, GID, type and net device, which the caller holds; index is ignored
 * @standard: it is the standard GID of its net device
 * @changed: set to true if the table is different now, else left alone
 *
 * Dispatches no event. Context: may sleep.
 * Return: 0, also if the GID is there already; -EINVAL for another port; -ENOSPC; -ENOMEM; or the
 * driver's error.
 */
int ib_cache_gid_add(const struct ib_gid_attr *attr, bool standard, bool *changed)
{
	struct gid_table *table;
	int ret = port_table(attr->device, attr->port_num, &table);

	return ret ?: gid_table_add(table, attr, standard, changed);
}

/**
 * ib_cache_gid_prune() - remove GIDs from the table of a RoCE port
 * @device: device that is registered or being registered
 * @port_num: port number
 * @keep: says whether a GID stays; called for each with the table locked
 * @context: given to @keep
 *
 * References stay valid, and the index of a GID is not used again before its last reference is
 * dropped. Dispatches no event. Context: may sleep.
 * Return: whether one was removed.
 */
bool ib_cache_gid_prune(struct ib_device *device, u32 port_num, gid_keep_fn keep, void *context)
{
	struct gid_table *table;

	return !port_table(device, port_num, &table) && gid_table_prune(table, keep, context);
}

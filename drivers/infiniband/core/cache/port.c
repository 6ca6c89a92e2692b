// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Life of a port's cache, its refreshing, P_Keys and port attributes.
 */
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/slab.h>

#include "cache_priv.h"

/* The parts of the cache that are to be read from the driver again; bits. */
enum refresh {
	REFRESH_ATTRS = BIT(0),
	REFRESH_PKEYS = BIT(1),
	REFRESH_GIDS = BIT(2),
};

/* What an event may have changed. Events that are not listed change no cached attribute. */
static const u8 changed_by[] = {
	[IB_EVENT_PORT_ACTIVE] = REFRESH_ATTRS | REFRESH_PKEYS | REFRESH_GIDS,
	[IB_EVENT_PORT_ERR] = REFRESH_ATTRS,
	[IB_EVENT_LID_CHANGE] = REFRESH_ATTRS,
	[IB_EVENT_SM_CHANGE] = REFRESH_ATTRS,
	[IB_EVENT_PKEY_CHANGE] = REFRESH_PKEYS,
	[IB_EVENT_GID_CHANGE] = REFRESH_GIDS,
	[IB_EVENT_CLIENT_REREGISTER] = REFRESH_ATTRS | REFRESH_PKEYS | REFRESH_GIDS,
};

static int refresh_attrs(struct ib_device *device, u32 port_num, struct rdma_port_cache *cache,
			 bool *gids_changed)
{
	struct ib_port_attr attr;
	int ret = ib_query_port(device, port_num, &attr);

	if (ret)
		return ret;
	cache->attrs.lid = attr.lid;
	cache->attrs.sm_lid = attr.sm_lid;
	cache->attrs.sm_sl = attr.sm_sl;
	cache->attrs.subnet_timeout = attr.subnet_timeout;
	/* These two are read without the lock. */
	WRITE_ONCE(cache->attrs.lmc, attr.lmc);
	WRITE_ONCE(cache->attrs.state, attr.state);
	if (attr.subnet_prefix)
		WRITE_ONCE(rdma_port(device, port_num)->subnet_prefix, attr.subnet_prefix);
	return 0;
}

static int refresh_pkeys(struct ib_device *device, u32 port_num, struct rdma_port_cache *cache,
			 bool *gids_changed)
{
	unsigned int count = device->port_data[port_num].immutable.pkey_tbl_len;
	struct pkey_table *table;
	int ret;

	if (!count)
		return 0;
	table = kmalloc(struct_size(table, pkey, count), GFP_KERNEL);
	if (!table)
		return -ENOMEM;
	table->count = count;
	for (unsigned int i = 0; i < count; i++) {
		ret = ib_query_pkey(device, port_num, i, &table->pkey[i]);
		if (ret) {
			kfree(table);
			return ret;
		}
	}
	table = rcu_replace_pointer(cache->pkeys, table, lockdep_is_held(&cache->update));
	if (table)
		kfree_rcu(table, rcu);
	return 0;
}

/* A GID of an iWARP port belongs to the port's net device. Without one the entry is empty. */
static int set_iwarp_gid(struct gid_table *table, struct ib_gid_attr *attr, bool *changed)
{
	struct net_device *netdev = ib_device_get_netdev(attr->device, attr->port_num);
	int ret;

	if (!netdev)
		attr->gid = zgid;
	RCU_INIT_POINTER(attr->ndev, netdev);
	ret = gid_table_set(table, attr, changed);
	dev_put(netdev);
	return ret;
}

/*
 * InfiniBand and iWARP ports have their tables in the device, and RoCE ports have them here alone.
 */
static int refresh_gids(struct ib_device *device, u32 port_num, struct rdma_port_cache *cache,
			bool *changed)
{
	struct ib_gid_attr attr = {
		.device = device,
		.port_num = port_num,
		.gid_type = IB_GID_TYPE_IB,
	};
	unsigned int count = device->port_data[port_num].immutable.gid_tbl_len;
	int ret;

	if (rdma_protocol_roce(device, port_num) || !device->ops.query_gid)
		return 0;
	for (unsigned int i = 0; i < count; i++) {
		attr.index = i;
		ret = device->ops.query_gid(device, port_num, i, &attr.gid);
		if (ret)
			return ret;
		if (i == 0)
			WRITE_ONCE(rdma_port(device, port_num)->subnet_prefix,
				   be64_to_cpu(attr.gid.global.subnet_prefix));
		ret = rdma_protocol_iwarp(device, port_num) ?
			set_iwarp_gid(cache->gids, &attr, changed) :
			gid_table_set(cache->gids, &attr, changed);
		if (ret)
			return ret;
	}
	return 0;
}

/* GIDs first: the subnet prefix is taken from them unless the port gives it. */
static const struct {
	enum refresh what;
	int (*refresh)(struct ib_device *device, u32 port_num, struct rdma_port_cache *cache,
		       bool *gids_changed);
} refreshes[] = {
	{ REFRESH_GIDS, refresh_gids },
	{ REFRESH_ATTRS, refresh_attrs },
	{ REFRESH_PKEYS, refresh_pkeys },
};

/*
 * A part that fails is left to the port's next refresh, and does not keep the others from being
 * read.
 */
static int refresh(struct ib_device *device, u32 port_num, unsigned int what, bool *gids_changed)
{
	struct rdma_port_cache *cache = rdma_port(device, port_num)->cache;
	int ret = 0;

	guard(mutex)(&cache->update);
	what |= cache->owed;
	cache->owed = 0;
	for (unsigned int i = 0; i < ARRAY_SIZE(refreshes); i++) {
		int failed;

		if (!(what & refreshes[i].what))
			continue;
		failed = refreshes[i].refresh(device, port_num, cache, gids_changed);
		if (!failed)
			continue;
		cache->owed |= refreshes[i].what;
		ret = ret ?: failed;
	}
	return ret;
}

/**
 * ib_cache_event() - refresh what an event may have changed
 * @event: event of a registered device, whose handlers have not been called for it yet
 *
 * What cannot be read from the driver stays as it is until the port's next event. If GIDs have
 * changed with an event that does not say so, IB_EVENT_GID_CHANGE is dispatched first. Context: may
 * sleep.
 */
void ib_cache_event(const struct ib_event *event)
{
	struct ib_event gid_event = *event;
	unsigned int what = 0;
	bool changed = false;
	int ret;

	if (event->event < ARRAY_SIZE(changed_by))
		what = changed_by[event->event];
	if (!what || !port_cache(event->device, event->element.port_num))
		return;
	ret = refresh(event->device, event->element.port_num, what, &changed);
	if (ret)
		ibdev_warn(event->device, "port %u: cannot refresh its tables: %d\n",
			   event->element.port_num, ret);
	if (changed && event->event != IB_EVENT_GID_CHANGE) {
		gid_event.event = IB_EVENT_GID_CHANGE;
		ib_dispatch_event_clients(&gid_event);
	}
}
EXPORT_SYMBOL_IF_KUNIT(ib_cache_event);

static struct ib_event_prehandler event_prehandler = { .handle = ib_cache_event };

/**
 * ib_cache_init() - receive the events of all devices
 *
 * Context: while the module is initialised.
 */
void ib_cache_init(void)
{
	ib_events_add_prehandler(&event_prehandler);
}

/* Each net device has one standard GID of each RoCE type that the port supports. */
static struct rdma_port_cache *alloc_cache(struct ib_device *device, u32 port_num)
{
	unsigned int gids = device->port_data[port_num].immutable.gid_tbl_len, standard = 0;
	struct rdma_port_cache *cache = kzalloc(sizeof(*cache), GFP_KERNEL);

	if (!cache)
		return NULL;
	if (rdma_protocol_roce(device, port_num))
		standard = hweight_long(roce_gid_type_mask_support(device, port_num));
	cache->gids = gid_table_alloc(gids, min(standard, gids));
	if (!cache->gids) {
		kfree(cache);
		return NULL;
	}
	mutex_init(&cache->update);
	return cache;
}

/**
 * ib_cache_setup_one() - make and fill the caches of a device's ports
 * @device: device with ports, being registered
 *
 * Return: 0, -ENOMEM or the driver's error; what has been made by then is left to
 * ib_cache_cleanup_one() and ib_cache_release_one().
 */
int ib_cache_setup_one(struct ib_device *device)
{
	bool changed;
	u32 port_num;
	int ret;

	rdma_for_each_port(device, port_num) {
		struct rdma_port_core *port = rdma_port(device, port_num);
		/* An earlier registration that failed may have left one. */
		struct rdma_port_cache *cache = port->cache ?: alloc_cache(device, port_num);

		if (!cache)
			return -ENOMEM;
		/* Events are delivered already: port_cache() gives the whole cache or NULL. */
		smp_store_release(&port->cache, cache);
		ret = refresh(device, port_num, REFRESH_ATTRS | REFRESH_PKEYS | REFRESH_GIDS,
			      &changed);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * ib_cache_cleanup_one() - empty the GID tables of a device
 * @device: device that receives no more events
 */
void ib_cache_cleanup_one(struct ib_device *device)
{
	u32 port_num;

	rdma_for_each_port(device, port_num) {
		struct rdma_port_cache *cache = rdma_port(device, port_num)->cache;

		if (!cache)
			continue;
		gid_table_clear(cache->gids, rdma_protocol_roce(device, port_num));
	}
}

/**
 * ib_cache_release_one() - free the caches of a device
 * @device: device without users
 */
void ib_cache_release_one(struct ib_device *device)
{
	u32 port_num;

	rdma_for_each_port(device, port_num) {
		struct rdma_port_core *port = rdma_port(device, port_num);
		struct rdma_port_cache *cache = port->cache;

		if (!cache)
			continue;
		if (!gid_table_release(cache->gids))
			ibdev_err(device, "port %u: somebody still uses a GID\n", port_num);
		kfree(rcu_dereference_protected(cache->pkeys, true));
		mutex_destroy(&cache->update);
		kfree(cache);
		port->cache = NULL;
	}
}

/**
 * ib_get_cached_pkey() - get a P_Key by its index
 * @device_handle: registered device
 * @port_num: port number
 * @index: index into the port's table
 * @pkey: the P_Key, in host byte order
 *
 * Context: any.
 * Return: 0, or -EINVAL for a bad port or index.
 */
int ib_get_cached_pkey(struct ib_device *device_handle, u32 port_num, int index, u16 *pkey)
{
	struct rdma_port_cache *cache = port_cache(device_handle, port_num);
	struct pkey_table *table;

	if (!cache)
		return -EINVAL;
	guard(rcu)();
	table = rcu_dereference(cache->pkeys);
	if (!table || index < 0 || index >= table->count)
		return -EINVAL;
	*pkey = table->pkey[index];
	return 0;
}
EXPORT_SYMBOL(ib_get_cached_pkey);

/* Returns the index of the first entry that equals pkey in the bits of mask, or -ENOENT. */
static int find_pkey(const struct pkey_table *table, u16 pkey, u16 mask)
{
	for (unsigned int i = 0; table && i < table->count; i++)
		if (!((table->pkey[i] ^ pkey) & mask))
			return i;
	return -ENOENT;
}

static int search_pkey(struct ib_device *device, u32 port_num, u16 pkey, u16 mask, u16 *index)
{
	struct rdma_port_cache *cache = port_cache(device, port_num);
	const struct pkey_table *table;
	int found;

	if (!cache)
		return -EINVAL;
	guard(rcu)();
	table = rcu_dereference(cache->pkeys);
	/* If any membership will do, a full member is preferred. */
	found = mask == 0xffff ? -ENOENT : find_pkey(table, pkey | 0x8000, 0xffff);
	if (found < 0)
		found = find_pkey(table, pkey, mask);
	if (found < 0) {
		*index = -1;
		return found;
	}
	*index = found;
	return 0;
}

/**
 * ib_find_cached_pkey() - index of a P_Key, whatever its membership
 * @device: registered device
 * @port_num: port number
 * @pkey: the P_Key; the membership bit is ignored, but full membership is preferred
 * @index: where it stands, 0xffff if nowhere
 *
 * Context: any.
 * Return: 0, -EINVAL for a bad port, -ENOENT.
 */
int ib_find_cached_pkey(struct ib_device *device, u32 port_num, u16 pkey, u16 *index)
{
	return search_pkey(device, port_num, pkey, 0x7fff, index);
}
EXPORT_SYMBOL(ib_find_cached_pkey);

/**
 * ib_find_exact_cached_pkey() - index of a P_Key with its membership
 * @device: registered device
 * @port_num: port number
 * @pkey: the P_Key, all 16 bits
 * @index: where it stands, 0xffff if nowhere
 *
 * Context: any.
 * Return: 0, -EINVAL for a bad port, -ENOENT.
 */
int ib_find_exact_cached_pkey(struct ib_device *device, u32 port_num, u16 pkey, u16 *index)
{
	return search_pkey(device, port_num, pkey, 0xffff, index);
}
EXPORT_SYMBOL(ib_find_exact_cached_pkey);

/**
 * ib_get_cached_subnet_prefix() - upper half of a port's GIDs
 * @device: device that is registered or being registered
 * @port_num: port number
 * @sn_pfx: the prefix in host byte order; left alone for a bad port
 *
 * Context: any.
 */
void ib_get_cached_subnet_prefix(struct ib_device *device, u32 port_num, u64 *sn_pfx)
{
	if (port_cache(device, port_num))
		*sn_pfx = READ_ONCE(rdma_port(device, port_num)->subnet_prefix);
}
EXPORT_SYMBOL(ib_get_cached_subnet_prefix);

/**
 * ib_cache_get_port() - attributes of a port, all of one refresh
 * @device: registered device
 * @port_num: port number
 * @attrs: receives them
 *
 * A handler of an event gets attributes that were read after the event. Context: may sleep.
 * Return: 0, or -EINVAL for a bad port.
 */
int ib_cache_get_port(struct ib_device *device, u32 port_num, struct rdma_cached_port *attrs)
{
	struct rdma_port_cache *cache = port_cache(device, port_num);

	if (!cache)
		return -EINVAL;
	guard(mutex)(&cache->update);
	*attrs = cache->attrs;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(ib_cache_get_port);

/**
 * ib_get_cached_lmc() - number of low LID bits that the port ignores
 * @device: registered device
 * @port_num: port number
 * @lmc: 0 to 7
 *
 * Context: any.
 * Return: 0, or -EINVAL for a bad port.
 */
int ib_get_cached_lmc(struct ib_device *device, u32 port_num, u8 *lmc)
{
	struct rdma_port_cache *cache = port_cache(device, port_num);

	if (!cache)
		return -EINVAL;
	*lmc = READ_ONCE(cache->attrs.lmc);
	return 0;
}
EXPORT_SYMBOL(ib_get_cached_lmc);

/**
 * ib_get_cached_port_state() - state of a port
 * @device: registered device
 * @port_num: port number
 * @port_active: the state
 *
 * Context: any.
 * Return: 0, or -EINVAL for a bad port.
 */
int ib_get_cached_port_state(struct ib_device *device, u32 port_num,
			     enum ib_port_state *port_active)
{
	struct rdma_port_cache *cache = port_cache(device, port_num);

	if (!cache)
		return -EINVAL;
	*port_active = READ_ONCE(cache->attrs.state);
	return 0;
}
EXPORT_SYMBOL(ib_get_cached_port_state);

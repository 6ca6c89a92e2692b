// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The agents that handle requests: see table.h.
 */
#include <kunit/visibility.h>
#include <linux/hash.h>
#include <linux/slab.h>

#include "table.h"

/**
 * struct mad_class - the agents of one class
 * @node: in the table
 * @key: class, version and OUI
 * @takers: number of entries of @taker that are not NULL
 * @taker: agents by method
 */
struct mad_class {
	struct hlist_node node;
	u64 key;
	unsigned int takers;
	void *taker[IB_MGMT_MAX_METHODS];
};

static u64 class_key(u8 mgmt_class, u8 version, const u8 oui[3])
{
	u64 key = (u64)mgmt_class << 8 | version;

	if (mad_class_has_oui(mgmt_class))
		key |= (u64)oui[0] << 32 | (u64)oui[1] << 24 | (u64)oui[2] << 16;
	return key;
}

static u64 registration_key(const struct ib_mad_reg_req *req)
{
	return class_key(req->mgmt_class, req->mgmt_class_version, req->oui);
}

static struct mad_class *find_class(const struct mad_table *table, u64 key)
{
	struct mad_class *class;

	hlist_for_each_entry(class, &table->buckets[hash_64(key, ilog2(MAD_TABLE_BUCKETS))], node)
		if (class->key == key)
			return class;
	return NULL;
}

static void drop_if_unused(struct mad_class *class)
{
	if (class->takers)
		return;
	hlist_del(&class->node);
	kfree(class);
}

/**
 * mad_table_init() - initialise an empty table
 * @table: the table
 */
void mad_table_init(struct mad_table *table)
{
	for (unsigned int i = 0; i < MAD_TABLE_BUCKETS; i++)
		INIT_HLIST_HEAD(&table->buckets[i]);
}
EXPORT_SYMBOL_IF_KUNIT(mad_table_init);

/**
 * mad_table_add() - add an agent for a set of methods, all or none
 * @table: the table
 * @req: class, version, OUI and methods
 * @taker: the agent
 * @gfp: how memory may be allocated
 *
 * Context: the caller's lock is held.
 * Return: 0; -EINVAL if another taker has one of the methods; -ENOMEM.
 */
int mad_table_add(struct mad_table *table, const struct ib_mad_reg_req *req, void *taker, gfp_t gfp)
{
	u64 key = registration_key(req);
	struct mad_class *class = find_class(table, key);
	unsigned int method;

	if (bitmap_empty(req->method_mask, IB_MGMT_MAX_METHODS))
		return 0;
	if (!class) {
		class = kzalloc(sizeof(*class), gfp);
		if (!class)
			return -ENOMEM;
		class->key = key;
		hlist_add_head(&class->node,
			       &table->buckets[hash_64(key, ilog2(MAD_TABLE_BUCKETS))]);
	}
	for_each_set_bit(method, req->method_mask, IB_MGMT_MAX_METHODS)
		if (class->taker[method])
			return -EINVAL;
	for_each_set_bit(method, req->method_mask, IB_MGMT_MAX_METHODS) {
		class->taker[method] = taker;
		class->takers++;
	}
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(mad_table_add);

/**
 * mad_table_remove() - undo mad_table_add()
 * @table: the table
 * @req: as for mad_table_add()
 * @taker: the agent that has the methods
 *
 * Context: the caller's lock is held.
 */
void mad_table_remove(struct mad_table *table, const struct ib_mad_reg_req *req, void *taker)
{
	struct mad_class *class = find_class(table, registration_key(req));
	unsigned int method;

	if (!class)
		return;
	for_each_set_bit(method, req->method_mask, IB_MGMT_MAX_METHODS) {
		if (class->taker[method] != taker)
			continue;
		class->taker[method] = NULL;
		class->takers--;
	}
	drop_if_unused(class);
}
EXPORT_SYMBOL_IF_KUNIT(mad_table_remove);

/**
 * mad_table_find() - find the agent that handles a MAD
 * @table: the table
 * @mad: a MAD that is no response
 *
 * Context: the caller's lock is held.
 * Return: the taker or NULL.
 */
void *mad_table_find(const struct mad_table *table, const struct ib_mad *mad)
{
	const struct ib_mad_hdr *hdr = &mad->mad_hdr;
	const struct ib_vendor_mad *vendor = (const struct ib_vendor_mad *)mad;
	struct mad_class *class;

	class = find_class(table, class_key(hdr->mgmt_class, hdr->class_version, vendor->oui));
	return class ? class->taker[hdr->method & ~IB_MGMT_METHOD_RESP] : NULL;
}
EXPORT_SYMBOL_IF_KUNIT(mad_table_find);

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Hash tables keyed by a GID or a hardware address.
 */
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/jhash.h>
#include <linux/once.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "table.h"

/* Peers choose their addresses, so a bucket must not be predictable. */
static u32 seed;

static struct hlist_head *bucket(struct ipoib_table *table, const void *key)
{
	return &table->buckets[jhash(key, table->key_len, seed) >> (32 - table->bits)];
}

/**
 * ipoib_table_init() - begin an empty table
 * @table: the table
 * @bits: logarithm of the number of buckets, 1 to 16
 * @key_len: bytes of a key, at most IPOIB_KEY_LEN
 * @limit: the most entries
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int ipoib_table_init(struct ipoib_table *table, unsigned int bits, unsigned int key_len,
		     unsigned int limit)
{
	get_random_once(&seed, sizeof(seed));
	table->buckets = kvcalloc(1UL << bits, sizeof(*table->buckets), GFP_KERNEL);
	if (!table->buckets)
		return -ENOMEM;
	table->bits = bits;
	table->key_len = key_len;
	table->count = 0;
	table->limit = limit;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_table_init);

/**
 * ipoib_table_free() - free an empty table
 * @table: table that nobody looks into any more
 *
 * Context: may sleep.
 */
void ipoib_table_free(struct ipoib_table *table)
{
	kvfree(table->buckets);
	table->buckets = NULL;
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_table_free);

/**
 * ipoib_table_find() - the entry with a key
 * @table: the table
 * @key: the key
 *
 * Context: the owner's lock is held, or RCU for as long as the result is used.
 * Return: the entry or NULL.
 */
struct ipoib_node *ipoib_table_find(struct ipoib_table *table, const void *key)
{
	struct ipoib_node *node;

	guard(rcu)();
	hlist_for_each_entry_rcu(node, bucket(table, key), link)
		if (!memcmp(node->key, key, table->key_len))
			return node;
	return NULL;
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_table_find);

/**
 * ipoib_table_add() - enter something
 * @table: the table
 * @node: its entry, of which the key is set here
 * @key: the key
 *
 * Context: the owner's lock is held.
 * Return: 0, -EEXIST if there is such a key already, -ENOSPC if the table is full.
 */
int ipoib_table_add(struct ipoib_table *table, struct ipoib_node *node, const void *key)
{
	if (ipoib_table_find(table, key))
		return -EEXIST;
	if (table->count >= table->limit)
		return -ENOSPC;
	memset(node->key, 0, sizeof(node->key));
	memcpy(node->key, key, table->key_len);
	hlist_add_head_rcu(&node->link, bucket(table, key));
	table->count++;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_table_add);

/**
 * ipoib_table_del() - remove an entry
 * @table: the table
 * @node: one of its entries, which must stay readable for a grace period
 *
 * Context: the owner's lock is held.
 */
void ipoib_table_del(struct ipoib_table *table, struct ipoib_node *node)
{
	hlist_del_rcu(&node->link);
	table->count--;
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_table_del);

/**
 * ipoib_table_above() - the next entry in the order of keys
 * @table: the table
 * @key: key of the one before it, NULL for the first one
 *
 * Looks at all entries: for listings, which may let go of the lock between two of them.
 *
 * Context: the owner's lock is held.
 * Return: the entry, or NULL after the last one.
 */
struct ipoib_node *ipoib_table_above(struct ipoib_table *table, const void *key)
{
	struct ipoib_node *node, *best = NULL;

	for (unsigned long i = 0; i < 1UL << table->bits; i++)
		hlist_for_each_entry(node, &table->buckets[i], link)
			if ((!key || memcmp(node->key, key, table->key_len) > 0) &&
			    (!best || memcmp(node->key, best->key, table->key_len) < 0))
				best = node;
	return best;
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_table_above);

/**
 * ipoib_table_each() - call a function for each entry
 * @table: the table
 * @call: the function, which may remove the entry
 * @context: for @call
 *
 * Context: the owner's lock is held.
 */
void ipoib_table_each(struct ipoib_table *table,
		      void (*call)(struct ipoib_node *node, void *context), void *context)
{
	struct ipoib_node *node;
	struct hlist_node *next;

	for (unsigned long i = 0; i < 1UL << table->bits; i++)
		hlist_for_each_entry_safe(node, next, &table->buckets[i], link)
			call(node, context);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_table_each);

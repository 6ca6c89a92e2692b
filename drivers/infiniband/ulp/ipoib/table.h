/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Hash tables of bounded size, keyed by a GID or a hardware address.
 *
 * The owner's lock protects changes; look-ups need only RCU, so that sending takes no lock. What
 * is removed may still be seen until a grace period has passed.
 */
#ifndef IPOIB_TABLE_H
#define IPOIB_TABLE_H

#include <linux/rculist.h>
#include <linux/types.h>

/* The longest key: a hardware address. */
#define IPOIB_KEY_LEN	20

/**
 * struct ipoib_node - an entry, embedded in what the table holds
 * @link: in its bucket
 * @key: its key, of the table's length
 */
struct ipoib_node {
	struct hlist_node link;
	u8 key[IPOIB_KEY_LEN];
};

/**
 * struct ipoib_table - a table
 * @buckets: 2 to the power of @bits of them
 * @bits: see there
 * @key_len: bytes of a key
 * @count: entries
 * @limit: the most entries
 */
struct ipoib_table {
	struct hlist_head *buckets;
	unsigned int bits;
	unsigned int key_len;
	unsigned int count;
	unsigned int limit;
};

int ipoib_table_init(struct ipoib_table *table, unsigned int bits, unsigned int key_len,
		     unsigned int limit);
void ipoib_table_free(struct ipoib_table *table);
struct ipoib_node *ipoib_table_find(struct ipoib_table *table, const void *key);
int ipoib_table_add(struct ipoib_table *table, struct ipoib_node *node, const void *key);
void ipoib_table_del(struct ipoib_table *table, struct ipoib_node *node);
struct ipoib_node *ipoib_table_above(struct ipoib_table *table, const void *key);
void ipoib_table_each(struct ipoib_table *table,
		      void (*call)(struct ipoib_node *node, void *context), void *context);

#endif /* IPOIB_TABLE_H */

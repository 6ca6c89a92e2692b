// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: tables against a model, an array that says which keys are there.
 */
#include <kunit/test.h>
#include <linux/prandom.h>
#include <linux/slab.h>

#include "../table.h"

MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);

/* Few buckets and many keys, so that buckets have many entries. */
#define BITS	3
#define KEYS	200
#define LIMIT	150
#define STEPS	20000

/**
 * struct model - a table, and what should be in it
 * @table: the table
 * @nodes: an entry for each key
 * @there: whether it is in the table
 * @count: how many are
 */
struct model {
	struct ipoib_table table;
	struct ipoib_node nodes[KEYS];
	bool there[KEYS];
	unsigned int count;
};

/* Keys of one table differ in their first byte or in their last one. */
static void make_key(u8 *key, unsigned int len, unsigned int number)
{
	memset(key, 0xa5, IPOIB_KEY_LEN);
	key[number & 1 ? 0 : len - 1] = number >> 1;
}

static void expect_found(struct kunit *test, struct model *m, unsigned int number)
{
	u8 key[IPOIB_KEY_LEN];

	make_key(key, m->table.key_len, number);
	KUNIT_EXPECT_PTR_EQ(test, ipoib_table_find(&m->table, key),
			    m->there[number] ? &m->nodes[number] : NULL);
}

static void step(struct kunit *test, struct model *m, unsigned int number)
{
	u8 key[IPOIB_KEY_LEN];
	int expected = 0;

	make_key(key, m->table.key_len, number);
	if (m->there[number] && number % 3) {
		ipoib_table_del(&m->table, &m->nodes[number]);
		m->there[number] = false;
		m->count--;
	} else {
		struct ipoib_node other, *node = &m->nodes[number];

		if (m->there[number]) {
			expected = -EEXIST;
			node = &other;
		} else if (m->count == LIMIT) {
			expected = -ENOSPC;
		}
		KUNIT_EXPECT_EQ(test, ipoib_table_add(&m->table, node, key), expected);
		if (!expected) {
			m->there[number] = true;
			m->count++;
		}
	}
	KUNIT_EXPECT_EQ(test, m->table.count, m->count);
	expect_found(test, m, number);
}

static void count_one(struct ipoib_node *node, void *context)
{
	++*(unsigned int *)context;
}

/* The listing has each entry once, in the order of keys. */
static void expect_listed(struct kunit *test, struct model *m)
{
	unsigned int seen = 0, each = 0;
	u8 last[IPOIB_KEY_LEN];

	for (const struct ipoib_node *node = ipoib_table_above(&m->table, NULL); node;
	     node = ipoib_table_above(&m->table, last)) {
		KUNIT_EXPECT_TRUE(test, m->there[node - m->nodes]);
		if (seen++)
			KUNIT_EXPECT_GT(test, memcmp(node->key, last, m->table.key_len), 0);
		memcpy(last, node->key, sizeof(last));
	}
	KUNIT_EXPECT_EQ(test, seen, m->count);
	ipoib_table_each(&m->table, count_one, &each);
	KUNIT_EXPECT_EQ(test, each, m->count);
}

static void remove_one(struct ipoib_node *node, void *context)
{
	ipoib_table_del(context, node);
}

static void against_model(struct kunit *test, unsigned int key_len)
{
	struct model *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);
	struct rnd_state rnd;

	KUNIT_ASSERT_NOT_NULL(test, m);
	prandom_seed_state(&rnd, 23 + key_len);
	KUNIT_ASSERT_EQ(test, ipoib_table_init(&m->table, BITS, key_len, LIMIT), 0);
	KUNIT_EXPECT_NULL(test, ipoib_table_above(&m->table, NULL));
	for (unsigned int i = 0; i < STEPS; i++)
		step(test, m, prandom_u32_state(&rnd) % KEYS);
	for (unsigned int i = 0; i < KEYS; i++)
		expect_found(test, m, i);
	KUNIT_EXPECT_GT(test, m->count, 0);
	expect_listed(test, m);
	ipoib_table_each(&m->table, remove_one, &m->table);
	KUNIT_EXPECT_EQ(test, m->table.count, 0);
	KUNIT_EXPECT_NULL(test, ipoib_table_above(&m->table, NULL));
	ipoib_table_free(&m->table);
}

static void gids(struct kunit *test)
{
	against_model(test, 16);
}

static void addresses(struct kunit *test)
{
	against_model(test, 20);
}

/* A full table takes an entry again when another one has left. */
static void full(struct kunit *test)
{
	struct ipoib_node nodes[3] = {};
	struct ipoib_table table;
	u8 key[IPOIB_KEY_LEN] = {};

	KUNIT_ASSERT_EQ(test, ipoib_table_init(&table, 1, 16, 2), 0);
	for (int i = 0; i < 3; i++) {
		key[15] = i;
		KUNIT_EXPECT_EQ(test, ipoib_table_add(&table, &nodes[i], key), i < 2 ? 0 : -ENOSPC);
	}
	ipoib_table_del(&table, &nodes[0]);
	KUNIT_EXPECT_EQ(test, ipoib_table_add(&table, &nodes[2], key), 0);
	ipoib_table_del(&table, &nodes[1]);
	ipoib_table_del(&table, &nodes[2]);
	ipoib_table_free(&table);
}

static struct kunit_case table_cases[] = {
	KUNIT_CASE(gids),
	KUNIT_CASE(addresses),
	KUNIT_CASE(full),
	{}
};

static struct kunit_suite table_suite = {
	.name = "ipoib_table",
	.test_cases = table_cases,
};

kunit_test_suite(table_suite);

MODULE_DESCRIPTION("KUnit tests of IP over InfiniBand");
MODULE_LICENSE("Dual BSD/GPL");

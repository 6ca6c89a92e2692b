/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the pure files of core/mad need besides kernel.h: lists, bitmaps, memory. rdma/ib_mad.h and
 * rdma/ib_smi.h of include/rdma are read themselves.
 */
#ifndef TESTING_CORE_MAD_H
#define TESTING_CORE_MAD_H

#include <stdlib.h>

#include "kernel.h"

#define __packed		__attribute__((packed))
#define __bitwise
#define __force

#define GENMASK(high, low)	GENMASK_ULL(high, low)
#define FIELD_GET(mask, reg)	(((reg) & (mask)) >> __builtin_ctzll(mask))

#define max(a, b)		((a) > (b) ? (a) : (b))

#define cpu_to_be32(n)		htobe32(n)
#define be32_to_cpu(n)		be32toh(n)

static inline void be32p_replace_bits(__be32 *p, u32 value, u32 mask)
{
	u32 n = be32_to_cpu(*p);

	*p = cpu_to_be32((n & ~mask) | (value << __builtin_ctz(mask) & mask));
}

static inline unsigned int fls64(u64 n)
{
	return n ? 64 - __builtin_clzll(n) : 0;
}

/* ---- bitmaps ---- */

#define BITS_PER_LONG		64
#define DECLARE_BITMAP(name, n)	unsigned long name[((n) + BITS_PER_LONG - 1) / BITS_PER_LONG]

static inline void set_bit(unsigned int n, unsigned long *map)
{
	map[n / BITS_PER_LONG] |= BIT(n % BITS_PER_LONG);
}

static inline bool test_bit(unsigned int n, const unsigned long *map)
{
	return map[n / BITS_PER_LONG] & BIT(n % BITS_PER_LONG);
}

#define for_each_set_bit(bit, map, size) \
	for ((bit) = 0; (bit) < (size); (bit)++) \
		if (test_bit(bit, map))

static inline bool bitmap_empty(const unsigned long *map, unsigned int size)
{
	unsigned int bit;

	for_each_set_bit(bit, map, size)
		return false;
	return true;
}

/* ---- lists ---- */

struct list_head {
	struct list_head *next, *prev;
};

struct hlist_node {
	struct hlist_node *next, **pprev;
};

struct hlist_head {
	struct hlist_node *first;
};

#define INIT_HLIST_HEAD(head)	((head)->first = NULL)

static inline bool hlist_empty(const struct hlist_head *head)
{
	return !head->first;
}

static inline void hlist_add_head(struct hlist_node *node, struct hlist_head *head)
{
	node->next = head->first;
	node->pprev = &head->first;
	if (node->next)
		node->next->pprev = &node->next;
	head->first = node;
}

static inline void hlist_del(struct hlist_node *node)
{
	*node->pprev = node->next;
	if (node->next)
		node->next->pprev = node->pprev;
}

#define hlist_entry(node, type, member) \
	((node) ? (type *)((char *)(node) - offsetof(type, member)) : NULL)
#define hlist_for_each_entry(pos, head, member) \
	for (pos = hlist_entry((head)->first, __typeof__(*pos), member); pos; \
	     pos = hlist_entry(pos->member.next, __typeof__(*pos), member))

/* Any function of the number spreads it as well as the kernel's. */
static inline u32 hash_64(u64 n, unsigned int bits)
{
	return n * 0x9e3779b97f4a7c15ull >> (64 - bits);
}

/* ---- memory ---- */

#ifndef GFP_KERNEL
#define GFP_KERNEL		0
#endif
#define gfp_t			unsigned int

#define kzalloc(size, gfp)	((void)(gfp), calloc(1, size))
#define kfree(p)		free(p)

/* ---- what rdma/ib_mad.h takes from rdma/ib_verbs.h ---- */

#define IB_LID_PERMISSIVE	cpu_to_be16(0xFFFF)

#endif

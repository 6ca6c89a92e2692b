/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Object tables: number to object in two loads, memory in proportion to the
 * highest number in use, and none before the first one is.
 *
 * Freed numbers are used again in the order they were freed, and not before
 * their rest is over; as long as none is ready the table grows instead.  Each
 * slot counts its uses: the generation.
 */
#ifndef VHCAD_LIB_TABLE_H
#define VHCAD_LIB_TABLE_H

#include "lib/types.h"

#define TABLE_CHUNK	256u
#define TABLE_NONE	UINT32_MAX

struct table_slot {
	union {
		void *obj;
		u64 rest_until;		/* free: not to be used before */
	};
	u32 next_free;
	u32 live : 1;
	u32 gen : 31;
};

struct table {
	struct table_slot **chunk;
	u32 first;		/* lowest number given out */
	u32 max;		/* numbers below this */
	u32 limit;		/* of those in use */
	u32 used;
	u32 fresh;		/* lowest number never used */
	u32 first_free;
	u32 last_free;
};

/**
 * table_init() - an empty table
 * @t: table
 * @first: lowest number to give out
 * @max: numbers stay below this
 * @limit: most that are in use at a time
 */
void table_init(struct table *t, u32 first, u32 max, u32 limit);

/** table_fini() - free a table without objects */
void table_fini(struct table *t);

/**
 * table_add() - give an object a number
 * @t: table
 * @obj: object
 * @now: time, for resting slots
 * @idx: receives the number
 *
 * Returns 0, -EDQUOT when as many are in use as may be, -ENOSPC when all others rest,
 * or -ENOMEM.
 */
int table_add(struct table *t, void *obj, u64 now, u32 *idx);

/**
 * table_del() - take an object out
 * @t: table
 * @idx: its number
 * @rest_until: time before which the number is not given out again
 */
void table_del(struct table *t, u32 idx, u64 rest_until);

/** table_prefetch() - fetch what table_get() of a number will read */
static inline void table_prefetch(const struct table *t, u32 idx)
{
	if (idx < t->fresh)
		__builtin_prefetch(&t->chunk[idx / TABLE_CHUNK][idx % TABLE_CHUNK]);
}

/** table_slot() - the slot of a number, or NULL if it is not in use */
static inline struct table_slot *table_slot(const struct table *t, u32 idx)
{
	struct table_slot *s;

	if (idx >= t->fresh)
		return NULL;
	s = &t->chunk[idx / TABLE_CHUNK][idx % TABLE_CHUNK];
	return s->live ? s : NULL;
}

/** table_get() - the object of a number, or NULL */
static inline void *table_get(const struct table *t, u32 idx)
{
	struct table_slot *s = table_slot(t, idx);

	return s ? s->obj : NULL;
}

/** table_gen() - generation of a number in use */
static inline u32 table_gen(const struct table *t, u32 idx)
{
	return t->chunk[idx / TABLE_CHUNK][idx % TABLE_CHUNK].gen;
}

/** table_next() - the first number in use at or above @idx, or TABLE_NONE */
u32 table_next(const struct table *t, u32 idx);

/* Walks the objects of a table; the current one may be taken out. */
#define table_for_each(obj, t)							\
	for (u32 i_ = table_next(t, 0); i_ != TABLE_NONE &&			\
	     ((obj) = table_get(t, i_), true); i_ = table_next(t, i_ + 1))

#endif /* VHCAD_LIB_TABLE_H */

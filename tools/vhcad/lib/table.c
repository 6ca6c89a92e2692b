// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Object tables.
 */
#include <errno.h>
#include <stdlib.h>

#include "lib/table.h"

static struct table_slot *slot_at(const struct table *t, u32 idx)
{
	return &t->chunk[idx / TABLE_CHUNK][idx % TABLE_CHUNK];
}

void table_init(struct table *t, u32 first, u32 max, u32 limit)
{
	*t = (struct table){
		.first = first,
		.max = max,
		.limit = limit,
		.first_free = TABLE_NONE,
		.last_free = TABLE_NONE,
	};
}

void table_fini(struct table *t)
{
	if (!t->chunk)
		return;
	for (u32 i = 0; i < (t->max + TABLE_CHUNK - 1) / TABLE_CHUNK; i++)
		free(t->chunk[i]);
	free(t->chunk);
	t->chunk = NULL;
}

static int take_fresh(struct table *t, u32 *idx)
{
	struct table_slot **chunk;

	if (t->fresh >= t->max)
		return -ENOSPC;
	if (!t->chunk) {
		t->chunk = calloc((t->max + TABLE_CHUNK - 1) / TABLE_CHUNK, sizeof(*t->chunk));
		if (!t->chunk)
			return -ENOMEM;
	}
	chunk = &t->chunk[t->fresh / TABLE_CHUNK];
	if (!*chunk) {
		*chunk = calloc(TABLE_CHUNK, sizeof(**chunk));
		if (!*chunk)
			return -ENOMEM;
	}
	/* numbers below the first one are looked up like any other, once there is one */
	if (t->fresh < t->first)
		t->fresh = t->first;
	*idx = t->fresh++;
	return 0;
}

int table_add(struct table *t, void *obj, u64 now, u32 *idx)
{
	struct table_slot *s;

	if (t->used == t->limit)
		return -EDQUOT;
	if (t->first_free != TABLE_NONE && slot_at(t, t->first_free)->rest_until <= now) {
		*idx = t->first_free;
		s = slot_at(t, *idx);
		t->first_free = s->next_free;
		if (t->first_free == TABLE_NONE)
			t->last_free = TABLE_NONE;
	} else {
		int err = take_fresh(t, idx);

		if (err)
			return err;
		s = slot_at(t, *idx);
	}
	s->obj = obj;
	s->live = 1;
	t->used++;
	return 0;
}

void table_del(struct table *t, u32 idx, u64 rest_until)
{
	struct table_slot *s = slot_at(t, idx);

	s->live = 0;
	s->gen++;
	s->rest_until = rest_until;
	s->next_free = TABLE_NONE;
	if (t->last_free == TABLE_NONE)
		t->first_free = idx;
	else
		slot_at(t, t->last_free)->next_free = idx;
	t->last_free = idx;
	t->used--;
}

u32 table_next(const struct table *t, u32 idx)
{
	for (; idx < t->fresh; idx++)
		if (slot_at(t, idx)->live)
			return idx;
	return TABLE_NONE;
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The ordered table of ranges: searches, and updates that make a new table and leave the old one
 * as it is.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mem/internal.h"

struct gmem_table gmem_empty;

static struct gmem_table *table_alloc(u32 nblocks)
{
	struct gmem_table *t;

	t = malloc(sizeof(*t) + nblocks * sizeof(t->slot[0]));
	if (t) {
		t->last = NULL;
		t->nblocks = nblocks;
	}
	return t;
}

/**
 * gmem_first_block() - the first block that may contain an address or a higher one
 * @t: table
 * @iova: DMA address
 *
 * Returns the last block that starts at or below @iova, or 0.
 */
u32 gmem_first_block(const struct gmem_table *t, u64 iova)
{
	u32 lo = 0, hi = t->nblocks;

	while (hi - lo > 1) {
		u32 mid = lo + (hi - lo) / 2;

		if (t->slot[mid].iova <= iova)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/* Returns the index of the block's first range that ends at or above iova. */
static u32 range_for(const struct gmem_block *b, u64 iova)
{
	u32 lo = 0, hi = b->n;

	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;

		if (b->r[mid].last < iova)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/**
 * gmem_search() - find the range that contains an address, and remember it for gmem_find()
 * @t: table
 * @iova: DMA address
 */
const struct gmem_range *gmem_search(struct gmem_table *t, u64 iova)
{
	const struct gmem_block *b;
	u32 i;

	if (!t->nblocks)
		return NULL;
	b = t->slot[gmem_first_block(t, iova)].block;
	i = range_for(b, iova);
	if (i == b->n || b->r[i].iova > iova)
		return NULL;
	__atomic_store_n(&t->last, &b->r[i], __ATOMIC_RELAXED);
	return &b->r[i];
}

/**
 * gmem_overlaps() - does any range overlap [iova, last]?
 * @t: table
 * @iova: first address
 * @last: last address
 */
bool gmem_overlaps(const struct gmem_table *t, u64 iova, u64 last)
{
	const struct gmem_block *b;
	u32 k, i;

	if (!t->nblocks)
		return false;
	k = gmem_first_block(t, iova);
	b = t->slot[k].block;
	i = range_for(b, iova);
	if (i < b->n)
		return b->r[i].iova <= last;
	/* the whole block lies below iova, and the next one begins above it */
	return k + 1 < t->nblocks && t->slot[k + 1].iova <= last;
}

/**
 * gmem_table_insert() - make a table with one more range
 * @t: table without ranges that overlap @r
 * @r: range
 * @out: receives the new table
 * @replaced: receives the block that only @t uses, or NULL
 *
 * Returns 0 or -ENOMEM.
 */
int gmem_table_insert(const struct gmem_table *t, const struct gmem_range *r,
		      struct gmem_table **out, struct gmem_block **replaced)
{
	struct gmem_block *left = NULL, *right = NULL, *old = NULL;
	struct gmem_table *n;
	u32 k = 0, at = 0, used = 0, parts = 1, total, cut;

	if (t->nblocks) {
		k = gmem_first_block(t, r->iova);
		old = t->slot[k].block;
		at = range_for(old, r->iova);
		used = old->n;
		if (used >= GMEM_BLOCK_RANGES)
			parts = 2;
	}
	n = table_alloc(t->nblocks - !!old + parts);
	left = malloc(sizeof(*left));
	if (parts == 2)
		right = malloc(sizeof(*right));
	if (!n || !left || (parts == 2 && !right)) {
		free(n);
		free(left);
		free(right);
		return -ENOMEM;
	}

	/*
	 * If the new range belongs at an end of a full block, it gets a block of its own, so that
	 * ranges that come in order fill the blocks.
	 */
	total = used + 1;
	if (parts == 1)
		cut = total;
	else if (at == 0)
		cut = 1;
	else
		cut = at == used ? used : total / 2;
	for (u32 i = 0; i < total; i++) {
		const struct gmem_range *from = i == at ? r : &old->r[i < at ? i : i - 1];

		if (i < cut)
			left->r[i] = *from;
		else
			right->r[i - cut] = *from;
	}
	left->n = cut;
	if (right) {
		right->n = total - cut;
		n->slot[k + 1].iova = right->r[0].iova;
		n->slot[k + 1].block = right;
	}
	n->slot[k].iova = left->r[0].iova;
	n->slot[k].block = left;
	memcpy(n->slot, t->slot, k * sizeof(n->slot[0]));
	if (old)
		memcpy(n->slot + k + parts, t->slot + k + 1,
		       (t->nblocks - k - 1) * sizeof(n->slot[0]));
	n->nranges = t->nranges + 1;
	*out = n;
	*replaced = old;
	return 0;
}

/* Copies a block without the ranges inside [iova, last]; the copy may be empty. */
static struct gmem_block *block_without(const struct gmem_block *b, u64 iova, u64 last)
{
	struct gmem_block *rest;

	rest = malloc(sizeof(*rest));
	if (!rest)
		return NULL;
	rest->n = 0;
	for (u32 i = 0; i < b->n; i++)
		if (b->r[i].last < iova || b->r[i].iova > last)
			rest->r[rest->n++] = b->r[i];
	return rest;
}

/**
 * gmem_table_remove() - make a table without the ranges inside [iova, last]
 * @t: table
 * @iova: first address
 * @last: last address
 * @out: receives the new table, which shares all other blocks with @t
 *
 * Returns 0; -EINVAL if a range would be cut in two; -ENOENT if no range lies
 * inside; -ENOMEM.
 */
int gmem_table_remove(struct gmem_table *t, u64 iova, u64 last, struct gmem_table **out)
{
	const struct gmem_range *r;
	struct gmem_table *n;
	u32 first, k, used;

	r = gmem_find(t, iova);
	if (r && r->iova < iova)
		return -EINVAL;
	r = gmem_find(t, last);
	if (r && r->last > last)
		return -EINVAL;
	if (!gmem_overlaps(t, iova, last))
		return -ENOENT;

	n = table_alloc(t->nblocks);
	if (!n)
		return -ENOMEM;
	n->nranges = t->nranges;
	first = gmem_first_block(t, iova);
	used = first;
	memcpy(n->slot, t->slot, first * sizeof(n->slot[0]));
	for (k = first; k < t->nblocks && t->slot[k].iova <= last; k++) {
		const struct gmem_block *b = t->slot[k].block;
		struct gmem_block *rest;

		rest = block_without(b, iova, last);
		if (!rest)
			goto undo;
		n->nranges -= b->n - rest->n;
		if (!rest->n) {
			free(rest);
			continue;
		}
		n->slot[used].iova = rest->r[0].iova;
		n->slot[used++].block = rest;
	}
	memcpy(n->slot + used, t->slot + k, (t->nblocks - k) * sizeof(n->slot[0]));
	n->nblocks = used + t->nblocks - k;
	*out = n;
	return 0;
undo:
	while (used > first)
		free(n->slot[--used].block);
	free(n);
	return -ENOMEM;
}

/**
 * gmem_table_free() - free a table, and its blocks except those that another one shares
 * @t: table
 * @other: table that was made from @t, or from which @t was made; NULL: free all blocks
 */
void gmem_table_free(struct gmem_table *t, const struct gmem_table *other)
{
	u32 j = 0;

	if (!t || t == &gmem_empty)
		return;
	for (u32 k = 0; k < t->nblocks; k++) {
		/* a shared block starts at the same address in both tables */
		while (other && j < other->nblocks && other->slot[j].iova < t->slot[k].iova)
			j++;
		if (!other || j == other->nblocks || other->slot[j].block != t->slot[k].block)
			free(t->slot[k].block);
	}
	free(t);
}

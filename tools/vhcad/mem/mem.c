// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Changes of the set of ranges that a VM has granted.
 */
#include <errno.h>
#include <stdlib.h>

#include "mem/internal.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void init(void)
{
	gmem_stream_init();
	gmem_lost_init();
}

struct guest_mem *gmem_new(void)
{
	struct guest_mem *m;

	m = calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	pthread_once(&once, init);
	pthread_mutex_init(&m->lock, NULL);
	m->table = &gmem_empty;
	m->live = &gmem_empty;
	m->gen = 1;
	m->master = true;
	return m;
}

void gmem_free(struct guest_mem *m)
{
	if (!m)
		return;
	gmem_unmap_all(m);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

/* Makes the table visible to readers; while DMA is off, an empty one. */
static void publish(struct guest_mem *m)
{
	__atomic_store_n(&m->live, m->master ? m->table : &gmem_empty, __ATOMIC_RELEASE);
}

static void use_table(struct guest_mem *m, struct gmem_table *table)
{
	m->table = table;
	__atomic_store_n(&m->nranges, table->nranges, __ATOMIC_RELEASE);
	publish(m);
}

/* Makes references translate again, and waits until no reader uses an old translation. */
static void invalidate(struct guest_mem *m)
{
	__atomic_fetch_add(&m->gen, 1, __ATOMIC_SEQ_CST);
	gmem_synchronize();
}

static void reclaim(struct guest_mem *m)
{
	while (m->nretired)
		free(m->retired[--m->nretired]);
}

/* Frees memory when no reader can access it any more: now, or in a later call. */
static void retire(struct guest_mem *m, void *a, void *b)
{
	if (a && a != &gmem_empty)
		m->retired[m->nretired++] = a;
	if (b)
		m->retired[m->nretired++] = b;
	if (gmem_quiet()) {
		reclaim(m);
	} else if (m->nretired + 2 > GMEM_MAX_RETIRED) {
		gmem_synchronize();
		reclaim(m);
	}
}

int gmem_map(struct guest_mem *m, u64 iova, u64 size, int fd, u64 offset, u32 flags)
{
	const u32 rights = flags & (GMEM_READ | GMEM_WRITE);
	struct gmem_table *old, *table;
	struct gmem_block *replaced;
	struct gmem_range r = {
		.iova = iova,
		.last = iova + size - 1,
	};
	struct gmem_seen seen;
	u64 end;
	int err;

	if (!size || !rights || (flags & ~(GMEM_READ | GMEM_WRITE | GMEM_UNSEALED)) ||
	    ((iova | size | offset) % GMEM_PAGE_SIZE) || r.last < iova ||
	    __builtin_add_overflow(offset, size, &end))
		return -EINVAL;

	if (fd >= 0) {
		err = gmem_file_look(fd, end, flags, &seen);
		if (err)
			return err;
	}
	pthread_mutex_lock(&m->lock);
	old = m->table;
	if (gmem_overlaps(old, r.iova, r.last)) {
		err = -EEXIST;
		goto out;
	}
	if (old->nranges == GMEM_MAX_RANGES) {
		err = -ENOSPC;
		goto out;
	}
	if (fd >= 0) {
		err = gmem_file_get(m, fd, offset, end, &seen, &r.file);
		if (err)
			goto out;
		r.host = r.file->base + (offset - r.file->start);
		r.flags = rights;
	}
	err = gmem_table_insert(old, &r, &table, &replaced);
	if (err) {
		gmem_file_put(m, r.file);
		goto out;
	}
	use_table(m, table);
	retire(m, old, replaced);
out:
	pthread_mutex_unlock(&m->lock);
	return err;
}

/* Replaces the current table by @table, which lacks the ranges inside [iova, last]. */
static void shrink(struct guest_mem *m, struct gmem_table *table, u64 iova, u64 last)
{
	struct gmem_table *old = m->table;

	use_table(m, table);
	invalidate(m);
	reclaim(m);
	for (u32 k = gmem_first_block(old, iova);
	     k < old->nblocks && old->slot[k].iova <= last; k++) {
		struct gmem_block *b = old->slot[k].block;

		for (u32 i = 0; i < b->n; i++)
			if (b->r[i].iova >= iova && b->r[i].last <= last)
				gmem_file_put(m, b->r[i].file);
	}
	gmem_table_free(old, table);
}

int gmem_unmap(struct guest_mem *m, u64 iova, u64 size)
{
	struct gmem_table *table;
	u64 last = iova + size - 1;
	int err;

	if (!size || last < iova)
		return -EINVAL;
	pthread_mutex_lock(&m->lock);
	err = gmem_table_remove(m->table, iova, last, &table);
	if (!err)
		shrink(m, table, iova, last);
	pthread_mutex_unlock(&m->lock);
	return err;
}

void gmem_unmap_all(struct guest_mem *m)
{
	pthread_mutex_lock(&m->lock);
	shrink(m, &gmem_empty, 0, UINT64_MAX);
	pthread_mutex_unlock(&m->lock);
}

void gmem_set_master(struct guest_mem *m, bool on)
{
	pthread_mutex_lock(&m->lock);
	if (m->master != on) {
		m->master = on;
		publish(m);
		if (!on)
			invalidate(m);
	}
	pthread_mutex_unlock(&m->lock);
}

u32 gmem_ranges(struct guest_mem *m)
{
	return __atomic_load_n(&m->nranges, __ATOMIC_ACQUIRE);
}

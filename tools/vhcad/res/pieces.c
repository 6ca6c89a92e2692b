// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Lists of pieces of any length, which stay in guest memory.
 */
#include "res/mkey_internal.h"

/* Entries of a list of pieces fetched at a time. */
#define SG_BATCH	16u

bool sg_end(struct guest_mem *mem, const struct vbuf *b, u32 i, u64 *end)
{
	return !dma_load64_acquire(mem, b->addr + i * sizeof(struct vhca_sg_entry) +
					offsetof(struct vhca_sg_entry, end), end);
}

/* A walk through a part of a list. */
struct sg_walk {
	struct guest_mem *mem;
	const struct vbuf *list;
	u64 off, len;		/* the part */
	u64 done;		/* bytes of it that are found */
	u32 at;			/* the next entry */
	u32 went;		/* entries that were walked through */
	u64 start;		/* where the next entry begins */
	struct dma_seg *seg;
	u32 *nseg, max;
};

/*
 * Goes to the first entry, from the one the walk is at on, that ends behind what is found.  If ends
 * do not ascend the search leads to some entry, and the walk from there detects that.
 */
static bool sg_search(struct sg_walk *w)
{
	u32 hi = w->list->npages;

	while (w->at < hi) {
		u32 mid = w->at + (hi - w->at) / 2;
		u64 end;

		if (!sg_end(w->mem, w->list, mid, &end))
			return false;
		if (end > w->off + w->done) {
			hi = mid;
		} else {
			w->at = mid + 1;
			w->start = end;
		}
	}
	return true;
}

/* Goes to entry @at if that is the one where the part begins. */
static bool sg_begins_at(struct sg_walk *w, u32 at)
{
	u64 start, end;

	if (!at || at >= w->list->npages || !sg_end(w->mem, w->list, at - 1, &start) ||
	    !sg_end(w->mem, w->list, at, &end) || w->off < start || w->off >= end)
		return false;
	w->at = at;
	w->start = start;
	return true;
}

/* Walks through some entries; false if the list ends there, or there is no room for more. */
static bool sg_batch(struct sg_walk *w)
{
	u32 n = MIN(w->list->npages - w->at, SG_BATCH);
	struct vhca_sg_entry list[SG_BATCH];

	if (dma_read(w->mem, list, w->list->addr + w->at * sizeof(*list), n * sizeof(*list)))
		return false;
	for (u32 i = 0; i < n && w->done < w->len; i++) {
		u64 pos = w->off + w->done, end = le64toh(list[i].end), skip = pos - w->start;
		u64 part;

		if (end < w->start || (skip && end <= pos))
			return false;
		part = MIN(end - w->start - skip, w->len - w->done);
		if (part && !seg_add(w->seg, w->nseg, w->max, le64toh(list[i].addr) + skip, part))
			return false;
		w->done += part;
		w->start = end;
		w->at++;
		w->went++;
	}
	return true;
}

/*
 * Lists may be long and their pieces short, or empty.  Long stretches of empty pieces are skipped
 * by a search.  After a long walk the function returns with the bytes found so far, and is called
 * again: then the entry is known where it goes on, unless the list has changed.
 */
u64 fast_sg_map(struct worker *worker, struct guest_mem *mem, const struct vbuf *b, u64 off,
		u64 len, struct dma_seg *seg, u32 *nseg, u32 max)
{
	struct sg_walk w = { .mem = mem, .list = b, .off = off, .len = len,
			     .seg = seg, .nseg = nseg, .max = max };

	if (!sg_begins_at(&w, worker->next_piece) && !sg_search(&w))
		return 0;
	while (w.done < len && w.at < b->npages && !(w.done && w.went > RUN_PIECES)) {
		u64 before = w.done;

		if (!sg_batch(&w) || (w.done == before && !sg_search(&w)))
			break;
	}
	/* of the last entry there may be more to come */
	worker->next_piece = w.start > off + w.done ? w.at - 1 : w.at;
	worker->pieces += w.went;
	return w.done;
}

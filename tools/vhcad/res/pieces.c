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

/*
 * The first entry from *at on that ends behind off: *start becomes where it begins.  If ends do not
 * ascend the search returns some entry, and the walk from there detects that.
 */
static bool sg_search(struct guest_mem *mem, const struct vbuf *b, u64 off, u32 *at, u64 *start)
{
	u32 lo = *at, hi = b->npages;

	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;
		u64 end;

		if (!sg_end(mem, b, mid, &end))
			return false;
		if (end > off) {
			hi = mid;
		} else {
			lo = mid + 1;
			*start = end;
		}
	}
	*at = lo;
	return true;
}

/* A walk through a part of a list. */
struct sg_walk {
	u64 off, len;		/* the part */
	u64 done;		/* bytes of it that are found */
	u64 start;		/* where the next entry begins */
	struct dma_seg *seg;
	u32 *nseg, max;
};

/* Walks through some entries; returns how many, or 0 when the list ends there. */
static u32 sg_batch(struct sg_walk *w, const struct vhca_sg_entry *list, u32 n)
{
	u32 i;

	for (i = 0; i < n && w->done < w->len; i++) {
		u64 pos = w->off + w->done, end = le64toh(list[i].end), skip = pos - w->start;
		u64 part;

		if (end < w->start || (skip && end <= pos))
			return 0;
		part = MIN(end - w->start - skip, w->len - w->done);
		if (part && !seg_add(w->seg, w->nseg, w->max, le64toh(list[i].addr) + skip, part))
			return 0;
		w->done += part;
		w->start = end;
	}
	return i;
}

/*
 * Lists may be long and their pieces short, or empty.  Long stretches of empty pieces are skipped
 * by a search.  After a long walk the function returns with the bytes found so far, and is called
 * again.
 */
u64 fast_sg_map(struct guest_mem *mem, const struct vbuf *b, u64 off, u64 len,
		struct dma_seg *seg, u32 *nseg, u32 max, u32 *pieces)
{
	struct sg_walk w = { .off = off, .len = len, .seg = seg, .nseg = nseg, .max = max };
	struct vhca_sg_entry list[SG_BATCH];
	u32 at = 0, went = 0;

	if (!sg_search(mem, b, off, &at, &w.start))
		return 0;
	while (w.done < len && at < b->npages && !(w.done && went > RUN_PIECES)) {
		u32 n = MIN(b->npages - at, SG_BATCH);
		u64 before = w.done;

		if (dma_read(mem, list, b->addr + at * sizeof(*list), n * sizeof(*list)))
			break;
		n = sg_batch(&w, list, n);
		if (!n)
			break;
		went += n;
		at += n;
		if (w.done == before && !sg_search(mem, b, off + w.done, &at, &w.start))
			break;
	}
	*pieces += went;
	return w.done;
}

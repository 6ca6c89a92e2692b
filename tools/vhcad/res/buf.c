// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Buffers in guest memory: page lists of up to two levels, and rings.
 *
 * Lists stay with the guest, which can change them at any time, so an entry is only an address to
 * try; mem/ decides whether it may be accessed.
 */
#include <errno.h>
#include <endian.h>

#include "drivers/infiniband/hw/vhca/defs/vhca_hw.h"
#include "res/buf.h"

/* Entries of a page list fetched at a time. */
#define LIST_BATCH	32u

/* Reads page addresses from @first on, as far as they lie in one list; 0: it cannot be read. */
static u32 read_list(struct guest_mem *mem, const struct vbuf *b, u64 first, u32 want,
		     __le64 *list)
{
	u64 at = b->addr + first * sizeof(__le64);

	if (b->levels == 2) {
		u32 in_page = first % VHCA_LIST_ENTRIES;
		__le64 page;

		if (dma_read(mem, &page, b->addr + first / VHCA_LIST_ENTRIES * sizeof(page),
			     sizeof(page)))
			return 0;
		at = le64toh(page) + in_page * sizeof(__le64);
		want = MIN(want, VHCA_LIST_ENTRIES - in_page);
	}
	return dma_read(mem, list, at, want * sizeof(__le64)) ? 0 : want;
}

u64 vbuf_one(struct guest_mem *mem, const struct vbuf *b, u64 off, u64 len)
{
	u64 pos = b->offset + off, bytes = 1ull << b->shift, left = bytes - (pos & (bytes - 1));
	u64 page;

	if (!b->levels)
		return b->addr + off;
	if (b->levels != 1 || len > left ||
	    dma_load64_acquire(mem, b->addr + (pos >> b->shift) * sizeof(page), &page))
		return VBUF_NOT_ONE;
	return page + bytes - left;
}

static __attribute__((noinline)) u64 map_pages(struct guest_mem *mem, const struct vbuf *b,
					       u64 off, u64 len, struct dma_seg *seg, u32 *nseg,
					       u32 max)
{
	u64 done = 0, pos = b->offset + off;
	__le64 list[LIST_BATCH];

	while (done < len) {
		u64 page = pos >> b->shift;
		u64 in_page = pos & ((1ull << b->shift) - 1);
		u64 pages = ((in_page + len - done - 1) >> b->shift) + 1;
		u32 n = read_list(mem, b, page, MIN(pages, (u64)LIST_BATCH), list);

		if (!n)
			return done;
		for (u32 i = 0; i < n; i++) {
			u64 part = MIN((1ull << b->shift) - in_page, len - done);

			if (!seg_add(seg, nseg, max, le64toh(list[i]) + in_page, part))
				return done;
			done += part;
			pos += part;
			in_page = 0;
		}
	}
	return done;
}

u64 vbuf_map(struct guest_mem *mem, const struct vbuf *b, u64 off, u64 len,
	     struct dma_seg *seg, u32 *nseg, u32 max)
{
	u64 one = vbuf_one(mem, b, off, len);

	if (one == VBUF_NOT_ONE)
		return map_pages(mem, b, off, len, seg, nseg, max);
	return seg_add(seg, nseg, max, one, len) ? len : 0;
}

int vring_move(struct guest_mem *mem, struct vring *r, u32 off, u32 *ref_off)
{
	struct dma_seg seg;
	u32 nseg = 0, in_page, before;

	r->winlen = 0;
	if (!vbuf_map(mem, &r->buf, off, 1, &seg, &nseg, 1))
		return -EFAULT;
	/* only a DMA page is certain to be in one piece */
	in_page = seg.addr % GMEM_PAGE_SIZE;
	if (gmem_ref_get(&r->ref, mem, seg.addr - in_page, GMEM_PAGE_SIZE, r->ref.write))
		return -EFAULT;
	before = MIN(in_page, off);
	if (r->buf.levels)
		before = MIN((u64)before, (r->buf.offset + off) & ((1ull << r->buf.shift) - 1));
	r->win = off - before;
	r->winoff = in_page - before;
	r->winlen = MIN(before + GMEM_PAGE_SIZE - in_page, r->bytes - r->win);
	*ref_off = in_page;
	return 0;
}

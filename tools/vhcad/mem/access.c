// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Bulk access by DMA address.
 */
#include <errno.h>
#include <string.h>

#include "mem/internal.h"

/* Checks all addresses before a copy, so that it transfers everything or nothing. */
static int stretch_check(struct gmem_table *t, u64 iova, size_t len, u32 right)
{
	u64 room;

	if (len && iova + (len - 1) < iova)
		return -EFAULT;
	while (len) {
		if (!gmem_host(t, iova, right, &room))
			return -EFAULT;
		if (room >= len)
			break;
		iova += room;
		len -= room;
	}
	return 0;
}

int gmem_check(struct guest_mem *m, u64 iova, size_t len, bool write)
{
	int err;

	bracket_open();
	err = stretch_check(gmem_live(m), iova, len, write ? GMEM_WRITE : GMEM_READ);
	bracket_close();
	return err;
}

static __attribute__((cold, noinline)) int check_again(struct gmem_table *t, u64 iova, size_t len,
						       u32 right)
{
	return stretch_check(t, iova, len, right);
}

/* If memory that was accessed is lost, the access has failed. */
static inline int still_there(struct gmem_table *t, u64 iova, size_t len, u32 right)
{
	return gmem_any_lost() ? check_again(t, iova, len, right) : 0;
}

static inline int both_there(struct gmem_table *td, u64 dst, struct gmem_table *ts, u64 src,
			     size_t len)
{
	int err = still_there(td, dst, len, GMEM_WRITE);

	return err ? err : still_there(ts, src, len, GMEM_READ);
}

/*
 * Nearly every access lies in one range, which is looked up once.  read_pieces(), write_pieces()
 * and copy_pieces() are for accesses that span ranges.
 */
static int read_pieces(struct gmem_table *t, u8 *dst, u64 iova, size_t len)
{
	int err = stretch_check(t, iova, len, GMEM_READ);
	u64 room;

	while (!err && len) {
		const u8 *src = gmem_host(t, iova, GMEM_READ, &room);
		size_t n = MIN(room, (u64)len);

		if (!src)
			return -EFAULT;
		memcpy(dst, src, n);
		err = still_there(t, iova, n, GMEM_READ);
		dst += n;
		iova += n;
		len -= n;
	}
	return err;
}

static inline int read_one(struct gmem_table *t, u8 *dst, u64 iova, size_t len)
{
	u64 room;
	const u8 *src = gmem_host(t, iova, GMEM_READ, &room);

	if (!src || room < len)
		return read_pieces(t, dst, iova, len);
	memcpy(dst, src, len);
	return still_there(t, iova, len, GMEM_READ);
}

int dma_read(struct guest_mem *m, void *dst, u64 iova, size_t len)
{
	int err;

	bracket_open();
	err = read_one(gmem_live(m), dst, iova, len);
	bracket_close();
	return err;
}

int dma_read_list(struct guest_mem *m, void *dst, const struct dma_seg *seg, u32 nseg)
{
	const struct dma_seg *end = seg + nseg;
	u8 *to = dst;
	int err = 0;

	bracket_open();
	for (; seg < end && !err; to += seg++->len)
		err = read_one(gmem_live(m), to, seg->addr, seg->len);
	bracket_close();
	return err;
}

static int write_pieces(struct gmem_table *t, u64 iova, const u8 *src, size_t len)
{
	int err = stretch_check(t, iova, len, GMEM_WRITE);
	u64 room;

	while (!err && len) {
		u8 *dst = gmem_host(t, iova, GMEM_WRITE, &room);
		size_t n = MIN(room, (u64)len);

		if (!dst)
			return -EFAULT;
		gmem_copy_ascending(dst, src, n);
		err = still_there(t, iova, n, GMEM_WRITE);
		src += n;
		iova += n;
		len -= n;
	}
	return err;
}

static inline int write_one(struct gmem_table *t, u64 iova, const u8 *src, size_t len)
{
	u64 room;
	u8 *dst = gmem_host(t, iova, GMEM_WRITE, &room);

	if (!dst || room < len)
		return write_pieces(t, iova, src, len);
	gmem_copy_ascending(dst, src, len);
	return still_there(t, iova, len, GMEM_WRITE);
}

static int write_slowly(struct guest_mem *m, u64 iova, const void *src, size_t len)
{
	int err;

	bracket_open();
	err = write_one(gmem_live(m), iova, src, len);
	bracket_close();
	return err;
}

int dma_write(struct guest_mem *m, u64 iova, const void *src, size_t len)
{
	const struct gmem_range *r;

	/* the fast path: inside a bracket, and in the range of the last access */
	if (!gmem_depth || gmem_any_lost())
		return write_slowly(m, iova, src, len);
	r = __atomic_load_n(&gmem_live(m)->last, __ATOMIC_RELAXED);
	if (!r || !(r->flags & GMEM_WRITE) || iova - r->iova > r->last - r->iova ||
	    r->last - iova < len - 1 || !r->host)
		return write_slowly(m, iova, src, len);
	gmem_copy_ascending(r->host + (iova - r->iova), src, len);
	return still_there(gmem_live(m), iova, len, GMEM_WRITE);
}

int dma_write_list(struct guest_mem *m, const struct dma_seg *seg, u32 nseg, const void *src)
{
	const struct dma_seg *end = seg + nseg;
	const u8 *from = src;
	int err = 0;

	bracket_open();
	for (; seg < end && !err; from += seg++->len)
		err = write_one(gmem_live(m), seg->addr, from, seg->len);
	bracket_close();
	return err;
}

static int copy_pieces(struct gmem_table *td, u64 dst, struct gmem_table *ts, u64 src,
		       size_t len)
{
	int err = stretch_check(td, dst, len, GMEM_WRITE);
	u64 room_d, room_s;

	if (!err)
		err = stretch_check(ts, src, len, GMEM_READ);
	while (!err && len) {
		u8 *to = gmem_host(td, dst, GMEM_WRITE, &room_d);
		const u8 *from = gmem_host(ts, src, GMEM_READ, &room_s);
		size_t n = MIN(room_d, (u64)len);

		n = MIN(room_s, (u64)n);
		if (!n)
			return -EFAULT;
		gmem_copy_ascending(to, from, n);
		err = both_there(td, dst, ts, src, n);
		dst += n;
		src += n;
		len -= n;
	}
	return err;
}

/* Bytes that lie in one destination segment and one source segment. */
struct piece {
	u64 dst, src, len;
	u8 *to;
	const u8 *from;
	bool whole;		/* it lies in one range on each side: @to and @from are valid */
};

struct pieces {
	struct gmem_table *td, *ts;
	const struct dma_seg *dst, *end, *src;
	u64 dst_off, src_off;	/* bytes of the current segments that are done */
};

static void step(const struct dma_seg **seg, u64 *off, u64 len)
{
	*off += len;
	if (*off == (*seg)->len) {
		++*seg;
		*off = 0;
	}
}

static bool next_piece(struct pieces *l, struct piece *p)
{
	u64 room_d, room_s;

	if (l->dst == l->end)
		return false;
	p->dst = l->dst->addr + l->dst_off;
	p->src = l->src->addr + l->src_off;
	p->len = MIN(l->dst->len - l->dst_off, l->src->len - l->src_off);
	p->to = gmem_host(l->td, p->dst, GMEM_WRITE, &room_d);
	p->from = gmem_host(l->ts, p->src, GMEM_READ, &room_s);
	p->whole = p->to && p->from && MIN(room_d, room_s) >= p->len;
	step(&l->dst, &l->dst_off, p->len);
	step(&l->src, &l->src_off, p->len);
	return true;
}

/* Copies a piece; the prefetched @next is NULL if the last one has come. */
static void copy_piece(const struct piece *p, const struct piece *next, bool cold)
{
	bool ahead = next && next->whole;

	if (!cold)
		gmem_copy_ahead(p->to, p->from, p->len, ahead ? next->to : NULL,
				ahead ? next->from : NULL);
	else if (next)
		gmem_stream(p->to, p->from, p->len, ahead ? next->from : NULL);
	else
		gmem_stream_last(p->to, p->from, p->len);
}

/*
 * Copies what is one piece, as nearly all short messages are.  Returns false if it is not, or if
 * the copy has failed.  One that has succeeded is not done again, whatever memory others have lost:
 * the receiver may have seen its last byte, and use the place for something else.
 */
static inline bool copy_one(struct gmem_table *td, u64 dst, struct gmem_table *ts, u64 src,
			    size_t len)
{
	u64 room_d, room_s;
	u8 *to = gmem_host(td, dst, GMEM_WRITE, &room_d);
	const u8 *from = gmem_host(ts, src, GMEM_READ, &room_s);

	if (!to || !from || room_d < len || room_s < len)
		return false;
	gmem_copy_ascending(to, from, len);
	return !both_there(td, dst, ts, src, len);
}

int dma_copy(struct guest_mem *md, const struct dma_seg *dst, u32 ndst, struct guest_mem *ms,
	     const struct dma_seg *src, u64 off, bool cold, bool *src_fault)
{
	struct pieces l = { .dst = dst, .end = dst + ndst, .src = src, .src_off = off };
	struct piece two[2];
	int err = 0;
	bool more;

	bracket_open();
	l.td = gmem_live(md);
	l.ts = gmem_live(ms);
	while (l.src_off >= l.src->len)
		l.src_off -= l.src++->len;
	if (!cold && ndst == 1 && dst->len <= l.src->len - l.src_off &&
	    copy_one(l.td, dst->addr, l.ts, l.src->addr + l.src_off, dst->len)) {
		bracket_close();
		return 0;
	}
	if (cold)
		gmem_stream_fence();
	more = next_piece(&l, &two[0]);
	for (u32 i = 0; more && !err; i ^= 1) {
		const struct piece *p = &two[i], *next = &two[i ^ 1];

		more = next_piece(&l, &two[i ^ 1]);
		if (p->whole) {
			copy_piece(p, more ? next : NULL, cold);
			err = both_there(l.td, p->dst, l.ts, p->src, p->len);
		} else {
			/* ordinary stores, also for a message that goes past the cache */
			if (cold)
				gmem_stream_fence();
			err = copy_pieces(l.td, p->dst, l.ts, p->src, p->len);
			if (cold)
				gmem_stream_fence();
		}
		if (err)
			*src_fault = stretch_check(l.ts, p->src, p->len, GMEM_READ);
	}
	/*
	 * memory was lost during the copy: the receiver sees the error, and may use what has
	 * arrived
	 */
	if (cold && err)
		gmem_stream_fence();
	bracket_close();
	return err;
}

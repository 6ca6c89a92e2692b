// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Keys that the send queue registers and ends.
 *
 * A key is valid while it has a length.  Its list stays in guest memory, where
 * the guest may write it whenever it likes: what an entry says is only an
 * address to try, and only as far as it fits those before it.
 */
#include "res/integrity.h"

/* Entries of a list of pieces fetched at a time. */
#define SG_BATCH	16u

#define REQ_FIELD(f)	offsetof(struct vhca_create_mkey_req, f)

enum vhca_status fast_create(struct command *c, struct vmkey *mk)
{
	const struct vhca_create_mkey_req *req = command_req(c);
	u32 size = mk->type == VHCA_MKEY_FAST ? sizeof(__le64) : sizeof(struct vhca_sg_entry);
	u32 head = mk->type == VHCA_MKEY_INTEGRITY ? sizeof(struct vhca_integrity) : 0;
	u64 addr = le64toh(req->buf.addr);
	u32 n = le32toh(req->buf.npages);

	for (u32 i = 0; i < sizeof(req->buf.rsvd); i++)
		if (req->buf.rsvd[i])
			return refuse(c, VHCA_ST_BAD_FIELD, REQ_FIELD(buf.rsvd) + i);
	if (req->access)
		return BAD_FIELD(c, vhca_create_mkey_req, access);
	if (req->iova)
		return BAD_FIELD(c, vhca_create_mkey_req, iova);
	if (req->length)
		return BAD_FIELD(c, vhca_create_mkey_req, length);
	if (req->buf.levels != 1)
		return BAD_FIELD(c, vhca_create_mkey_req, buf.levels);
	if (req->buf.page_shift)
		return BAD_FIELD(c, vhca_create_mkey_req, buf.page_shift);
	if (req->buf.offset)
		return BAD_FIELD(c, vhca_create_mkey_req, buf.offset);
	if (!n || n > VDEV_MAX_REG_ENTRIES)
		return BAD_FIELD(c, vhca_create_mkey_req, buf.npages);
	if (addr % sizeof(__le64) || range_wraps(addr, head + (u64)n * size))
		return BAD_FIELD(c, vhca_create_mkey_req, buf.addr);
	mk->buf = (struct vbuf){ .addr = addr, .levels = 1 };
	mk->entries = n;
	return VHCA_ST_OK;
}

bool sg_end(struct guest_mem *mem, const struct vbuf *b, u32 i, u64 *end)
{
	return !dma_load64_acquire(mem, b->addr + i * sizeof(struct vhca_sg_entry) +
					offsetof(struct vhca_sg_entry, end), end);
}

/* Do the entries reach as many bytes as the request says? */
static bool list_reaches(struct guest_mem *mem, const struct vmkey *mk,
			 const struct vhca_wqe_reg *reg)
{
	u64 length = le64toh(reg->length), end;
	u32 n = le32toh(reg->entries);

	if (mk->type == VHCA_MKEY_FAST_SG)
		return !reg->page_shift && sg_end(mem, &mk->buf, n - 1, &end) && end >= length;
	if (reg->page_shift < VHCA_PAGE_SHIFT_MIN || reg->page_shift > VHCA_PAGE_SHIFT_MAX)
		return false;
	return ((u64)n << reg->page_shift) -
	       (le64toh(reg->iova) & ((1ull << reg->page_shift) - 1)) >= length;
}

u8 mkey_register(const struct mkey_scope *s, const struct vhca_wqe_reg *reg)
{
	u64 iova = le64toh(reg->iova), length = le64toh(reg->length);
	u32 key = le32toh(reg->key), n = le32toh(reg->entries);
	struct vmkey *mk = table_get(&s->dev->mkeys, key >> 8);

	for (u32 i = 0; i < sizeof(reg->rsvd); i++)
		if (reg->rsvd[i])
			return VHCA_CS_LOC_QP_OP_ERR;
	if (!mk || !mkey_is_fast(mk) || mk->pd != s->pd || mk->length ||
	    !rights_good(s->dev, reg->access) || !length || range_wraps(iova, length) ||
	    !n || n > mk->entries ||
	    !(mk->type == VHCA_MKEY_INTEGRITY ? integrity_register(s->dev->mem, mk, reg) :
						 list_reaches(s->dev->mem, mk, reg)))
		return VHCA_CS_LOC_QP_OP_ERR;
	mk->key = key;
	mk->access = reg->access;
	mk->iova = iova;
	mk->length = length;
	mk->buf.npages = n;
	mk->buf.shift = reg->page_shift;
	mk->buf.offset = iova & ((1ull << reg->page_shift) - 1);
	return VHCA_CS_SUCCESS;
}

#define REMOTE_RIGHTS	(VHCA_ACCESS_REMOTE_READ | VHCA_ACCESS_REMOTE_WRITE | \
			 VHCA_ACCESS_REMOTE_ATOMIC)

u8 mkey_invalidate(const struct mkey_scope *s, u32 key, bool remote)
{
	u8 refused = remote ? VHCA_CS_REM_INV_REQ_ERR : VHCA_CS_LOC_QP_OP_ERR;
	struct vmkey *mk = table_get(&s->dev->mkeys, key >> 8);

	if (!mk || mk->key != key || mk->pd != s->pd)
		return refused;
	if (mk->type == VHCA_MKEY_MW_2) {
		if (mk->mw.of != s->owner)
			return refused;
		mkey_unbind(mk);
		return VHCA_CS_SUCCESS;
	}
	/* the owner may end a key that has ended; the peer only a key that it could use */
	if (!mkey_is_fast(mk) || mk->windows || (remote && !(mk->access & REMOTE_RIGHTS)))
		return refused;
	mk->access = 0;
	mk->iova = 0;
	mk->length = 0;
	mk->buf.npages = 0;
	return VHCA_CS_SUCCESS;
}

/*
 * The first entry from *at on that ends behind off: *start becomes where it begins.  Ends that
 * do not ascend lead somewhere, and the walk from there finds them out.
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
 * Lists may be long and their pieces short, or empty.  Those that are empty are stepped over when
 * there are many, and the walk stops, with some bytes, when it was long: then it is asked again.
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

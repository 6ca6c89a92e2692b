// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * From keys to guest memory.
 *
 * Nothing that is found here is kept: code that moves bytes asks for each
 * packet, and the engine executes commands and send queue entries only between
 * packets.  So a key that was invalidated lets no later byte through.
 */
#include <endian.h>
#include <errno.h>

#include "res/integrity.h"
#include "res/sgl.h"

/* Does a key grant this that has rules besides its own range: an FMR key or a window? */
static bool special_grants(const struct mkey_scope *s, const struct vmkey *mk, u32 key, u64 addr,
			   u64 len)
{
	if (mk->type == VHCA_MKEY_FMR)
		return fmr_grants(s->dev->mem, mk, key, addr, len);
	return s->owner && (mk->type == VHCA_MKEY_MW_1 || mk->mw.of == s->owner) &&
	       mk->key == key && range_holds(mk->iova, mk->length, addr, len);
}

static inline bool is_special(const struct vmkey *mk)
{
	return mk->type == VHCA_MKEY_FMR || mkey_is_window(mk);
}

/* Returns the key, if it grants this. */
static inline struct vmkey *grant(const struct mkey_scope *s, u32 key, u64 addr, u64 len,
				  u32 access)
{
	struct vmkey *mk = table_get(&s->dev->mkeys, key >> 8);

	if (!mk || mk->pd != s->pd || access & ~mk->access)
		return NULL;
	if (is_special(mk))
		return special_grants(s, mk, key, addr, len) ? mk : NULL;
	return mk->key == key && range_holds(mk->iova, mk->length, addr, len) ? mk : NULL;
}

struct vmkey *mkey_find(const struct mkey_scope *s, u32 key, u64 addr, u64 len, u32 access)
{
	return grant(s, key, addr, len, access);
}

/* Finds where a part of what a key grants is in memory; as sgl_map(). */
static u64 map(struct vhca_dev *dev, const struct vmkey *mk, u32 key, u64 addr, u64 len,
	       struct dma_seg *seg, u32 *nseg, u32 max)
{
	if (mkey_is_window(mk)) {
		addr += mk->mw.start - mk->iova;
		mk = mk->mw.mr;
	}
	switch (mk->type) {
	case VHCA_MKEY_PHYSICAL:
		seg[(*nseg)++] = (struct dma_seg){ addr, len };
		return len;
	case VHCA_MKEY_FAST_SG:
		return fast_sg_map(dev->adapter.worker, dev->mem, &mk->buf, addr - mk->iova, len,
				   seg, nseg, max);
	case VHCA_MKEY_INTEGRITY:
		return 0;	/* what goes over the wire is nowhere in memory */
	case VHCA_MKEY_FMR:
		return fmr_map(dev->mem, mk, key, addr, len, seg, nseg, max);
	default:
		return vbuf_map(dev->mem, &mk->buf, addr - mk->iova, len, seg, nseg, max);
	}
}

u64 sgl_map(const struct sglist *l, u64 off, u64 len, struct dma_seg *seg, u32 *nseg, u32 max)
{
	struct vhca_dev *dev = l->scope.dev;
	const struct worker *w = dev->adapter.worker;
	u32 i = 0, before = w->pieces;
	u64 done = 0;

	*nseg = 0;
	while (i < l->n && off >= l->sge[i].len)
		off -= l->sge[i++].len;
	for (; done < len && i < l->n; i++, off = 0) {
		u64 part = MIN(l->sge[i].len - off, len - done), got;
		u64 addr = l->sge[i].addr + off;
		struct vmkey *mk;

		if (!part)
			continue;
		if (*nseg == max || (done && w->pieces - before > RUN_PIECES))
			return done;
		mk = grant(&l->scope, l->sge[i].key, addr, part, l->access);
		if (!mk)
			return done;
		got = map(dev, mk, l->sge[i].key, addr, part, seg, nseg, max);
		done += got;
		if (got < part)
			return done;
	}
	return done;
}

u64 sgl_one(const struct sglist *l, u64 off, u64 len)
{
	u64 addr = l->sge->addr + off;
	const struct vmkey *mk;

	if (!l->n || off >= l->sge->len || len > l->sge->len - off)
		return SGL_NOT_ONE;
	mk = grant(&l->scope, l->sge->key, addr, len, l->access);
	if (!mk)
		return SGL_NOT_ONE;
	if (mk->type == VHCA_MKEY_PHYSICAL)
		return addr;
	if (mk->type != VHCA_MKEY_LIST)
		return SGL_NOT_ONE;
	return vbuf_one(l->scope.dev->mem, &mk->buf, addr - mk->iova, len);
}

bool sgl_check(const struct sglist *l)
{
	for (u32 i = 0; i < l->n; i++)
		if (l->sge[i].len && !grant(&l->scope, l->sge[i].key, l->sge[i].addr,
					    l->sge[i].len, l->access))
			return false;
	return true;
}

/*
 * The key that checks or makes protection fields and has the byte at off, or NULL; at becomes the
 * byte's place in the key's range, left the number of the list's bytes from there on.
 */
static struct vmkey *integrity_at(const struct sglist *l, u64 off, u64 *at, u64 *left)
{
	const struct sge *e = l->sge, *end = l->sge + l->n;
	struct vmkey *mk;

	while (e < end && off >= e->len)
		off -= e++->len;
	if (e == end)
		return NULL;
	*left = e->len - off;
	mk = grant(&l->scope, e->key, e->addr + off, *left, l->access);
	if (!mk || mk->type != VHCA_MKEY_INTEGRITY)
		return NULL;
	*at = e->addr + off - mk->iova;
	return mk;
}

bool sgl_is_checked(const struct sglist *l, u64 off)
{
	u64 at, left;

	return integrity_at(l, off, &at, &left);
}

u64 sgl_write_checked(const struct sglist *l, u64 off, const void *src, u64 len)
{
	u64 at, left;
	struct vmkey *mk = integrity_at(l, off, &at, &left);

	return mk ? integrity_write(l->scope.dev, mk, at, src, MIN(len, left)) : 0;
}

static u64 read_checked(const struct sglist *l, u64 off, void *dst, u64 len)
{
	u64 at, left;
	struct vmkey *mk = integrity_at(l, off, &at, &left);

	return mk ? integrity_read(l->scope.dev, mk, at, dst, MIN(len, left)) : 0;
}

u64 sgl_read(const struct sglist *l, u64 off, void *dst, u64 len)
{
	struct vhca_dev *dev = l->scope.dev;
	struct dma_seg seg[PAYLOAD_SEGS];
	u64 done = 0;

	while (done < len && dev->adapter.worker->pieces <= MAX_PIECES) {
		u8 *to = (u8 *)dst + done;
		u32 nseg;
		u64 n = sgl_map(l, off + done, len - done, seg, &nseg, PAYLOAD_SEGS);

		if (!n)
			n = read_checked(l, off + done, to, len - done);
		else if (dma_read_list(dev->mem, to, seg, nseg))
			break;
		if (!n)
			break;
		done += n;
	}
	return done;
}

static int operate(struct guest_mem *mem, u64 at, const struct matomic *op, u64 *old)
{
	switch (op->opcode) {
	case VHCA_OP_CMP_SWAP:
		return dma_cas64(mem, at, op->compare, op->swap_add, old);
	case VHCA_OP_FETCH_ADD:
		return dma_add64(mem, at, op->swap_add, old);
	case VHCA_OP_MASKED_CMP_SWAP:
		return dma_mask_cas64(mem, at, op->compare, op->compare_mask, op->swap_add,
				      op->mask, old);
	case VHCA_OP_MASKED_FETCH_ADD:
		return dma_mask_add64(mem, at, op->swap_add, op->mask, old);
	default:
		return dma_store64_release(mem, at, op->swap_add);
	}
}

u8 mkey_atomic(const struct mkey_scope *s, u32 key, u64 addr, const struct matomic *op, u64 *old)
{
	u32 access = op->opcode == VHCA_OP_ATOMIC_WRITE ? MKEY_WRITE_REMOTE : MKEY_ATOMIC_REMOTE;
	struct vhca_dev *dev = s->dev;
	struct dma_seg seg;
	struct vmkey *mk;
	u32 nseg = 0;

	*old = 0;
	if (addr % sizeof(*old))
		return VHCA_CS_REM_INV_REQ_ERR;
	mk = grant(s, key, addr, sizeof(*old), access);
	if (!mk || map(dev, mk, key, addr, sizeof(*old), &seg, &nseg, 1) < sizeof(*old))
		return VHCA_CS_REM_ACCESS_ERR;
	switch (operate(dev->mem, seg.addr, op, old)) {
	case 0:
		return VHCA_CS_SUCCESS;
	case -EINVAL:
		/* the region does not begin at a multiple of eight */
		return VHCA_CS_REM_INV_REQ_ERR;
	default:
		return VHCA_CS_REM_ACCESS_ERR;
	}
}

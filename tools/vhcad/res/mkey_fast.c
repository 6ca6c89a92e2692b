// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Keys that the send queue registers and invalidates.
 *
 * A key is valid while it has a length.  Its list stays in guest memory, where
 * the guest may write it at any time: an entry is only an
 * address to try, and only as far as it fits the entries before it.
 */
#include "res/integrity.h"

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
	/* the owner may invalidate an invalid key again; the peer only a key that it could use */
	if (!mkey_is_fast(mk) || mk->windows || (remote && !(mk->access & REMOTE_RIGHTS)))
		return refused;
	mk->access = 0;
	mk->iova = 0;
	mk->length = 0;
	mk->buf.npages = 0;
	return VHCA_CS_SUCCESS;
}

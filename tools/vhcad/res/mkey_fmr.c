// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Keys whose translation the driver changes in memory, without a command.
 *
 * The record that says what is mapped has a sequence number, odd while it is
 * being written.  An access reads the record and then the pages, and counts
 * only if the number is still the same.
 */
#include "res/mkey_internal.h"

/* A mapping as it was read. */
struct mapping {
	u32 seq;
	u64 iova;
	u64 length;
	struct vbuf buf;
};

enum vhca_status fmr_create(struct command *c, struct vmkey *mk)
{
	const struct vhca_create_mkey_req *req = command_req(c);
	u32 access = le32toh(req->access), n = le32toh(req->buf.npages);
	enum vhca_status st;

	if (!rights_good(c->dev, access) || access & VHCA_ACCESS_MW_BIND)
		return BAD_FIELD(c, vhca_create_mkey_req, access);
	if (req->length)
		return BAD_FIELD(c, vhca_create_mkey_req, length);
	if (req->buf.levels != 1)
		return BAD_FIELD(c, vhca_create_mkey_req, buf.levels);
	st = command_buf(c, offsetof(struct vhca_create_mkey_req, buf), 0, 1, &mk->buf);
	if (st)
		return st;
	if (mk->buf.offset)
		return BAD_FIELD(c, vhca_create_mkey_req, buf.offset);
	if (!n || n > VDEV_MAX_REG_ENTRIES)
		return BAD_FIELD(c, vhca_create_mkey_req, buf.npages);
	if (range_wraps(mk->buf.addr, n * sizeof(__le64)))
		return BAD_FIELD(c, vhca_create_mkey_req, buf.addr);
	mk->iova = le64toh(req->iova);
	if (mk->iova % sizeof(__le64) || range_wraps(mk->iova, sizeof(struct vhca_fmr)))
		return BAD_FIELD(c, vhca_create_mkey_req, iova);
	mk->access = access;
	mk->entries = n;
	return VHCA_ST_OK;
}

/* Reads the record; false if this key maps nothing. */
static bool load(struct guest_mem *mem, const struct vmkey *mk, u32 key, struct mapping *m)
{
	struct vhca_fmr r;
	u64 in_page, room;
	u32 n;

	if (dma_load32_acquire(mem, mk->iova, &m->seq) || m->seq & 1 ||
	    dma_read(mem, &r, mk->iova, sizeof(r)))
		return false;
	n = le32toh(r.npages);
	if (le32toh(r.seq) != m->seq || le32toh(r.key) != key || r.rsvd || !n || n > mk->entries)
		return false;
	m->iova = le64toh(r.iova);
	m->length = le64toh(r.length);
	in_page = m->iova & ((1ull << mk->buf.shift) - 1);
	room = ((u64)n << mk->buf.shift) - in_page;
	if (m->length > room || range_wraps(m->iova, m->length))
		return false;
	m->buf = mk->buf;
	m->buf.npages = n;
	m->buf.offset = in_page;
	return true;
}

/* Is the mapping still the one that was read? */
static bool still(struct guest_mem *mem, const struct vmkey *mk, const struct mapping *m)
{
	u32 seq;

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return !dma_load32_acquire(mem, mk->iova, &seq) && seq == m->seq;
}

bool fmr_grants(struct guest_mem *mem, const struct vmkey *mk, u32 key, u64 addr, u64 len)
{
	struct mapping m;

	return load(mem, mk, key, &m) && range_holds(m.iova, m.length, addr, len) &&
	       still(mem, mk, &m);
}

u64 fmr_map(struct guest_mem *mem, const struct vmkey *mk, u32 key, u64 addr, u64 len,
	    struct dma_seg *seg, u32 *nseg, u32 max)
{
	u32 had = *nseg;
	u64 joined = had ? seg[had - 1].len : 0, got;
	struct mapping m;

	if (!load(mem, mk, key, &m) || !range_holds(m.iova, m.length, addr, len))
		return 0;
	got = vbuf_map(mem, &m.buf, addr - m.iova, len, seg, nseg, max);
	if (still(mem, mk, &m))
		return got;
	*nseg = had;
	if (had)
		seg[had - 1].len = joined;
	return 0;
}

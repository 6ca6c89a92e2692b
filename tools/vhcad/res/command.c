// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What several commands check in the same way.
 */
#include <errno.h>

#include "res/command.h"
#include "lib/log.h"
#include "res/names.h"

enum vhca_status command_limited(struct command *c, enum vdev_limit l)
{
	log_line("%s: %s refused: %s are limited to %u", c->dev->name, vcmd_name(c->sqe.opcode),
		 vlimit_name(l), c->dev->limit[l]);
	return VHCA_ST_NO_RESOURCE;
}

enum vhca_status command_table_error(struct command *c, enum vdev_limit l, int err)
{
	if (err == -EDQUOT)
		return command_limited(c, l);
	return err == -ENOSPC ? VHCA_ST_NO_RESOURCE : VHCA_ST_INTERNAL;
}

enum vhca_status command_output(struct command *c, const void *data, u32 len)
{
	if (!dma_write(c->dev->mem, le64toh(c->sqe.out_addr), data, len))
		return VHCA_ST_OK;
	c->bad_field = offsetof(struct vhca_asqe, out_addr);
	return VHCA_ST_BAD_ADDRESS;
}

#define BUF_FIELD(c, off, field, st) \
	refuse(c, st, (off) + offsetof(struct vhca_buf, field))

enum vhca_status command_buf(struct command *c, u32 off, u64 bytes, u32 align, struct vbuf *out)
{
	const struct vhca_buf *b = (const void *)(c->sqe.req + off);
	struct vbuf v = {
		.addr = le64toh(b->addr),
		.offset = le64toh(b->offset),
		.npages = le32toh(b->npages),
		.shift = b->page_shift,
		.levels = b->levels,
	};

	for (u32 i = 0; i < sizeof(b->rsvd); i++)
		if (b->rsvd[i])
			return refuse(c, VHCA_ST_BAD_FIELD,
				      off + offsetof(struct vhca_buf, rsvd) + i);
	if (v.levels > 2)
		return BUF_FIELD(c, off, levels, VHCA_ST_BAD_FIELD);
	if (!v.levels) {
		if (v.offset)
			return BUF_FIELD(c, off, offset, VHCA_ST_BAD_FIELD);
		if (v.npages)
			return BUF_FIELD(c, off, npages, VHCA_ST_BAD_FIELD);
		if (v.shift)
			return BUF_FIELD(c, off, page_shift, VHCA_ST_BAD_FIELD);
		if (v.addr % align || (bytes && bytes - 1 > UINT64_MAX - v.addr))
			return BUF_FIELD(c, off, addr, VHCA_ST_BAD_FIELD);
	} else {
		u64 room;

		if (v.shift < VHCA_PAGE_SHIFT_MIN || v.shift > VHCA_PAGE_SHIFT_MAX)
			return BUF_FIELD(c, off, page_shift, VHCA_ST_BAD_FIELD);
		if (v.offset >> v.shift || v.offset % align)
			return BUF_FIELD(c, off, offset, VHCA_ST_BAD_FIELD);
		room = ((u64)v.npages << v.shift) - (v.npages ? v.offset : 0);
		if (room < bytes)
			return BUF_FIELD(c, off, npages, VHCA_ST_BAD_FIELD);
		if (v.addr % sizeof(__le64))
			return BUF_FIELD(c, off, addr, VHCA_ST_BAD_FIELD);
	}
	*out = v;
	return VHCA_ST_OK;
}

enum vhca_status command_ring(struct command *c, u32 off, u64 bytes, u32 entry, bool write,
			      struct vring *out)
{
	struct vring r = { .ref.write = write, .bytes = bytes };
	enum vhca_status st;
	u32 at;

	st = command_buf(c, off, bytes, entry, &r.buf);
	if (st)
		return st;
	/* refuse a ring now that is not in the guest's memory */
	if (vring_at(c->dev->mem, &r, 0, &at) || vring_at(c->dev->mem, &r, bytes - 1, &at))
		return BUF_FIELD(c, off, addr, VHCA_ST_BAD_ADDRESS);
	r.winlen = 0;
	*out = r;
	return VHCA_ST_OK;
}

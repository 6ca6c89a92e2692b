/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Buffers and rings in guest memory.
 */
#ifndef VHCAD_RES_BUF_H
#define VHCAD_RES_BUF_H

#include "mem/mem.h"

/**
 * struct vbuf - a buffer, as struct vhca_buf describes it
 * @addr: of its first byte (no levels), of its page list (one), or of the list of lists (two)
 * @offset: of its first byte in the first page
 * @npages: pages
 * @shift: log2 of the bytes of a page
 * @levels: of page lists; 0: the buffer is contiguous
 */
struct vbuf {
	u64 addr;
	u64 offset;
	u32 npages;
	u8 shift;
	u8 levels;
};

/**
 * vbuf_map() - find where a piece of a buffer lies
 * @mem: guest memory
 * @b: buffer
 * @off: first byte, from the buffer's start
 * @len: bytes, not 0; the piece is inside the buffer
 * @seg: receives DMA addresses; neighbours are joined
 * @nseg: in: entries in use; out: with the new ones
 * @max: entries that fit
 *
 * Return: the bytes mapped: less than @len when @seg is full or when a page list cannot be read
 * (*@nseg < @max tells the two apart).
 */
u64 vbuf_map(struct guest_mem *mem, const struct vbuf *b, u64 off, u64 len,
	     struct dma_seg *seg, u32 *nseg, u32 max);

#define VBUF_NOT_ONE	UINT64_MAX

/**
 * vbuf_one() - find where a piece of a buffer lies, if it is in one page or the buffer contiguous
 * @mem: guest memory
 * @b: buffer
 * @off: first byte, from the buffer's start
 * @len: bytes, not 0; the piece is inside the buffer
 *
 * Return: the DMA address, or VBUF_NOT_ONE: then ask vbuf_map().
 */
u64 vbuf_one(struct guest_mem *mem, const struct vbuf *b, u64 off, u64 len);

/** seg_add() - join a piece to the last segment or open a new one; false: it does not fit */
static inline bool seg_add(struct dma_seg *seg, u32 *nseg, u32 max, u64 addr, u64 len)
{
	if (*nseg && seg[*nseg - 1].addr + seg[*nseg - 1].len == addr) {
		seg[*nseg - 1].len += len;
		return true;
	}
	if (*nseg == max)
		return false;
	seg[(*nseg)++] = (struct dma_seg){ addr, len };
	return true;
}

/**
 * struct vring - a ring whose entries' sizes are powers of two; a window of it is translated
 * @buf: the ring's memory, from which another window is translated
 * @ref: the window's memory, whose @write holds for the whole ring
 * @win: ring offset of the window
 * @winlen: bytes of the window; 0: there is none
 * @winoff: where in @ref the window starts
 * @bytes: of the whole ring, a power of two
 *
 * An entry in the window needs all but @buf.
 */
struct vring {
	struct vbuf buf;
	struct gmem_ref ref;
	u32 win;
	u32 winlen;
	u32 winoff;
	u32 bytes;
};

/** vring_move() - vring_at() for an offset outside of the window */
int vring_move(struct guest_mem *mem, struct vring *r, u32 off, u32 *ref_off);

/**
 * vring_at() - make part of a ring accessible
 * @mem: guest memory
 * @r: ring
 * @off: byte offset in the ring
 * @ref_off: receives the offset to use with r->ref
 *
 * Entries never straddle windows.
 *
 * Return: 0, or -EFAULT when the guest has no memory there that the device may access so.
 */
static inline int vring_at(struct guest_mem *mem, struct vring *r, u32 off, u32 *ref_off)
{
	if (off - r->win >= r->winlen)
		return vring_move(mem, r, off, ref_off);
	*ref_off = r->winoff + off - r->win;
	return 0;
}

#endif /* VHCAD_RES_BUF_H */

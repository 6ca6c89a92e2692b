// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Bulk access by DMA address.
 */
#include <errno.h>
#include <string.h>

#include "mem/room.h"

/* Checks a stretch as a whole, so that a copy is all or nothing. */
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

/*
 * What lies in one range, as nearly everything does, is looked up once; the
 * functions below each are for the rest.
 */
static int read_pieces(struct gmem_table *t, u8 *dst, u64 iova, size_t len)
{
	int err = stretch_check(t, iova, len, GMEM_READ);
	u64 room;

	while (!err && len) {
		const u8 *src = gmem_host(t, iova, GMEM_READ, &room);
		size_t n = MIN(room, (u64)len);

		memcpy(dst, src, n);
		dst += n;
		iova += n;
		len -= n;
	}
	return err;
}

int dma_read(struct guest_mem *m, void *dst, u64 iova, size_t len)
{
	struct gmem_table *t;
	const u8 *src;
	int err = 0;
	u64 room;

	bracket_open();
	t = gmem_live(m);
	src = gmem_host(t, iova, GMEM_READ, &room);
	if (src && room >= len)
		memcpy(dst, src, len);
	else
		err = read_pieces(t, dst, iova, len);
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

		gmem_copy_ascending(dst, src, n);
		src += n;
		iova += n;
		len -= n;
	}
	return err;
}

int dma_write(struct guest_mem *m, u64 iova, const void *src, size_t len)
{
	struct gmem_table *t;
	int err = 0;
	u64 room;
	u8 *dst;

	bracket_open();
	t = gmem_live(m);
	dst = gmem_host(t, iova, GMEM_WRITE, &room);
	if (dst && room >= len)
		gmem_copy_ascending(dst, src, len);
	else
		err = write_pieces(t, iova, src, len);
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
		gmem_copy_ascending(to, from, n);
		dst += n;
		src += n;
		len -= n;
	}
	return err;
}

int dma_copy(struct guest_mem *md, u64 dst, struct guest_mem *ms, u64 src, size_t len)
{
	struct gmem_table *td, *ts;
	u64 room_d, room_s;
	const u8 *from;
	int err = 0;
	u8 *to;

	bracket_open();
	td = gmem_live(md);
	ts = gmem_live(ms);
	to = gmem_host(td, dst, GMEM_WRITE, &room_d);
	from = gmem_host(ts, src, GMEM_READ, &room_s);
	if (to && from && MIN(room_d, room_s) >= len)
		gmem_copy_ascending(to, from, len);
	else
		err = copy_pieces(td, dst, ts, src, len);
	bracket_close();
	return err;
}

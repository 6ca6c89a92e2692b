// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Bulk access by DMA address.
 */
#include <errno.h>
#include <string.h>

#include "mem/room.h"

/* Checks a stretch as a whole, so that a copy is all or nothing. */
static int stretch_check(const struct gmem_table *t, u64 iova, size_t len, u32 right)
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

	gmem_enter();
	err = stretch_check(gmem_live(m), iova, len, write ? GMEM_WRITE : GMEM_READ);
	gmem_exit();
	return err;
}

int dma_read(struct guest_mem *m, void *dst, u64 iova, size_t len)
{
	const struct gmem_table *t;
	u64 room;
	int err;

	gmem_enter();
	t = gmem_live(m);
	err = stretch_check(t, iova, len, GMEM_READ);
	while (!err && len) {
		const u8 *src = gmem_host(t, iova, GMEM_READ, &room);
		size_t n = MIN(room, (u64)len);

		memcpy(dst, src, n);
		dst = (u8 *)dst + n;
		iova += n;
		len -= n;
	}
	gmem_exit();
	return err;
}

int dma_write(struct guest_mem *m, u64 iova, const void *src, size_t len)
{
	const struct gmem_table *t;
	u64 room;
	int err;

	gmem_enter();
	t = gmem_live(m);
	err = stretch_check(t, iova, len, GMEM_WRITE);
	while (!err && len) {
		u8 *dst = gmem_host(t, iova, GMEM_WRITE, &room);
		size_t n = MIN(room, (u64)len);

		gmem_copy_ascending(dst, src, n);
		src = (const u8 *)src + n;
		iova += n;
		len -= n;
	}
	gmem_exit();
	return err;
}

int dma_copy(struct guest_mem *md, u64 dst, struct guest_mem *ms, u64 src, size_t len)
{
	const struct gmem_table *td, *ts;
	u64 room_d, room_s;
	int err;

	gmem_enter();
	td = gmem_live(md);
	ts = gmem_live(ms);
	err = stretch_check(td, dst, len, GMEM_WRITE);
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
	gmem_exit();
	return err;
}

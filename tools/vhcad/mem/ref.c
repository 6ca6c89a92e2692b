// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Remembered translations, and bulk access through them.
 */
#include <errno.h>
#include <string.h>

#include "mem/room.h"

int gmem_ref_get(struct gmem_ref *ref, struct guest_mem *m, u64 iova, u32 len, bool write)
{
	u8 *host;

	memset(ref, 0, sizeof(*ref));
	if (!len)
		return -EFAULT;
	ref->mem = m;
	ref->iova = iova;
	ref->len = len;
	ref->write = write;
	bracket_open();
	host = gmem_ref_host(ref);
	bracket_close();
	return host ? 0 : -EFAULT;
}

int dma_ref_read(struct gmem_ref *ref, u32 off, void *dst, u32 len)
{
	u8 *host;

	if (!gmem_ref_fits(ref, off, len, false))
		return -EFAULT;
	bracket_open();
	host = gmem_ref_host(ref);
	if (host)
		memcpy(dst, host + off, len);
	bracket_close();
	return host ? 0 : -EFAULT;
}

int dma_ref_write(struct gmem_ref *ref, u32 off, const void *src, u32 len)
{
	u8 *host;

	if (!gmem_ref_fits(ref, off, len, true))
		return -EFAULT;
	bracket_open();
	host = gmem_ref_host(ref);
	if (host)
		gmem_copy_ascending(host + off, src, len);
	bracket_close();
	return host ? 0 : -EFAULT;
}

int dma_ref_publish(struct gmem_ref *ref, u32 off, const void *src, u32 len, u64 last)
{
	u8 *host;

	if ((ref->iova + off + len) % sizeof(last))
		return -EINVAL;
	if (!gmem_ref_fits(ref, off, len + sizeof(last), true))
		return -EFAULT;
	bracket_open();
	host = gmem_ref_host(ref);
	if (host) {
		gmem_copy_ascending(host + off, src, len);
		__atomic_store_n((u64 *)(host + off + len), last, __ATOMIC_RELEASE);
	}
	bracket_close();
	return host ? 0 : -EFAULT;
}

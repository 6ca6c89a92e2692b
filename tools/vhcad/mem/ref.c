// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * References (struct gmem_ref), and bulk access through them.
 */
#include <errno.h>
#include <string.h>

#include "mem/internal.h"

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

/*
 * For memory that was accessed, but may have got lost meanwhile.  Memory that was not accessed must
 * not be looked at again: the VM may have granted it since.
 */
static __attribute__((cold, noinline)) u8 *host_again(struct gmem_ref *ref)
{
	return gmem_ref_host(ref);
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
	if (host && gmem_any_lost())
		host = host_again(ref);
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
	if (host && gmem_any_lost())
		host = host_again(ref);
	bracket_close();
	return host ? 0 : -EFAULT;
}

/* For accesses inside a bracket: is the memory lost that was accessed? */
static inline int still_there(struct gmem_ref *ref)
{
	return gmem_any_lost() && !host_again(ref) ? -EFAULT : 0;
}

int dma_ref_read_line(struct gmem_ref *ref, u32 off, void *dst)
{
	const u8 *host = gmem_ref_now(ref);

	if (!host || !gmem_ref_fits(ref, off, GMEM_LINE, false))
		return dma_ref_read(ref, off, dst, GMEM_LINE);
	memcpy(dst, host + off, GMEM_LINE);
	return still_there(ref);
}

void dma_ref_prefetch(const struct gmem_ref *ref, u32 off, u32 len)
{
	const u8 *host = ref->host;

	if (!host)
		return;
	/* to fetch what is not there, or no more, does no harm */
	for (u32 i = 0; i < len; i += GMEM_LINE)
		__builtin_prefetch(host + off + i);
}

static int publish(struct gmem_ref *ref, u32 off, const void *src, u32 len, u64 last)
{
	u8 *host;

	if ((ref->iova + off + len) % sizeof(last))
		return -EINVAL;
	if (!gmem_ref_fits(ref, off, len + sizeof(last), true))
		return -EFAULT;
	bracket_open();
	host = gmem_ref_host(ref);
	if (host) {
		/* the guest polls the last word, so the order of the others does not matter */
		memcpy(host + off, src, len);
		__atomic_store_n((u64 *)(host + off + len), last, __ATOMIC_RELEASE);
	}
	if (host && gmem_any_lost())
		host = host_again(ref);
	bracket_close();
	return host ? 0 : -EFAULT;
}

int dma_ref_publish(struct gmem_ref *ref, u32 off, const void *src, u32 len, u64 last)
{
	u8 *host = gmem_ref_now(ref);

	/* nearly all entries fill a cache line, which is copied without a loop */
	if (!host || len != GMEM_LINE - sizeof(last) || (ref->iova + off) % sizeof(last) ||
	    !gmem_ref_fits(ref, off, GMEM_LINE, true))
		return publish(ref, off, src, len, last);
	memcpy(host + off, src, GMEM_LINE - sizeof(last));
	__atomic_store_n((u64 *)(host + off + GMEM_LINE - sizeof(last)), last, __ATOMIC_RELEASE);
	return still_there(ref);
}

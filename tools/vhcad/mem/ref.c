// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Remembered translations.
 */
#include <errno.h>
#include <string.h>

#include "mem/room.h"

/*
 * Inside a bracket: where the piece lies now, or NULL.  The generation is
 * read inside the bracket too: whoever moves it afterwards waits for us.
 */
static u8 *ref_host(struct gmem_ref *ref)
{
	u64 gen, room;
	u8 *host;

	if (!ref->mem)
		return NULL;
	gen = __atomic_load_n(&ref->mem->gen, __ATOMIC_ACQUIRE);
	if (ref->host && ref->gen == gen)
		return ref->host;
	host = gmem_host(gmem_live(ref->mem), ref->iova,
			 ref->write ? GMEM_READ | GMEM_WRITE : GMEM_READ, &room);
	if (host && room < ref->len)
		host = NULL;
	ref->host = host;
	ref->gen = gen;
	return host;
}

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
	gmem_enter();
	host = ref_host(ref);
	gmem_exit();
	return host ? 0 : -EFAULT;
}

/* Whether an access of n bytes at off lies in the piece and is allowed. */
static bool ref_fits(const struct gmem_ref *ref, u32 off, u32 n, bool write)
{
	return off <= ref->len && n <= ref->len - off && (!write || ref->write);
}

int dma_ref_read(struct gmem_ref *ref, u32 off, void *dst, u32 len)
{
	u8 *host;

	if (!ref_fits(ref, off, len, false))
		return -EFAULT;
	gmem_enter();
	host = ref_host(ref);
	if (host)
		memcpy(dst, host + off, len);
	gmem_exit();
	return host ? 0 : -EFAULT;
}

int dma_ref_write(struct gmem_ref *ref, u32 off, const void *src, u32 len)
{
	u8 *host;

	if (!ref_fits(ref, off, len, true))
		return -EFAULT;
	gmem_enter();
	host = ref_host(ref);
	if (host)
		gmem_copy_ascending(host + off, src, len);
	gmem_exit();
	return host ? 0 : -EFAULT;
}

/* One operation on one word of the piece. */
#define REF_OP(ref, off, type, is_write, op) ({				\
	int err_ = -EFAULT;						\
	type *word;							\
	u8 *host_;							\
									\
	if (((ref)->iova + (off)) % sizeof(type)) {			\
		err_ = -EINVAL;						\
	} else if (ref_fits(ref, off, sizeof(type), is_write)) {	\
		gmem_enter();						\
		host_ = ref_host(ref);					\
		if (host_) {						\
			word = (type *)(host_ + (off));			\
			op;						\
			err_ = 0;					\
		}							\
		gmem_exit();						\
	}								\
	err_;								\
})

int dma_ref_load32_acquire(struct gmem_ref *ref, u32 off, u32 *val)
{
	return REF_OP(ref, off, u32, false, *val = __atomic_load_n(word, __ATOMIC_ACQUIRE));
}

int dma_ref_load64_acquire(struct gmem_ref *ref, u32 off, u64 *val)
{
	return REF_OP(ref, off, u64, false, *val = __atomic_load_n(word, __ATOMIC_ACQUIRE));
}

int dma_ref_store8_release(struct gmem_ref *ref, u32 off, u8 val)
{
	return REF_OP(ref, off, u8, true, __atomic_store_n(word, val, __ATOMIC_RELEASE));
}

int dma_ref_store32_release(struct gmem_ref *ref, u32 off, u32 val)
{
	return REF_OP(ref, off, u32, true, __atomic_store_n(word, val, __ATOMIC_RELEASE));
}

int dma_ref_store64_release(struct gmem_ref *ref, u32 off, u64 val)
{
	return REF_OP(ref, off, u64, true, __atomic_store_n(word, val, __ATOMIC_RELEASE));
}

int dma_ref_xchg32(struct gmem_ref *ref, u32 off, u32 val, u32 *old)
{
	return REF_OP(ref, off, u32, true,
		      *old = __atomic_exchange_n(word, val, __ATOMIC_SEQ_CST));
}

int dma_ref_xchg64(struct gmem_ref *ref, u32 off, u64 val, u64 *old)
{
	return REF_OP(ref, off, u64, true,
		      *old = __atomic_exchange_n(word, val, __ATOMIC_SEQ_CST));
}

int dma_ref_or64(struct gmem_ref *ref, u32 off, u64 bits, u64 *old)
{
	return REF_OP(ref, off, u64, true,
		      *old = __atomic_fetch_or(word, bits, __ATOMIC_SEQ_CST));
}

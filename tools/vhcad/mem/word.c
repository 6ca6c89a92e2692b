// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Single words of guest memory, by DMA address and through references.
 *
 * The operations are the host's own atomics on the shared page, so they are
 * atomic against the guest's CPUs.
 */
#include <errno.h>
#include <string.h>

#include "mem/room.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "words of guest memory are used in place");

#define GMEM_RW	(GMEM_READ | GMEM_WRITE)

/*
 * One operation on one word by its address: a word never leaves its page, so
 * it never leaves its range.
 */
#define WORD_OP(m, iova, type, right, op) ({				\
	int err_ = -EFAULT;						\
	u64 room_;							\
	type *word;							\
									\
	if ((iova) % sizeof(type)) {					\
		err_ = -EINVAL;						\
	} else {							\
		gmem_enter();						\
		word = (type *)gmem_host(gmem_live(m), iova, right, &room_); \
		if (word) {						\
			op;						\
			err_ = 0;					\
		}							\
		gmem_exit();						\
	}								\
	err_;								\
})

int dma_load32_acquire(struct guest_mem *m, u64 iova, u32 *val)
{
	return WORD_OP(m, iova, u32, GMEM_READ, *val = __atomic_load_n(word, __ATOMIC_ACQUIRE));
}

int dma_load64_acquire(struct guest_mem *m, u64 iova, u64 *val)
{
	return WORD_OP(m, iova, u64, GMEM_READ, *val = __atomic_load_n(word, __ATOMIC_ACQUIRE));
}

int dma_store8_release(struct guest_mem *m, u64 iova, u8 val)
{
	return WORD_OP(m, iova, u8, GMEM_WRITE, __atomic_store_n(word, val, __ATOMIC_RELEASE));
}

int dma_store32_release(struct guest_mem *m, u64 iova, u32 val)
{
	return WORD_OP(m, iova, u32, GMEM_WRITE, __atomic_store_n(word, val, __ATOMIC_RELEASE));
}

int dma_store64_release(struct guest_mem *m, u64 iova, u64 val)
{
	return WORD_OP(m, iova, u64, GMEM_WRITE, __atomic_store_n(word, val, __ATOMIC_RELEASE));
}

int dma_xchg32(struct guest_mem *m, u64 iova, u32 val, u32 *old)
{
	return WORD_OP(m, iova, u32, GMEM_RW,
		       *old = __atomic_exchange_n(word, val, __ATOMIC_SEQ_CST));
}

int dma_xchg64(struct guest_mem *m, u64 iova, u64 val, u64 *old)
{
	return WORD_OP(m, iova, u64, GMEM_RW,
		       *old = __atomic_exchange_n(word, val, __ATOMIC_SEQ_CST));
}

int dma_or64(struct guest_mem *m, u64 iova, u64 bits, u64 *old)
{
	return WORD_OP(m, iova, u64, GMEM_RW,
		       *old = __atomic_fetch_or(word, bits, __ATOMIC_SEQ_CST));
}

int dma_add64(struct guest_mem *m, u64 iova, u64 val, u64 *old)
{
	return WORD_OP(m, iova, u64, GMEM_RW,
		       *old = __atomic_fetch_add(word, val, __ATOMIC_SEQ_CST));
}

int dma_cas64(struct guest_mem *m, u64 iova, u64 cmp, u64 val, u64 *old)
{
	return WORD_OP(m, iova, u64, GMEM_RW, ({
		/* leaves what it found in cmp if that differs */
		__atomic_compare_exchange_n(word, &cmp, val, false, __ATOMIC_SEQ_CST,
					    __ATOMIC_SEQ_CST);
		*old = cmp;
	}));
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Single words of guest memory, by DMA address and through references.
 *
 * The operations are the host's own atomics on the shared page, so they are
 * atomic against the guest's CPUs.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "mem/internal.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	      "words of guest memory are used in place");

#define READ	GMEM_READ
#define WRITE	GMEM_WRITE
#define MODIFY	(GMEM_READ | GMEM_WRITE)

/* An aligned word lies in one page, so in one range. */
static inline void *word_at(struct guest_mem *m, u64 iova, u32 right)
{
	u64 room;

	return gmem_host(gmem_live(m), iova, right, &room);
}

static inline void *word_of(struct gmem_ref *ref, u32 off, u32 size, u32 right)
{
	u8 *host;

	if (!gmem_ref_fits(ref, off, size, right & GMEM_WRITE))
		return NULL;
	host = gmem_ref_host(ref);
	return host ? host + off : NULL;
}

/* The fast path: this thread is in a bracket, and the translation is cached. */
static inline void *word_now(const struct gmem_ref *ref, u32 off, u32 size, u32 right)
{
	u8 *host = gmem_ref_now(ref);

	return host && gmem_ref_fits(ref, off, size, right & GMEM_WRITE) &&
	       (ref->iova + off) % size == 0 ? host + off : NULL;
}

/* The same once more, for a word whose memory may have got lost meanwhile. */
static __attribute__((cold, noinline)) void *word_at_again(struct guest_mem *m, u64 iova, u32 right)
{
	return word_at(m, iova, right);
}

static __attribute__((cold, noinline)) void *word_of_again(struct gmem_ref *ref, u32 off, u32 size,
							   u32 right)
{
	return word_of(ref, off, size, right);
}

/* If the bits of cmp_mask are as in cmp, replaces those of swap_mask.  Returns the old word. */
static u64 mask_cas(u64 *word, u64 cmp, u64 cmp_mask, u64 swap, u64 swap_mask)
{
	u64 old = __atomic_load_n(word, __ATOMIC_SEQ_CST);

	while (!((old ^ cmp) & cmp_mask))
		if (__atomic_compare_exchange_n(word, &old, (old & ~swap_mask) | (swap & swap_mask),
						false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			return old;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return old;
}

/*
 * Adds bit fields, the highest bit of each of which is set in ends.  The addition leaves these bits
 * out, so that each receives the carry of the bits below it and passes none on.
 */
static u64 mask_add(u64 *word, u64 val, u64 ends)
{
	u64 old = __atomic_load_n(word, __ATOMIC_RELAXED), sum;

	do
		sum = ((old & ~ends) + (val & ~ends)) ^ ((old ^ val) & ends);
	while (!__atomic_compare_exchange_n(word, &old, sum, false, __ATOMIC_SEQ_CST,
					    __ATOMIC_RELAXED));
	return old;
}

/* Carries out an operation on the word that @find returns; @again is where it is afterwards. */
#define WORD_OP(addr, type, find, again, op) ({	\
	int err_ = -EINVAL;			\
	type *word;				\
						\
	if ((addr) % sizeof(type) == 0) {	\
		bracket_open();			\
		word = (find);			\
		if (word) {			\
			op;			\
			if (gmem_any_lost())	\
				word = (again);	\
		}				\
		bracket_close();			\
		err_ = word ? 0 : -EFAULT;	\
	}					\
	err_;					\
})

/* Defines dma_@name(), which carries out @op; the arguments of @op come last. */
#define BY_ADDRESS(name, type, right, op, ...)				\
int dma_##name(struct guest_mem *m, u64 iova, __VA_ARGS__)		\
{									\
	return WORD_OP(iova, type, word_at(m, iova, right),		\
		       word_at_again(m, iova, right), op);		\
}

#define BY_REFERENCE(name, type, right, op, ...)			\
int dma_ref_##name(struct gmem_ref *ref, u32 off, __VA_ARGS__)		\
{									\
	type *now = word_now(ref, off, sizeof(type), right);		\
									\
	if (now) {							\
		type *word = now;					\
									\
		op;							\
		return gmem_any_lost() &&				\
		       !word_of_again(ref, off, sizeof(type), right) ? -EFAULT : 0; \
	}								\
	return WORD_OP(ref->iova + off, type,				\
		       word_of(ref, off, sizeof(type), right),		\
		       word_of_again(ref, off, sizeof(type), right), op); \
}

#define BOTH(...)	BY_ADDRESS(__VA_ARGS__) BY_REFERENCE(__VA_ARGS__)

BOTH(load32_acquire, u32, READ, *val = __atomic_load_n(word, __ATOMIC_ACQUIRE), u32 *val)
BOTH(load64_acquire, u64, READ, *val = __atomic_load_n(word, __ATOMIC_ACQUIRE), u64 *val)
BOTH(store8_release, u8, WRITE, __atomic_store_n(word, val, __ATOMIC_RELEASE), u8 val)
BOTH(store32_release, u32, WRITE, __atomic_store_n(word, val, __ATOMIC_RELEASE), u32 val)
BOTH(store64_release, u64, WRITE, __atomic_store_n(word, val, __ATOMIC_RELEASE), u64 val)
BOTH(xchg32, u32, MODIFY, *old = __atomic_exchange_n(word, val, __ATOMIC_SEQ_CST),
	u32 val, u32 *old)
BOTH(xchg64, u64, MODIFY, *old = __atomic_exchange_n(word, val, __ATOMIC_SEQ_CST),
	u64 val, u64 *old)
BOTH(or64, u64, MODIFY, *old = __atomic_fetch_or(word, bits, __ATOMIC_SEQ_CST),
	u64 bits, u64 *old)
BY_ADDRESS(add64, u64, MODIFY, *old = __atomic_fetch_add(word, val, __ATOMIC_SEQ_CST),
	   u64 val, u64 *old)
/* if the word differs from cmp, the builtin stores it there */
BY_ADDRESS(cas64, u64, MODIFY,
	   *old = (__atomic_compare_exchange_n(word, &cmp, val, false, __ATOMIC_SEQ_CST,
					       __ATOMIC_SEQ_CST), cmp),
	   u64 cmp, u64 val, u64 *old)
BY_ADDRESS(mask_add64, u64, MODIFY, *old = mask_add(word, val, ends), u64 val, u64 ends, u64 *old)
BY_ADDRESS(mask_cas64, u64, MODIFY, *old = mask_cas(word, cmp, cmp_mask, swap, swap_mask),
	   u64 cmp, u64 cmp_mask, u64 swap, u64 swap_mask, u64 *old)

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Copies of messages that are larger than the cache.
 *
 * An ordinary store fetches the line that it is about to overwrite, and evicts from the cache lines
 * that may still be needed; a non-temporal one does neither.  But non-temporal stores become
 * visible in any order, also among the ordinary stores around them.  Fences keep the order that
 * dma_copy() promises.  Let H be the stores before a copy, N its non-temporal ones, L the ordinary
 * ones of its last line, and C a later store, such as that of a completion:
 *
 *	H; sfence; N; sfence; L; C
 *
 * Stores before an sfence are visible before any store behind it is.  L and C are ordinary stores,
 * which other processors see in program order.  So a program that reads C, or the last byte, and
 * then anything else of the message, reads what was sent; and one that reads a byte of N, or of L,
 * finds all that was sent before this copy, as H is the part of the message before it.
 *
 * A fence waits for memory: with one for each page a copy would be no faster than through the
 * cache, and with one for each line twenty times slower.  dma_copy() is called for up to a slice of
 * packets, 64 KiB.
 */
#include <inttypes.h>
#include <stdio.h>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "mem/internal.h"

/* The assumed size of the last-level cache, if Linux does not tell it. */
#define USUAL_CACHE	(32u << 20)

static u64 cold_size = USUAL_CACHE / 2;

/*
 * sysconf(_SC_LEVEL3_CACHE_SIZE) is what the processor reports, which in a virtual machine may be
 * the cache of a host with many more processors.
 */
void gmem_stream_init(void)
{
	char path[64];
	u64 last = 0, kib;

	for (u32 i = 0; i < 8; i++) {
		FILE *f;

		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%u/size", i);
		f = fopen(path, "re");
		if (!f)
			break;
		if (fscanf(f, "%" SCNu64 "K", &kib) == 1)
			last = MAX(last, kib << 10);
		fclose(f);
	}
	/* a message is read and written, so half of it fills the cache */
	if (last)
		__atomic_store_n(&cold_size, last / 2, __ATOMIC_RELAXED);
}

u64 gmem_cold_size(void)
{
	return __atomic_load_n(&cold_size, __ATOMIC_RELAXED);
}

#if defined(__x86_64__)

/* The distance of prefetches, see copy.c. */
#define AHEAD	2048u
#define LINE	64u

static inline void line_stream(u8 *d, const u8 *s)
{
	__m128i a = _mm_loadu_si128((const __m128i *)s);
	__m128i b = _mm_loadu_si128((const __m128i *)(s + 16));
	__m128i c = _mm_loadu_si128((const __m128i *)(s + 32));
	__m128i e = _mm_loadu_si128((const __m128i *)(s + 48));

	_mm_stream_si128((__m128i *)d, a);
	_mm_stream_si128((__m128i *)(d + 16), b);
	_mm_stream_si128((__m128i *)(d + 32), c);
	_mm_stream_si128((__m128i *)(d + 48), e);
}

void gmem_stream_fence(void)
{
	_mm_sfence();
}

/* A line that is copied in part: ordinary stores amid non-temporal ones. */
static void part_copy(u8 *d, const u8 *s, size_t len)
{
	gmem_stream_fence();
	gmem_copy_ascending(d, s, len);
	gmem_stream_fence();
}

void gmem_stream(u8 *d, const u8 *s, size_t len, const u8 *next_s)
{
	size_t head = MIN(-(uintptr_t)d % LINE, len);

	if (head) {
		part_copy(d, s, head);
		len -= head, d += head, s += head;
	}
	for (; len >= LINE; len -= LINE, d += LINE, s += LINE) {
		/* behind the last piece the next copy is expected to go on */
		if (len > AHEAD || !next_s)
			__builtin_prefetch(s + AHEAD);
		else
			__builtin_prefetch(next_s + (AHEAD - len));
		line_stream(d, s);
	}
	if (len)
		part_copy(d, s, len);
}

void gmem_stream_last(u8 *d, const u8 *s, size_t len)
{
	size_t tail = MIN((uintptr_t)(d + len - 1) % LINE + 1, len);

	gmem_stream(d, s, len - tail, NULL);
	gmem_stream_fence();
	gmem_copy_ascending(d + len - tail, s + len - tail, tail);
}

#else

void gmem_stream_fence(void)
{
}

void gmem_stream(u8 *d, const u8 *s, size_t len, const u8 *next_s)
{
	gmem_copy_ascending(d, s, len);
}

void gmem_stream_last(u8 *d, const u8 *s, size_t len)
{
	gmem_copy_ascending(d, s, len);
}

#endif

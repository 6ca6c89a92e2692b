// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A copy whose bytes become visible in ascending order.
 *
 * Programs poll the last byte of a message, and some poll every part of it.  memcpy() guarantees no
 * order, and keeps none: it may store the ends first, or bypass the cache.
 */
#include <string.h>

#include "mem/internal.h"

#if defined(__x86_64__)
/* Other CPUs see stores in program order, so only the compiler must not reorder them. */
#define store_order()	__asm__ __volatile__("" ::: "memory")
#else
#define store_order()	__atomic_thread_fence(__ATOMIC_RELEASE)
#endif

typedef u64 vec __attribute__((vector_size(16), may_alias));
typedef vec vec_any __attribute__((aligned(1)));
typedef u16 u16_any __attribute__((aligned(1), may_alias));
typedef u32 u32_any __attribute__((aligned(1), may_alias));
typedef u64 u64_any __attribute__((aligned(1), may_alias));

/*
 * The distance of prefetches, in bytes.  Processors do not prefetch beyond the end of a page, and
 * the pages of a message lie anywhere, so that each page would begin with cache misses.  Near the
 * end of a piece the next piece is prefetched.  Some of the hosts that were measured did best with
 * 1 to 1.5 KiB, others with 3.
 */
#define AHEAD	2048

/* Copies a cache line.  All loads come first, so that they overlap. */
static inline void line_copy(u8 *d, const u8 *s)
{
	vec a = *(const vec_any *)s;
	vec b = *(const vec_any *)(s + 16);
	vec c = *(const vec_any *)(s + 32);
	vec e = *(const vec_any *)(s + 48);

	*(volatile vec *)d = a;
	*(volatile vec *)(d + 16) = b;
	*(volatile vec *)(d + 32) = c;
	*(volatile vec *)(d + 48) = e;
}

/* Copies 1, 2, 4 or 8 bytes with one store, to a naturally aligned destination. */
static inline void piece_copy(u8 *d, const u8 *s, size_t n)
{
	switch (n) {
	case 1:
		*(volatile u8 *)d = *s;
		break;
	case 2:
		*(volatile u16_any *)d = *(const u16_any *)s;
		break;
	case 4:
		*(volatile u32_any *)d = *(const u32_any *)s;
		break;
	default:
		*(volatile u64_any *)d = *(const u64_any *)s;
		break;
	}
}

static inline void ask_for(u8 *d, const u8 *s)
{
	__builtin_prefetch(s);
	__builtin_prefetch(d, 1);
}

/*
 * Copies bytes and words until the destination is aligned to 16 bytes.  Returns the number of bytes
 * copied.
 */
static size_t head_copy(u8 *d, const u8 *s, size_t len)
{
	size_t done = 0;

	while (done < len && (uintptr_t)(d + done) & 15) {
		size_t n = (uintptr_t)(d + done) & -(uintptr_t)(d + done);

		while (n > len - done)
			n /= 2;
		piece_copy(d + done, s + done, n);
		done += n;
	}
	return done;
}

/* Copies the last 1 to 16 bytes, which programs poll, with stores that no processor splits. */
static inline void end_copy(u8 *d, const u8 *s, size_t len)
{
	if (len >= 8) {
		store_order();
		piece_copy(d, s, 8);
		len -= 8, d += 8, s += 8;
	}
#pragma GCC unroll 4
	for (size_t n = 8; n; n /= 2) {
		if (!(len & n))
			continue;
		store_order();
		piece_copy(d, s, n);
		d += n;
		s += n;
	}
}

static inline void vec_copy(u8 *d, const u8 *s)
{
	*(volatile vec *)d = *(const vec_any *)s;
}

/* Copies 1 to 64 bytes to an aligned destination. */
static inline void rest_copy(u8 *d, const u8 *s, size_t len)
{
	size_t at = (len - 1) & ~15ul;

	if (at)
		vec_copy(d, s);
	if (at > 16)
		vec_copy(d + 16, s + 16);
	if (at > 32)
		vec_copy(d + 32, s + 32);
	end_copy(d + at, s + at, len - at);
}

/* Copies all cache lines but the last, and prefetches @next_d.  Returns the number of bytes. */
static size_t lines_copy(u8 *d, const u8 *s, size_t len, u8 *next_d, const u8 *next_s)
{
	size_t at;

	for (at = 0; len - at > 64; at += 64) {
		size_t left = len - at;

		if (left > AHEAD)
			ask_for(d + at + AHEAD, s + at + AHEAD);
		else if (next_d)
			ask_for(next_d + (AHEAD - left), next_s + (AHEAD - left));
		line_copy(d + at, s + at);
		store_order();
	}
	if (next_d)
		ask_for(next_d + (AHEAD - 64), next_s + (AHEAD - 64));
	return at;
}

/**
 * gmem_copy_ahead() - copy so that bytes become visible in ascending order
 * @d: guest memory
 * @s: guest or private memory
 * @len: bytes
 * @next_d: destination of the next copy, to be prefetched, or NULL
 * @next_s: its source
 *
 * The last byte becomes visible last, and any later store after it.
 */
void gmem_copy_ahead(u8 *d, const u8 *s, size_t len, u8 *next_d, const u8 *next_s)
{
	size_t n;

	if ((uintptr_t)d & 15) {
		n = head_copy(d, s, len);
		len -= n, d += n, s += n;
	}
	if (len > 64) {
		n = lines_copy(d, s, len, next_d, next_s);
		len -= n, d += n, s += n;
	}
	if (len)
		rest_copy(d, s, len);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

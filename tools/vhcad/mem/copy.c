// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The copy that others watch.
 *
 * Programs poll the last byte of a message, some each part of it, so bytes
 * must appear in ascending order.  memcpy() promises no order and does not
 * keep one: it stores the ends first, or goes around the cache.
 */
#include <string.h>

#include "mem/room.h"

#if defined(__x86_64__)
/* Stores of one CPU are seen in program order: only the compiler is in the way. */
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
 * The hardware's prefetch stops at the page; pages here are in no order.  Four
 * lines ahead are the best of 0 to 2048 bytes on the hosts measured.
 */
#define PREFETCH	256

/* A line at a time: all loads first, so that they overlap. */
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

/* 1, 2, 4 or 8 bytes in one store; the destination is aligned to that. */
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

/**
 * gmem_copy_ascending - copy so that bytes become visible in ascending order
 * @dst: guest memory
 * @src: guest or private memory
 * @len: bytes
 *
 * The last byte is visible last; a release store that follows is seen after
 * all of it.
 */
void gmem_copy_ascending(void *dst, const void *src, size_t len)
{
	const u8 *s = src;
	size_t at = 0;
	u8 *d = dst;

	while (len && (uintptr_t)d & 15) {
		size_t n = (uintptr_t)d & -(uintptr_t)d;

		while (n > len)
			n /= 2;
		piece_copy(d, s, n);
		len -= n, d += n, s += n;
	}
	for (; len > 64; len -= 64, d += 64, s += 64) {
		if (len > PREFETCH) {
			__builtin_prefetch(s + PREFETCH);
			__builtin_prefetch(d + PREFETCH, 1);
		}
		line_copy(d, s);
		store_order();
	}
	for (; at + 16 < len; at += 16)
		*(volatile vec *)(d + at) = *(const vec_any *)(s + at);
	len -= at, d += at, s += at;
	/* the end, which is waited for, in stores that no processor takes apart */
	for (; len >= 8; len -= 8, d += 8, s += 8) {
		store_order();
		*(volatile u64 *)d = *(const u64_any *)s;
	}
	for (size_t n = 4; len; n /= 2) {
		if (len < n)
			continue;
		store_order();
		piece_copy(d, s, n);
		len -= n, d += n, s += n;
	}
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

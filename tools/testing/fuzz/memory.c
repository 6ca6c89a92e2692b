// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory that processes share, and places of requests: in good memory, in pages that cannot be
 * written, before an unmapped page, at an unmapped address, in the kernel's part, where a thread
 * rewrites them, or where they come late.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

#define ROOM	(16 * PAGE)
#define SMALL	(2 * PAGE)
#define ALIGNED(_len)	(((_len) + 15) & ~7UL)

struct shared *shared;

static struct arena {
	uint8_t *plain;			/* the page behind is not mapped */
	uint8_t *source, *readonly;	/* the same pages */
	uint8_t *raced;
	unsigned int plain_used, readonly_used, raced_used;
	unsigned int raced_len;		/* bytes that the rewriting thread uses */
} arenas[THREADS];

static void *map(size_t len, int prot, int fd)
{
	void *at = mmap(NULL, len, prot, fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);

	if (at == MAP_FAILED)
		abort();
	return at;
}

/* Once, before programs run.  A process of theirs gets its own copy of all but @shared. */
void memory_setup(void)
{
	void *rings = mmap((void *)RINGS, RING_PAGES * PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (rings != (void *)RINGS)
		abort();
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED)
		abort();
	for (unsigned int i = 0; i < THREADS; i++) {
		struct arena *arena = &arenas[i];
		int fd = memfd_create("fuzz", MFD_CLOEXEC);

		if (fd < 0 || ftruncate(fd, SMALL))
			abort();
		arena->plain = map(ROOM + PAGE, PROT_READ | PROT_WRITE, -1);
		munmap(arena->plain + ROOM, PAGE);
		arena->source = map(SMALL, PROT_READ | PROT_WRITE, fd);
		arena->readonly = map(SMALL, PROT_READ, fd);
		arena->raced = map(SMALL, PROT_READ | PROT_WRITE, -1);
		close(fd);
	}
}

/* A call begins: memory of the last one is reused. */
void memory_begin(unsigned int thread)
{
	struct arena *arena = &arenas[thread];

	arena->plain_used = 0;
	arena->readonly_used = 0;
	arena->raced_used = 0;
	__atomic_store_n(&arena->raced_len, 0, __ATOMIC_RELAXED);
	late_begin(thread);
}

/* The address of a copy of data. */
uint64_t memory_put(unsigned int thread, enum how where, uint64_t value, const void *data,
		    unsigned int len)
{
	struct arena *arena = &arenas[thread];
	unsigned int need = ALIGNED(len), at;
	uint64_t place;

	switch (where) {
	case LATE:
		place = late_put(thread, value, data, len);
		if (place)
			return place;
		break;
	case UNMAPPED:
		return PAGE + value % PAGE;
	case KERNEL:
		return 0xffff888000001000ULL + value % PAGE;
	case EDGE:
		/* some of it is mapped, all at most */
		at = len ? value % (len + 1) : 0;
		if (at > ROOM)
			at = ROOM;
		memcpy(arena->plain + ROOM - at, data, at);
		return (uintptr_t)arena->plain + ROOM - at;
	case READONLY:
		if (arena->readonly_used + need > SMALL)
			break;
		at = arena->readonly_used;
		arena->readonly_used += need;
		memcpy(arena->source + at, data, len);
		return (uintptr_t)arena->readonly + at;
	case RACED:
		if (arena->raced_used + need > SMALL)
			break;
		at = arena->raced_used;
		arena->raced_used += need;
		memcpy(arena->raced + at, data, len);
		__atomic_store_n(&arena->raced_len, arena->raced_used, __ATOMIC_RELEASE);
		return (uintptr_t)arena->raced + at;
	default:
		break;
	}
	if (arena->plain_used + need > ROOM)
		return PAGE;
	at = arena->plain_used;
	arena->plain_used += need;
	memcpy(arena->plain + at, data, len);
	return (uintptr_t)arena->plain + at;
}

/* Rewrites the request placed for that and restores it, this number of times. */
void memory_race(unsigned int rounds)
{
	static uint64_t state = 88172645463325252ULL;

	while (rounds--) {
		for (unsigned int i = 0; i < THREADS; i++) {
			unsigned int len = __atomic_load_n(&arenas[i].raced_len, __ATOMIC_ACQUIRE);
			uint32_t *word, flip;

			if (len < 4)
				continue;
			state ^= state << 13;
			state ^= state >> 7;
			state ^= state << 17;
			word = (uint32_t *)arenas[i].raced + state % (len / 4);
			flip = state & 1 ? state >> 32 : 1U << (state >> 32) % 32;
			__atomic_fetch_xor(word, flip, __ATOMIC_RELAXED);
			__atomic_fetch_xor(word, flip, __ATOMIC_RELAXED);
		}
	}
}

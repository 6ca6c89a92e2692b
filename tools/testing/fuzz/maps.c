// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Mapping, accessing and unmapping the device's pages.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

#define KEPT	16	/* mappings that later calls can use */
#define OFFSETS	8	/* pages of the file that may be mapped */

static struct area {
	uint8_t *at;
	size_t len, step;	/* each step has one page */
} areas[KEPT];
static unsigned int num_areas;

/* Threads may overwrite, or unmap, what another has just mapped: that is one more input. */
static void keep(void *at, size_t len, size_t step)
{
	unsigned int where = __atomic_fetch_add(&num_areas, 1, __ATOMIC_RELAXED);

	areas[where % KEPT] = (struct area){ at, len, step };
}

static struct area *area_of(uint64_t value)
{
	unsigned int num = __atomic_load_n(&num_areas, __ATOMIC_RELAXED);

	if (!num)
		return NULL;
	return &areas[(num - 1 - value % (num < KEPT ? num : KEPT)) % KEPT];
}

static const int prots[] = { PROT_READ | PROT_WRITE, PROT_WRITE, PROT_READ, PROT_EXEC };

/* Bits 0, 1: access; 3: private; 4: two pages; from 5 on: where in the file. */
int map_pages(int fd, uint64_t value)
{
	size_t len = PAGE << (value >> 4 & 1);
	void *at = mmap(NULL, len, prots[value & 3], value & 8 ? MAP_PRIVATE : MAP_SHARED, fd,
			(value >> 5) % OFFSETS * PAGE);

	if (at == MAP_FAILED)
		return errno;
	keep(at, len, PAGE);
	return 0;
}

/*
 * Maps one page of the file repeatedly, to every second page of memory, so that each is a mapping
 * of its own; one munmap() can remove them all.  Bits 0, 1: access; 2 to 4: how many; from 5 on:
 * which page.
 */
int map_many(int fd, uint64_t value)
{
	size_t num = 4UL << (value >> 2 & 7), len = num * 2 * PAGE;
	uint8_t *all = mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (all == MAP_FAILED)
		return errno;
	for (size_t i = 0; i < num; i++) {
		if (mmap(all + i * 2 * PAGE, PAGE, prots[value & 3], MAP_SHARED | MAP_FIXED, fd,
			 (value >> 5) % OFFSETS * PAGE) == MAP_FAILED) {
			int err = errno;

			munmap(all, len);
			return err;
		}
	}
	keep(all, len, 2 * PAGE);
	return 0;
}

/* Unmaps all of a mapping or, with bit 4, its first half. */
int unmap(uint64_t value)
{
	struct area *area = area_of(value & 15);

	if (!area)
		return ENOENT;
	return munmap(area->at, value & 16 ? (area->len / 2 + PAGE - 1) & ~(PAGE - 1) : area->len) ?
	       errno : 0;
}

/* Reads or, with bit 4, writes to a mapping, to which the kernel may answer with a signal. */
int touch(uint64_t value)
{
	struct area *area = area_of(value & 15);

	if (!area)
		return ENOENT;
	for (size_t at = 0; at < area->len; at += area->step) {
		volatile uint8_t *byte = area->at + at;
		uint8_t there = value & 16 ? 0 : *byte;

		if (value & 16)
			*byte = there;
	}
	return 0;
}

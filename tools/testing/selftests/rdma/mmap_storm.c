// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mmap_storm DEVICE STEPS: two threads make and destroy PDs with pages (rdma_ufake), STEPS times
 * each, and their allocations fail as failslab is set; two others map the pages meanwhile by
 * offsets that they guess, and keep mappings when PDs are destroyed.  A mapping shows the pages of
 * one whole PD, which existed, and goes on to show them.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "device.h"
#include "fake.h"

#define MAKERS	2
#define MAPPERS	2
#define HELD	1		/* mappings of a mapper */
#define PAGES	16U		/* of a PD */
#define PAGE	4096UL

/*
 * Pages are at offsets around the places where branches of the offset tree meet: most need several
 * nodes.  They may begin before such a place, or at it, or behind used offsets.
 */
#define BRANCHES	2U
#define BRANCH		4096U
#define APART		(PAGES / 2)
#define WANTED		2U
#define POSSIBLE	4U
#define ROOM		(3 * PAGES)	/* range of the first offset */

struct mapping {
	const volatile char *at;
	uint32_t pgoff;
	uint64_t id;
};

static int fd;
static unsigned int steps;
static atomic_bool over;
static atomic_uint gone[MAKERS];	/* PDs up to this number are gone, or were never made */
static atomic_ulong made, refused, mapped, absent;
static atomic_ulong early;		/* mappings of pages that their PD did not have yet */

static unsigned int any(unsigned int *seed, unsigned int n)
{
	return rand_r(seed) % n;
}

static uint32_t any_beginning(unsigned int *seed, unsigned int beginnings)
{
	return BRANCH * (1 + any(seed, BRANCHES)) - APART + APART * any(seed, beginnings);
}

/* ---- threads that make PDs ---- */

static int alloc_pd(uint64_t id, uint32_t first, uint32_t *handle)
{
	struct {
		struct ib_uverbs_alloc_pd_resp core;
		struct ufake_alloc_pd_resp driver;
	} resp = {};
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		uint64_t response;
		struct ufake_alloc_pd driver;
	} req = {
		.hdr = RAW_HEAD(ALLOC_PD, req, sizeof(resp)),
		.response = (uintptr_t)&resp,
		.driver = { .id = id, .pages = PAGES, .first = first, .last = first + ROOM - 1 },
	};
	int err = raw_write(fd, &req, sizeof(req));

	if (!err && (resp.driver.pgoff < first || resp.driver.pgoff > first + ROOM - PAGES))
		wrong("ALLOC_PD: an offset that is not in the range", 0);
	*handle = resp.core.pd_handle;
	return err;
}

static void *make(void *arg)
{
	unsigned int maker = (uintptr_t)arg, seed = maker;

	if (!write_attribute("/proc/thread-self/make-it-fail", "1"))
		wrong("make-it-fail", errno);
	for (unsigned int number = 1; number <= steps; number++) {
		uint64_t id = (uint64_t)maker << 32 | number;
		uint32_t handle;

		if (allowed("ALLOC_PD", alloc_pd(id, any_beginning(&seed, WANTED), &handle),
			    ENOMEM, 0)) {
			allowed("DEALLOC_PD", dealloc_pd(fd, handle), 0, 0);
			made++;
		} else {
			refused++;
		}
		gone[maker] = number;
	}
	return NULL;
}

/* ---- threads that map pages ---- */

/* Checks that the pages are those of the PD with this number, which has its offsets. */
static void check(const struct mapping *mapping)
{
	for (uint32_t i = 0; i < PAGES; i++) {
		const volatile struct ufake_page *page = (void *)(mapping->at + i * PAGE);

		if (page->state == UFAKE_PAGE_MADE && page->id == mapping->id &&
		    page->pgoff == mapping->pgoff + i)
			continue;
		fprintf(stderr, "page %u of %#x, id %#llx: state %u, offset %#x, id %#llx\n", i,
			mapping->pgoff, (unsigned long long)mapping->id, page->state, page->pgoff,
			(unsigned long long)page->id);
		wrong("a mapping of other pages", 0);
	}
}

/* A page may be mapped a moment before the driver sets its state. */
static void await_made(const struct mapping *mapping)
{
	const volatile struct ufake_page *last = (void *)(mapping->at + (PAGES - 1) * PAGE);

	early += last->state == UFAKE_PAGE_BEGUN;
	while (last->state == UFAKE_PAGE_BEGUN)
		sched_yield();
}

/* Offsets that are mapped are not given to others. */
static void check_apart(const struct mapping *one, const struct mapping *other)
{
	if (one->pgoff == other->pgoff ? one->id != other->id :
	    one->pgoff < other->pgoff + PAGES && other->pgoff < one->pgoff + PAGES)
		wrong("two PDs have the same offsets", 0);
}

static bool map_any(unsigned int *seed, struct mapping *mapping)
{
	unsigned int gone_before[MAKERS], maker;
	void *at;

	for (int i = 0; i < MAKERS; i++)
		gone_before[i] = gone[i];
	mapping->pgoff = any_beginning(seed, POSSIBLE);
	at = mmap(NULL, PAGES * PAGE, PROT_READ, MAP_SHARED, fd, mapping->pgoff * PAGE);
	if (at == MAP_FAILED) {
		allowed("mmap", errno, EINVAL, EINVAL);
		absent++;
		return false;
	}
	mapped++;
	mapping->at = at;
	mapping->id = ((struct ufake_page *)at)->id;
	await_made(mapping);
	check(mapping);
	maker = mapping->id >> 32;
	if (maker >= MAKERS || (uint32_t)mapping->id <= gone_before[maker])
		wrong("a PD that had gone was mapped", 0);
	return true;
}

static void let_go(const struct mapping *mapping)
{
	check(mapping);
	munmap((void *)mapping->at, PAGES * PAGE);
}

static void *map(void *arg)
{
	unsigned int seed = MAKERS + (uintptr_t)arg, held = 0;
	struct mapping mappings[HELD + 1];

	while (!over) {
		if (!map_any(&seed, &mappings[held]))
			continue;
		for (unsigned int i = 0; i < held; i++)
			check_apart(&mappings[i], &mappings[held]);
		if (held < HELD) {
			held++;
			continue;
		}
		let_go(&mappings[0]);
		for (unsigned int i = 0; i < HELD; i++)
			mappings[i] = mappings[i + 1];
	}
	while (held--)
		let_go(&mappings[held]);
	return NULL;
}

/* ---- */

static void start(pthread_t *threads, unsigned int count, void *(*run)(void *arg))
{
	for (uintptr_t i = 0; i < count; i++) {
		int err = pthread_create(&threads[i], NULL, run, (void *)i);

		if (err)
			wrong("pthread_create", err);
	}
}

int main(int argc, char **argv)
{
	pthread_t makers[MAKERS], mappers[MAPPERS];

	if (argc != 3)
		return 2;
	steps = atoi(argv[2]);
	fd = open_fake(argv[1]);
	/*
	 * Nodes are also refused to the program's own file, whose pages must all be in memory by
	 * then.
	 */
	if (mlockall(MCL_CURRENT))
		wrong("mlockall", errno);
	start(mappers, MAPPERS, map);
	start(makers, MAKERS, make);
	for (int i = 0; i < MAKERS; i++)
		pthread_join(makers[i], NULL);
	over = true;
	for (int i = 0; i < MAPPERS; i++)
		pthread_join(mappers[i], NULL);
	printf("%lu PDs made, %lu refused; %lu mappings, %lu early, %lu times nothing there\n",
	       made, refused, mapped, early, absent);
	if (!made || !refused || !mapped || !absent)
		wrong("hardly anything has happened", 0);
	close(fd);
	return 0;
}

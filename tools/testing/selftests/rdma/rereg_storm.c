// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * rereg_storm DEVICE STEPS: threads have the MRs of a device replaced (REREG_MR of rdma_ufake),
 * STEPS times each, while others deregister MRs and make new ones, all under the same few handles.
 * Each key of an MR is returned once; the kernel reports errors.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "fake.h"

#define MRS	1		/* existing ones, besides those that are just being replaced */
#define PDS	2		/* made first, so that handles of MRs come after theirs */
#define ENDERS	1
#define REPLACERS	1
#define HANDLES	(MRS + REPLACERS)	/* a replacing request has one more meanwhile */
#define PAGE	4096UL

static int fd;
static uint32_t pds[PDS];
static unsigned int steps;
static atomic_bool over;
static atomic_ulong replaced, ended, busy, absent;

/* Keys that were returned, counted from the first one. */
static atomic_uchar *told;
static uint32_t first_key;
static unsigned long keys;

static unsigned int any(unsigned int *seed, unsigned int n)
{
	return rand_r(seed) % n;
}

static void take_key(const char *what, uint32_t lkey, uint32_t rkey)
{
	uint32_t key = lkey - first_key;

	if (lkey != rkey || key >= keys || atomic_exchange(&told[key], 1)) {
		fprintf(stderr, "keys %#x and %#x, the first was %#x: ", lkey, rkey, first_key);
		wrong(what, 0);
	}
}

static struct ib_uverbs_reg_mr_resp reg_mr(uint32_t pd)
{
	struct ib_uverbs_reg_mr_resp resp = {};
	RAW_PLAIN(ib_uverbs_reg_mr) req = {
		.hdr = RAW_HEAD(REG_MR, req, sizeof(resp)),
		.body = {
			.response = (uintptr_t)&resp, .start = PAGE, .length = PAGE, .hca_va = PAGE,
			.pd_handle = pd, .access_flags = 1,
		},
	};

	allowed("REG_MR", raw_write(fd, &req, sizeof(req)), 0, 0);
	if (resp.mr_handle < PDS || resp.mr_handle >= PDS + HANDLES)
		wrong("handles are not used again", 0);
	return resp;
}

static void make_mr(unsigned int *seed)
{
	struct ib_uverbs_reg_mr_resp resp = reg_mr(pds[any(seed, PDS)]);

	take_key("REG_MR", resp.lkey, resp.rkey);
}

/* Returns whether the request succeeded; it may meet another one, or no MR. */
static bool done(const char *what, int err)
{
	bool did = allowed(what, err, EBUSY, ENOENT);

	busy += err == EBUSY;
	absent += err == ENOENT;
	return did;
}

static bool end_mr(uint32_t handle)
{
	RAW_PLAIN(ib_uverbs_dereg_mr) req = {
		.hdr = RAW_HEAD(DEREG_MR, req, 0),
		.body.mr_handle = handle,
	};

	return done("DEREG_MR", raw_write(fd, &req, sizeof(req)));
}

static bool replace_mr(uint32_t handle, unsigned int *seed)
{
	struct ib_uverbs_rereg_mr_resp resp = {};
	uint64_t start = PAGE * (1 + any(seed, 100));
	RAW_PLAIN(ib_uverbs_rereg_mr) req = {
		.hdr = RAW_HEAD(REREG_MR, req, sizeof(resp)),
		.body = {
			.response = (uintptr_t)&resp, .mr_handle = handle,
			.flags = 1 + any(seed, 3),	/* memory, PD, or both */
			.start = start, .length = PAGE, .hca_va = start,
			.pd_handle = pds[any(seed, PDS)],
		},
	};

	if (!done("REREG_MR", raw_write(fd, &req, sizeof(req))))
		return false;
	take_key("REREG_MR", resp.lkey, resp.rkey);
	return true;
}

static void *replace(void *arg)
{
	unsigned int seed = (uintptr_t)arg;

	for (unsigned int done = 0; done < steps;)
		done += replace_mr(PDS + any(&seed, HANDLES), &seed);
	replaced += steps;
	return NULL;
}

/* Deregisters at most as many MRs as are replaced, as there is no room for more keys in @told. */
static void *end(void *arg)
{
	unsigned int seed = (uintptr_t)arg;
	unsigned long done = 0;

	while (!over && done < 4UL * steps) {
		if (!end_mr(PDS + any(&seed, HANDLES)))
			continue;
		make_mr(&seed);
		done++;
	}
	ended += done;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[ENDERS + REPLACERS];
	unsigned int seed = 1;
	int left = 0;

	if (argc != 3)
		return 2;
	steps = atoi(argv[2]);
	keys = (ENDERS + REPLACERS) * 4UL * steps + MRS;
	told = calloc(keys, 1);
	if (!told)
		wrong("calloc", errno);
	fd = open_fake(argv[1]);
	for (int i = 0; i < PDS; i++) {
		pds[i] = alloc_plain_pd(fd);
		if (pds[i] >= PDS)
			wrong("handles do not begin with 0", 0);
	}
	first_key = reg_mr(pds[0]).lkey;
	told[0] = 1;
	for (int i = 1; i < MRS; i++)
		make_mr(&seed);

	for (uintptr_t i = 0; i < ENDERS + REPLACERS; i++) {
		int err = pthread_create(&threads[i], NULL, i < ENDERS ? end : replace, (void *)i);

		if (err)
			wrong("pthread_create", err);
	}
	for (int i = ENDERS; i < ENDERS + REPLACERS; i++)
		pthread_join(threads[i], NULL);
	over = true;
	for (int i = 0; i < ENDERS; i++)
		pthread_join(threads[i], NULL);

	printf("%lu replaced, %lu ended, %lu requests met another, %lu no MR\n", replaced, ended,
	       busy, absent);
	if (!ended || !busy || !absent)
		wrong("hardly anything has happened", 0);
	for (int i = 0; i < HANDLES; i++)
		left += end_mr(PDS + i);
	if (left != MRS)
		wrong("MRs are missing, or too many", 0);
	for (int i = 0; i < PDS; i++)
		allowed("DEALLOC_PD", dealloc_pd(fd, pds[i]), 0, 0);
	close(fd);
	return 0;
}

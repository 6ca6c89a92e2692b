// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the kernel executed for a program: each thread has a trace of its own (KCOV), which the
 * fuzzer reads when the program has ended.  What work queues execute meanwhile comes by the module
 * rdma_kcov, in another trace; it may be due to an earlier program.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/kcov.h>

#include "fuzz.h"

#define TRACE		(64 << 10)	/* words of a thread's trace */
#define EDGES		0x100000	/* bits for pairs of places */
#define WORKS		TRACES		/* slot of work queues */
#define CANDIDATES	6		/* places of which one is chosen */
#define WORKS_NUMBER	1		/* as in rdma_kcov.c */
#define OF_WORK		(8 << 10)	/* words of what one work executes */

static struct {
	int fd;
	uint64_t *trace, num;		/* what the last program executed, and how much */
} slots[TRACES + 1];

static uint8_t edges[EDGES / 8];
static unsigned int num_edges;
static uint32_t num_programs;
static bool usable, loaded;

/* Can the kernel trace what it executes? */
bool cover_open(void)
{
	for (unsigned int i = 0; i <= WORKS; i++) {
		slots[i].fd = open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC);
		if (slots[i].fd < 0 || ioctl(slots[i].fd, KCOV_INIT_TRACE, TRACE))
			return false;
		slots[i].trace = mmap(NULL, TRACE * sizeof(uint64_t), PROT_READ | PROT_WRITE,
				      MAP_SHARED, slots[i].fd, 0);
		if (slots[i].trace == MAP_FAILED)
			return false;
	}
	usable = true;
	return true;
}

/* Has the kernel trace works, too, which it does as long as the module is loaded. */
bool cover_works(void)
{
	struct kcov_remote_arg arg = {
		.trace_mode = KCOV_TRACE_PC, .area_size = OF_WORK, .common_handle = WORKS_NUMBER,
	};

	loaded = usable && !ioctl(slots[WORKS].fd, KCOV_REMOTE_ENABLE, &arg) &&
		 !system("modprobe rdma_kcov");
	return loaded;
}

void cover_end(void)
{
	if (loaded && system("rmmod rdma_kcov"))
		printf("fuzz: rdma_kcov does not go\n");
}

/* Begins or ends the calling thread's trace. */
void cover_thread(unsigned int slot, bool on)
{
	if (usable)
		ioctl(slots[slot].fd, on ? KCOV_ENABLE : KCOV_DISABLE, on ? KCOV_TRACE_PC : 0);
}

static bool set(uint8_t *bits, uint64_t at)
{
	uint8_t bit = 1 << at % 8;

	if (bits[at / 8] & bit)
		return false;
	bits[at / 8] |= bit;
	return true;
}

/* The number of the module that has this address, or -1. */
static int module_of(uint64_t pc)
{
	static unsigned int last;

	for (unsigned int i = 0; i < num_modules; i++) {
		unsigned int number = (last + i) % num_modules;

		if (pc - modules[number].base >= modules[number].size)
			continue;
		last = number;
		return number;
	}
	return -1;
}

/*
 * A place in a module, as a number that is the same after each boot; 0 outside of all.  It was
 * executed.
 */
static uint64_t place_of(uint64_t pc, unsigned int *fresh)
{
	int number = module_of(pc);
	struct module *module;
	struct seen *seen;

	if (number < 0)
		return 0;
	module = &modules[number];
	seen = &module->seen[pc - module->base];
	if (!seen->programs) {
		module->covered++;
		++*fresh;
	}
	if (seen->last != num_programs) {
		seen->last = num_programs;
		seen->programs++;
	}
	return (uint64_t)(number + 1) << 32 | (pc - module->base);
}

/* Returns how many places that works have executed are new: their order is random. */
static unsigned int collect_works(void)
{
	uint64_t *trace = slots[WORKS].trace;
	unsigned int fresh = 0;

	if (!usable)
		return 0;
	slots[WORKS].num = trace[0] < TRACE ? trace[0] : TRACE - 1;
	for (uint64_t k = 1; k <= slots[WORKS].num; k++)
		place_of(trace[k], &fresh);
	trace[0] = 0;
	return fresh;
}

/* Takes the traces; returns how many pairs of places are new. */
unsigned int cover_collect(void)
{
	unsigned int fresh = 0, places = 0;

	num_programs++;
	for (unsigned int i = 0; usable && i < TRACES; i++) {
		uint64_t *trace = slots[i].trace, before = 0;

		slots[i].num = trace[0] < TRACE ? trace[0] : TRACE - 1;
		for (uint64_t k = 1; k <= slots[i].num; k++) {
			uint64_t here = place_of(trace[k], &places), both;

			if (!here)
				continue;
			both = (here ^ before * 31) * 0x9e3779b97f4a7c15ULL >> 40;
			fresh += set(edges, both % EDGES);
			before = here;
		}
		trace[0] = 0;
	}
	num_edges += fresh;
	return fresh + collect_works();
}

unsigned int cover_edges(void)
{
	return num_edges;
}

/*
 * Chooses one of the places that the last program executed: of a few, the one that the fewest
 * programs have executed.
 */
bool cover_rare(struct delay *delay)
{
	uint32_t fewest = UINT32_MAX;

	for (unsigned int i = 0; usable && i < CANDIDATES; i++) {
		unsigned int slot = chance_of(TRACES + 1);
		const struct seen *seen;
		uint64_t pc;
		int number;

		if (!slots[slot].num)
			continue;
		pc = slots[slot].trace[1 + chance() % slots[slot].num];
		number = module_of(pc);
		if (number < 0)
			continue;
		seen = &modules[number].seen[pc - modules[number].base];
		if (seen->programs >= fewest)
			continue;
		fewest = seen->programs;
		delay->module = number;
		delay->offset = pc - modules[number].base;
	}
	return fewest < UINT32_MAX;
}

/* Module and offset of each place that was seen, a line each. */
void cover_write(const char *path)
{
	FILE *file = fopen(path, "w");

	for (unsigned int i = 0; file && i < num_modules; i++) {
		for (uint64_t at = 0; at < modules[i].size; at++) {
			if (modules[i].seen[at].programs)
				fprintf(file, "%s %#lx\n", modules[i].name, at);
		}
	}
	if (file)
		fclose(file);
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * uverbs_unmap DEVICE [TRIALS]: a program unmaps the device's pages at the moment when the kernel
 * revokes them because the device is removed; TAP on stdout.  Each of many mappings of a page has a
 * page table of its own, so that both take long; another process unbinds the device.  The kernel
 * reports errors.
 */
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"

#define MAPPINGS	1500
#define APART		(2UL << 20)	/* range of one page table */
#define PAGE		4096UL

static struct driver driver;

/* Finds the offset in the device's file of the page to which the library writes. */
static bool find_page(unsigned long *offset)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512], rights[8];
	bool found = false;

	while (maps && !found && fgets(line, sizeof(line), maps))
		found = strstr(line, "/dev/infiniband/uverbs") &&
			sscanf(line, "%*x-%*x %7s %lx", rights, offset) == 2 &&
			rights[1] == 'w';
	if (maps)
		fclose(maps);
	return found;
}

/* Maps the page often and unmaps all at once.  Returns whether there was a page to map. */
static bool map_and_unmap(int fd, unsigned long offset)
{
	char *base = mmap(NULL, MAPPINGS * APART, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	unsigned long i;

	if (base == MAP_FAILED)
		return false;
	for (i = 0; i < MAPPINGS; i++)
		if (mmap(base + i * APART, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			 fd, offset) == MAP_FAILED)
			break;
	munmap(base, MAPPINGS * APART);
	return i == MAPPINGS;
}

/* Maps and unmaps until the device is removed. */
static bool trial(const char *name)
{
	struct ibv_context *ctx = open_device(name);
	unsigned long offset;
	int gate[2], status;
	bool good;
	pid_t child;
	char go;

	if (!ctx || !find_driver(&driver, ctx) || !find_page(&offset) || pipe(gate))
		return false;
	child = fork();
	if (!child) {
		if (read(gate[0], &go, 1) != 1)
			_exit(1);
		_exit(!tell_driver(&driver, "unbind"));
	}
	good = map_and_unmap(ctx->cmd_fd, offset) && write(gate[1], "x", 1) == 1;
	while (good && map_and_unmap(ctx->cmd_fd, offset))
		;
	close(gate[0]);
	close(gate[1]);
	good &= waitpid(child, &status, 0) == child && !status;
	ibv_close_device(ctx);
	return tell_driver(&driver, "bind") && good;
}

int main(int argc, char **argv)
{
	unsigned int trials = argc > 2 ? atoi(argv[2]) : 4, i;
	struct ibv_context *ctx = argc > 1 ? open_device(argv[1]) : NULL;
	bool good = ctx && find_driver(&driver, ctx);

	printf("TAP version 13\n1..1\n");
	if (ctx)
		ibv_close_device(ctx);
	for (i = 0; good && i < trials; i++)
		good = trial(argv[1]);
	if (!good)
		printf("# trial %u\n", i);
	printf("%sok 1 - %u times the pages went while they were unmapped\n", good ? "" : "not ",
	       trials);
	return !good;
}

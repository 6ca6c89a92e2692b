/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Instructions of a guest that runs with --icount on one processor, for the programs that measure
 * there. Each of them includes this once.
 */
#ifndef BENCH_GUEST_INSTRUCTIONS_H
#define BENCH_GUEST_INSTRUCTIONS_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_INSTRUCTION 2

static void die(const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
	exit(1);
}

static void *must(void *made, const char *what)
{
	if (!made)
		die(what);
	return made;
}

/* @err is an errno, or negative with errno set; 0: all is well. */
static void must_not(int err, const char *what)
{
	if (err) {
		errno = err > 0 ? err : errno;
		die(what);
	}
}

/*
 * Instructions that all tasks of this guest have executed, with the kernel's workers.  The count is
 * that of the guest's only processor, which adds a task's share when it switches away from it:
 * therefore this task sleeps first.
 */
static double all_tasks(void)
{
	struct timespec moment = { .tv_nsec = 1 };
	static int stats = -1;
	unsigned long long ns;
	char text[4096], *line;
	ssize_t got;

	if (stats < 0)
		stats = open("/proc/schedstat", O_RDONLY);
	nanosleep(&moment, NULL);
	/* Not with stdio, which would read its old buffer after a rewind. */
	got = pread(stats, text, sizeof(text) - 1, 0);
	text[got > 0 ? got : 0] = 0;
	line = strstr(text, "\ncpu0 ");
	if (!line || sscanf(line, " cpu0 %*u %*u %*u %*u %*u %*u %llu", &ns) != 1)
		die("/proc/schedstat tells no times");
	return (double)ns / NS_PER_INSTRUCTION;
}

static int compare_numbers(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

#endif /* BENCH_GUEST_INSTRUCTIONS_H */

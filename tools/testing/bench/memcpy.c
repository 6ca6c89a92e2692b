// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * memcpy BYTES RUNS: what memcpy() moves on this host, in Gb/s of the thread's own processor time:
 * the median of RUNS copies between two buffers of BYTES. The buffers are cold when they are larger
 * than the caches, since each copy begins with the bytes that were used longest ago.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int main(int argc, char **argv)
{
	size_t bytes = argc == 3 ? strtoul(argv[1], NULL, 0) : 0;
	int runs = argc == 3 ? atoi(argv[2]) : 0;
	char *source = malloc(bytes), *target = malloc(bytes);
	double *took = calloc(runs + 1, sizeof(*took));

	if (!bytes || runs < 1 || !source || !target || !took) {
		fprintf(stderr, "usage: memcpy BYTES RUNS\n");
		return 2;
	}
	memset(source, 1, bytes);
	memset(target, 2, bytes);
	for (int i = 0; i < runs; i++) {
		double begun = seconds();

		memcpy(target, source, bytes);
		/* the compiler must not remove the copy because nothing reads it */
		__asm__ volatile ("" : : "r" (target) : "memory");
		took[i] = seconds() - begun;
	}
	qsort(took, runs, sizeof(*took), compare);
	printf("%f\n", bytes * 8 / took[runs / 2] / 1e9);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What something costs that sleeps now and then, in instructions of a guest that runs with
 * --icount. A call that finds its event there already does not sleep, and costs less: only runs
 * with equal sleeps can be compared. samples.py reads what is printed.
 */
#ifndef BENCH_GUEST_SAMPLES_H
#define BENCH_GUEST_SAMPLES_H

#include <sys/resource.h>

#include "instructions.h"

#define WARM_UP		20
#define RUNS		300
#define MAX_SLEEPS	64

static double *samples[MAX_SLEEPS];
static int numbers[MAX_SLEEPS];

static long sleeps(void)
{
	struct rusage used;

	must_not(getrusage(RUSAGE_SELF, &used), "getrusage");
	return used.ru_nvcsw;
}

struct count {
	double instructions;
	long sleeps;
};

static struct count now(void)
{
	return (struct count){ .instructions = all_tasks(), .sleeps = sleeps() };
}

/* The reading that ends here sleeps once itself. */
static void add_since(struct count since, int most)
{
	struct count until = now();
	long slept = until.sleeps - since.sleeps - 1;

	if (slept < 0 || slept >= MAX_SLEEPS)
		return;
	if (!samples[slept])
		samples[slept] = must(calloc(most, sizeof(double)), "calloc");
	samples[slept][numbers[slept]++] = until.instructions - since.instructions;
}

/* Lines "NAME SLEEPS INSTRUCTIONS RUNS": the median of those runs that have slept so often */
static void print_samples(const char *name)
{
	for (int i = 0; i < MAX_SLEEPS; i++) {
		if (!numbers[i])
			continue;
		qsort(samples[i], numbers[i], sizeof(double), compare_numbers);
		printf("%s %d %.0f %d\n", name, i, samples[i][numbers[i] / 2], numbers[i]);
		free(samples[i]);
		samples[i] = NULL;
		numbers[i] = 0;
	}
	fflush(stdout);
}

#endif /* BENCH_GUEST_SAMPLES_H */

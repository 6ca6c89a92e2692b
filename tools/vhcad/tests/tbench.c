// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/tbench.h"

static int broken;

u64 bench_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double bench_median(double *v, u32 n)
{
	qsort(v, n, sizeof(*v), compare);
	return v[n / 2];
}

static void row(FILE *to, const char *form, const char *what, const char *sign, double bound,
		double figure, bool kept)
{
	char promised[32], measured[32];

	snprintf(promised, sizeof(promised), "%s %.2f", sign, bound);
	snprintf(measured, sizeof(measured), "%.2f", figure);
	fprintf(to, form, what, promised, measured, kept ? "yes" : "no");
}

static void promise(const char *what, const char *sign, double bound, double figure, bool kept)
{
	const char *name = getenv("BENCH_TABLE");
	FILE *table = name ? fopen(name, "a") : NULL;

	broken |= !kept;
	row(stdout, "  %s: promised %s, measured %s, kept: %s\n", what, sign, bound, figure, kept);
	if (name && !table) {
		perror(name);
		exit(2);
	}
	if (table) {
		row(table, "%s\t%s\t%s\t%s\n", what, sign, bound, figure, kept);
		fclose(table);
	}
}

void bench_at_most(const char *what, double figure, double bound)
{
	promise(what, "<=", bound, figure, figure <= bound);
}

void bench_at_least(const char *what, double figure, double bound)
{
	promise(what, ">=", bound, figure, figure >= bound);
}

int bench_end(void)
{
	return broken;
}

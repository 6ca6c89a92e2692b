/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Shared by benchmarks: time, medians, and limits that the project promises.
 */
#ifndef VHCAD_TESTS_TBENCH_H
#define VHCAD_TESTS_TBENCH_H

#include "lib/types.h"

/** bench_ns() - processor time of this thread, which does not depend on other load */
u64 bench_ns(void);

/** bench_median() - the median of @n figures, which are sorted */
double bench_median(double *v, u32 n);

/**
 * bench_at_most() - check a limit
 * @what: in a few words
 * @figure: measured
 * @bound: the promised limit
 *
 * It is printed, and added to the file that the environment's BENCH_TABLE names:
 * what, promised, measured and "yes" or "no", with tabs between.
 */
void bench_at_most(const char *what, double figure, double bound);
/** bench_at_least() - the same, where more is better */
void bench_at_least(const char *what, double figure, double bound);

/** bench_end() - 0, or 1 if a limit was exceeded: the program's exit status */
int bench_end(void);

#endif /* VHCAD_TESTS_TBENCH_H */

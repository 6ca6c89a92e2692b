/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Verbs at random: the results that a step may get.  Any other result ends the program.
 */
#ifndef STORM_H
#define STORM_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS	4
#define KEPT	6		/* objects of a kind at most, of a thread or of all */

static inline void wrong(const char *what, int err)
{
	fprintf(stderr, "%s: %s\n", what, strerrorname_np(err) ?: "no errno");
	exit(1);
}

/* err has to be 0 or one of the two. */
static inline bool allowed(const char *what, int err, int one, int other)
{
	if (err && err != one && err != other)
		wrong(what, err);
	return !err;
}

#endif /* STORM_H */

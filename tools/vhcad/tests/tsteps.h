/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Instructions, counted by stepping through them: exact, and the machine need have no counters.
 */
#ifndef VHCAD_TESTS_TSTEPS_H
#define VHCAD_TESTS_TSTEPS_H

#include "lib/types.h"

#define TSTEPS_KINDS	4u

/**
 * struct tsteps - what was counted of one kind
 * @steps: instructions
 * @done: what they have done, as tsteps_done() says
 */
struct tsteps {
	u64 steps;
	u64 done;
};

/**
 * tsteps_count() - count what a child does
 * @what: does it, in a copy of this process; no other thread is there
 * @arg: for it
 * @kinds: receives what was counted
 *
 * What is mapped shared, as memory of guests is, the child has in common with this process: its
 * worlds are of no use afterwards.  A child that fails is the end of the program.
 */
void tsteps_count(void (*what)(void *arg), void *arg, struct tsteps kinds[TSTEPS_KINDS]);

/** tsteps_begin() - in the child: what follows is of this kind */
void tsteps_begin(u32 kind);
/** tsteps_end() - until here */
void tsteps_end(void);
/** tsteps_done() - in the child: so much more has been done of this kind */
void tsteps_done(u32 kind, u64 n);

/** tsteps_each() - instructions for each thing done */
double tsteps_each(const struct tsteps *s);

#endif /* VHCAD_TESTS_TSTEPS_H */

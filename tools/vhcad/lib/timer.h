/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Timers: a heap of those that run.
 *
 * Moving a timer later and stopping it cost nothing (the heap is updated when the old time comes
 * up), because that is what every acknowledgment does.  timers_next() drops stopped ones, so they
 * never wake a thread.
 */
#ifndef VHCAD_LIB_TIMER_H
#define VHCAD_LIB_TIMER_H

#include "lib/types.h"

#define TIMER_OFF	UINT64_MAX

struct timer {
	u64 due;		/* when to fire, or TIMER_OFF */
	u64 key;		/* key of the heap's order; never later than due */
	u32 pos;		/* place in the heap, from 1; 0: not in it */
	void (*fn)(struct timer *t);
};

struct timers {
	struct timer **heap;	/* [1..n] */
	u32 n;
	u32 cap;
	u32 known;		/* timers that may run at the same time */
};

/**
 * timer_init() - prepare a timer and make room for it in the heap
 * @ts: heap
 * @t: timer
 * @fn: called when it fires; it is off then
 *
 * Returns 0 or -ENOMEM.  timer_fini() must follow on success.
 */
int timer_init(struct timers *ts, struct timer *t, void (*fn)(struct timer *t));

/** timer_fini() - forget a timer for good */
void timer_fini(struct timers *ts, struct timer *t);

/** timer_set() - let a timer fire at @due, whatever it did before */
void timer_set(struct timers *ts, struct timer *t, u64 due);

/** timer_stop() - do not fire */
static inline void timer_stop(struct timer *t)
{
	t->due = TIMER_OFF;
}

/** timers_run() - fire what is due at @now, at most @most; true if anything was */
bool timers_run(struct timers *ts, u64 now, u32 most);

/** timers_first() - timers_next() of a heap that is not empty */
u64 timers_first(struct timers *ts);

/** timers_next() - when the next timer fires, or TIMER_OFF */
static inline u64 timers_next(struct timers *ts)
{
	return ts->n ? timers_first(ts) : TIMER_OFF;
}

/** timers_free() - free the heap itself */
void timers_free(struct timers *ts);

#endif /* VHCAD_LIB_TIMER_H */

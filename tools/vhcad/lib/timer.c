// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The heap of running timers.
 */
#include <errno.h>
#include <stdlib.h>

#include "lib/timer.h"

static void place(struct timers *ts, u32 pos, struct timer *t)
{
	ts->heap[pos] = t;
	t->pos = pos;
}

/* Puts t where it belongs, given that position pos is free. */
static void settle(struct timers *ts, u32 pos, struct timer *t)
{
	while (pos > 1 && ts->heap[pos / 2]->key > t->key) {
		place(ts, pos, ts->heap[pos / 2]);
		pos /= 2;
	}
	for (;;) {
		u32 child = 2 * pos;

		if (child > ts->n)
			break;
		if (child < ts->n && ts->heap[child + 1]->key < ts->heap[child]->key)
			child++;
		if (ts->heap[child]->key >= t->key)
			break;
		place(ts, pos, ts->heap[child]);
		pos = child;
	}
	place(ts, pos, t);
}

static void drop(struct timers *ts, struct timer *t)
{
	struct timer *last = ts->heap[ts->n--];
	u32 pos = t->pos;

	t->pos = 0;
	if (last != t)
		settle(ts, pos, last);
}

int timer_init(struct timers *ts, struct timer *t, void (*fn)(struct timer *t))
{
	if (ts->known == ts->cap) {
		u32 cap = ts->cap ? 2 * ts->cap : 64;
		struct timer **heap = realloc(ts->heap, (cap + 1) * sizeof(*heap));

		if (!heap)
			return -ENOMEM;
		ts->heap = heap;
		ts->cap = cap;
	}
	ts->known++;
	*t = (struct timer){ .due = TIMER_OFF, .fn = fn };
	return 0;
}

void timer_fini(struct timers *ts, struct timer *t)
{
	if (t->pos)
		drop(ts, t);
	t->due = TIMER_OFF;
	ts->known--;
}

void timer_set(struct timers *ts, struct timer *t, u64 due)
{
	t->due = due;
	if (t->pos && t->key <= due)
		return;
	t->key = due;
	settle(ts, t->pos ? t->pos : ++ts->n, t);
}

/* The timer that is due first; brings the top of the heap up to date for that. */
static struct timer *top(struct timers *ts)
{
	while (ts->n) {
		struct timer *t = ts->heap[1];

		if (t->due == t->key)
			return t;
		if (t->due == TIMER_OFF) {
			drop(ts, t);
		} else {
			t->key = t->due;
			settle(ts, 1, t);
		}
	}
	return NULL;
}

bool timers_run(struct timers *ts, u64 now, u32 most)
{
	struct timer *t;
	bool any = false;

	while (most-- && (t = top(ts)) && t->due <= now) {
		drop(ts, t);
		t->due = TIMER_OFF;
		t->fn(t);
		any = true;
	}
	return any;
}

u64 timers_first(struct timers *ts)
{
	struct timer *t = top(ts);

	return t ? t->due : TIMER_OFF;
}

void timers_free(struct timers *ts)
{
	free(ts->heap);
	*ts = (struct timers){ 0 };
}

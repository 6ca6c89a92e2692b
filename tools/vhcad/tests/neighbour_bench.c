// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a neighbour that does its worst leaves of a guest's rate, and what it makes of the slowest
 * of its messages, by what the guest has alone.  The guest writes 64 bytes to another adapter, with
 * a number of messages under way that it keeps up; both post between the engine's passes.
 *
 * Time is that of the engine's passes alone; a pass in which the kernel gave the processor to
 * somebody else counts with its processor time, and with wall time otherwise, which is read at no
 * cost.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/internal.h"
#include "tests/tbench.h"
#include "tests/tgreedy.h"
#include "tests/tvictim.h"

#define ROUNDS		5u
#define MESSAGES	10000u		/* of a round */
#define DEPTH		128u		/* messages under way, as ib_write_bw has them */
#define FEW		16u		/* of a program that has fewer */
#define NEIGHBOURS	(1 + ARRAY_SIZE(tgreedy_sly))

/* The guest beside one neighbour, or alone. */
struct flow {
	double rate[ROUNDS];		/* messages a nanosecond */
	u64 ns[ROUNDS * MESSAGES];	/* of each message, from its doorbell to its completion */
	u32 n;
};

static u64 own;		/* wall time that was not the engine's */

static u64 wall_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static u64 engine_time(void *arg)
{
	return wall_ns() - own;
}

/* Returns the nanoseconds that it has taken. */
static u64 pass(struct tvictim *v, u64 *ended)
{
	u64 cpu = bench_ns(), begun = wall_ns();

	own += begun - *ended;
	shard_step(&v->w.engine->shard[0]);
	*ended = wall_ns();
	return MIN(*ended - begun, bench_ns() - cpu);
}

/* A round with @depth messages under way; @kind: the neighbour, NULL: it does nothing. */
static void measure(struct flow *r, const struct tgreedy_kind *kind, u32 depth, u32 round)
{
	u32 posted = 0, done = 0;
	u64 begun[DEPTH], now = 0, ended;
	struct tgreedy g = { 0 };
	struct tvictim v;
	struct vhca_cqe e;

	tvictim_init(&v, engine_time);
	g.h = &v.h[2];
	g.cq = &v.cq[2];
	if (kind)
		kind->prepare(&g);
	ended = wall_ns();
	while (done < MESSAGES) {
		for (; done < posted && t_cq_poll(&v.cq[0], &e); done++) {
			assert_int_equal(e.status, VHCA_CS_SUCCESS);
			r->ns[r->n + done] = now - begun[done % depth];
		}
		for (; posted - done < depth && posted < MESSAGES; posted++) {
			tvictim_ring(&v);
			begun[posted % depth] = now;
		}
		if (kind)
			kind->keep_busy(&g);
		now += pass(&v, &ended);
	}
	r->rate[round] = (double)MESSAGES / now;
	r->n += MESSAGES;
	tvictim_fini(&v);
	tgreedy_end(&g);
}

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

static double slowest_thousandth(struct flow *r)
{
	qsort(r->ns, r->n, sizeof(r->ns[0]), compare);
	return r->ns[(u64)r->n * 999 / 1000 - 1];
}

static const struct tgreedy_kind *neighbour(u32 i)
{
	return i ? &tgreedy_sly[i - 1] : &tgreedy_huge;
}

/* Prints what there is beside each, by alone: [0] the rate, [1] the slowest thousandth. */
static void beside_each(u32 depth, double by_alone[NEIGHBOURS][2])
{
	static struct flow alone, beside[NEIGHBOURS];
	double rate, slowest;

	memset(&alone, 0, sizeof(alone));
	memset(beside, 0, sizeof(beside));
	for (u32 i = 0; i < ROUNDS; i++) {
		measure(&alone, NULL, depth, i);
		for (u32 k = 0; k < NEIGHBOURS; k++)
			measure(&beside[k], neighbour(k), depth, i);
	}
	rate = bench_median(alone.rate, ROUNDS);
	slowest = slowest_thousandth(&alone);
	printf("WRITEs of 64 bytes, %u under way, alone: %.2f M/s, %.1f us (99.9 %%)\n", depth,
	       1000 * rate, slowest / 1e3);
	for (u32 k = 0; k < NEIGHBOURS; k++) {
		double his = bench_median(beside[k].rate, ROUNDS);
		double late = slowest_thousandth(&beside[k]);

		by_alone[k][0] = his / rate;
		by_alone[k][1] = late / slowest;
		printf("  beside %s: %.2f M/s (%.2f), %.1f us (%.1f)\n", neighbour(k)->what,
		       1000 * his, by_alone[k][0], late / 1e3, by_alone[k][1]);
	}
}

/* Judges what the neighbours leave of a victim that keeps this number of messages under way. */
static void judge(u32 depth)
{
	double by_alone[NEIGHBOURS][2];
	char what[120];

	beside_each(depth, by_alone);
	for (u32 k = 0; k < NEIGHBOURS; k++) {
		snprintf(what, sizeof(what), "rate beside %s, %u under way, by that alone",
			 neighbour(k)->what, depth);
		bench_at_least(what, by_alone[k][0], 0.4);
		snprintf(what, sizeof(what), "99.9 %% of them beside %s, %u under way, by alone",
			 neighbour(k)->what, depth);
		bench_at_most(what, by_alone[k][1], 10);
	}
}

int main(void)
{
	double by_alone[NEIGHBOURS][2];

	freopen("/dev/null", "w", stderr);
	/* With one message the victim waits for a slice of the neighbour each time. */
	beside_each(1, by_alone);
	judge(FEW);
	judge(DEPTH);
	return bench_end();
}

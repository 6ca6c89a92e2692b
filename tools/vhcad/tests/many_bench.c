// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a message costs where there are 100,000 QPs, by where there are 100, on as many adapters:
 * of QPs at random, where each has to be found and its time-out runs beside those of all others;
 * of QPs that all have work, so that each waits for its turn; and what a time-out costs that comes
 * while all others wait for theirs.
 *
 * Instructions are counted by stepping through them, time is the thread's processor time; what
 * posts and polls counts for neither.
 */
#include <stdio.h>
#include <stdlib.h>

#include "engine/internal.h"
#include "fabric/fault.h"
#include "tests/tbench.h"
#include "tests/tscale.h"
#include "tests/tsteps.h"

#define FEW		100u
#define MANY		100000u
#define AT_ONCE		(FEW / 2)	/* messages that are posted together, each of another QP */
#define MESSAGE_NS	1000u		/* so much time passes for each */
#define USUAL		200000u		/* messages after which all is as it will be */
#define TIMED		50000u		/* messages of a round */
#define STEPPED		(2 * AT_ONCE)
#define ROUNDS		7u

/* What is stepped through. */
enum { AT_RANDOM, BUSY, TIME_OUT, KINDS };

static const char *const kinds[KINDS] = {
	[AT_RANDOM] = "WRITE by a QP at random",
	[BUSY] = "WRITE, all QPs have work",
	[TIME_OUT] = "time-out, all QPs wait",
};

/* One of two worlds. */
struct many {
	struct tscale s;
	u32 *last;		/* of each connection: the batch of its last message */
	u32 batch, rng;
};

static u32 any(struct many *m, u32 n)
{
	m->rng = m->rng * 1103515245 + 12345;
	return ((u64)m->rng * n) >> 32;
}

/* A connection that has no message in this batch. */
static u32 another(struct many *m)
{
	u32 n;

	do
		n = any(m, m->s.connections);
	while (m->last[n] == m->batch);
	m->last[n] = m->batch;
	return n;
}

static void post_batch(struct many *m)
{
	m->batch++;
	for (u32 i = 0; i < AT_ONCE; i++)
		tscale_write(&m->s, another(m), 0);
}

static void take_batch(struct many *m)
{
	u32 n;

	for (u32 i = 0; i < AT_ONCE; i++)
		assert_true(tscale_take(&m->s, &n));
	m->s.w.now += AT_ONCE * MESSAGE_NS;
}

/* Nanoseconds a message. */
static double at_random_ns(struct many *m, u32 messages)
{
	u64 spent = 0, t;

	for (u32 i = 0; i < messages; i += AT_ONCE) {
		post_batch(m);
		t = bench_ns();
		t_poll(&m->s.w);
		spent += bench_ns() - t;
		take_batch(m);
	}
	return (double)spent / messages;
}

static void step_at_random(struct many *m)
{
	for (u32 i = 0; i < STEPPED; i += AT_ONCE) {
		post_batch(m);
		tsteps_begin(AT_RANDOM);
		t_poll(&m->s.w);
		tsteps_end();
		tsteps_done(AT_RANDOM, AT_ONCE);
		take_batch(m);
	}
}

/* ---- all QPs have work ---- */

static void post_all(struct many *m)
{
	m->batch++;
	for (u32 i = 0; i < m->s.connections; i++)
		tscale_write(&m->s, another(m), 0);
}

/* Whoever is done has work @again; returns how many were. */
static u32 take_done(struct many *m, bool again)
{
	u32 n, done = 0;

	for (; tscale_take(&m->s, &n); done++)
		if (again)
			tscale_write(&m->s, n, 0);
	m->s.w.now += done * MESSAGE_NS;
	return done;
}

/* A pass of the engine. */
static u32 busy(struct many *m)
{
	shard_step(&m->s.w.engine->shard[0]);
	return take_done(m, true);
}

static void step_busy(struct many *m)
{
	u32 done = 0;

	post_all(m);
	while (done < 2 * m->s.connections)
		done += busy(m);
	for (done = 0; done < STEPPED; ) {
		u32 n;

		tsteps_begin(BUSY);
		shard_step(&m->s.w.engine->shard[0]);
		tsteps_end();
		n = take_done(m, true);
		tsteps_done(BUSY, n);
		done += n;
	}
	t_poll(&m->s.w);
	assert_int_equal(take_done(m, false), m->s.connections);
}

/* ---- all QPs wait for an answer that does not come ---- */

static u32 lost(struct many *m)
{
	struct fab_fault f[FAB_MAX_FAULTS];

	assert_int_equal(fab_fault_list(m->s.w.fabric, NULL, NULL, f), 1);
	return f[0].struck;
}

static void step_time_outs(struct many *m)
{
	static const struct fab_fault loss = { .kind = FAB_LOSS, .permille = 1000 };
	u32 before;

	assert_int_equal(fab_fault_arm(m->s.w.fabric, &loss), 0);
	m->batch++;
	for (u32 i = 0; i < m->s.connections; i++) {
		tscale_write(&m->s, another(m), 0);
		t_poll(&m->s.w);
		m->s.w.now += MESSAGE_NS;
	}
	/* the first of them repeats its packet */
	while (lost(m) == m->s.connections)
		t_advance(&m->s.w);
	before = lost(m);
	for (u32 i = 0; i < STEPPED; i++) {
		tsteps_begin(TIME_OUT);
		t_advance(&m->s.w);
		tsteps_end();
	}
	tsteps_done(TIME_OUT, lost(m) - before);
}

/* ---- */

static struct many few, many;

static void init(struct many *m, u32 qps)
{
	tscale_init(&m->s, qps);
	m->last = calloc(m->s.connections, sizeof(*m->last));
	assert_non_null(m->last);
	m->rng = 1;
	at_random_ns(m, USUAL);
}

static void fini(struct many *m)
{
	tscale_fini(&m->s);
	free(m->last);
}

static void step(void *arg)
{
	struct many *m = arg;

	step_at_random(m);
	step_busy(m);
	step_time_outs(m);
}

static void compare_instructions(void)
{
	struct tsteps a[TSTEPS_KINDS], b[TSTEPS_KINDS];

	tsteps_count(step, &few, a);
	tsteps_count(step, &many, b);
	for (u32 k = 0; k < KINDS; k++) {
		double by_few = tsteps_each(&a[k]), by_many = tsteps_each(&b[k]);
		char what[100];

		printf("%s: %.0f instructions of %u, %.0f of %u\n", kinds[k], by_few, FEW, by_many,
		       MANY);
		snprintf(what, sizeof(what), "%s, of 100,000 by 100: instructions", kinds[k]);
		bench_at_most(what, by_many / by_few, 1.1);
	}
}

static void compare_times(void)
{
	double ns[2][ROUNDS], a, b;

	for (u32 i = 0; i < ROUNDS; i++) {
		ns[0][i] = at_random_ns(&few, TIMED);
		ns[1][i] = at_random_ns(&many, TIMED);
	}
	a = bench_median(ns[0], ROUNDS);
	b = bench_median(ns[1], ROUNDS);
	printf("%s: %.0f ns of %u, %.0f ns of %u\n", kinds[AT_RANDOM], a, FEW, b, MANY);
	bench_at_most("WRITE by a QP at random, of 100,000 by 100: time", b / a, 1.5);
}

int main(void)
{
	freopen("/dev/null", "w", stderr);
	init(&few, FEW);
	init(&many, MANY);
	compare_times();
	/* no world can be used after that */
	compare_instructions();
	fini(&many);
	fini(&few);
	return bench_end();
}

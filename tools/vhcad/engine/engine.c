// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The engine as a whole: it is made, started and stopped; and one adapter, for other threads.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/internal.h"
#include "fabric/fabric.h"

/* How long the thread that a kick arrives on works at the most, see adapter_attend(). */
#define HELP_USEC	50u

static u64 monotonic(void *arg)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

const struct engine_clock engine_clock_monotonic = { .now = monotonic, .spent = cost_spent };

static void wake(void *engine)
{
	struct engine *e = engine;

	shard_wake(&e->shard[0], WOKEN_BY_FABRIC);
}

struct engine *engine_make(const struct engine_clock *clock, struct fabric *fabric, u32 threads)
{
	size_t size = sizeof(struct engine) + threads * sizeof(struct shard);
	struct engine *e = aligned_alloc(SHARD_ALIGN, size);

	if (!e)
		return NULL;
	memset(e, 0, size);
	e->fabric = fabric;
	e->help_ns = HELP_USEC * 1000ull;
	for (; e->nshards < threads; e->nshards++) {
		struct shard *s = &e->shard[e->nshards];

		if (shard_init(s, e, clock)) {
			engine_free(e);
			return NULL;
		}
		s->number = e->nshards;
		s->worker.alone = threads == 1;
	}
	if (fabric && threads > 1)
		fabric_set_threads(fabric);
	e->shard[0].fabric = fabric;
	if (fabric)
		fabric_set_wake(fabric, wake, e);
	return e;
}

struct engine *engine_new(const struct engine_clock *clock, struct fabric *fabric)
{
	return engine_make(clock, fabric, 1);
}

void engine_free(struct engine *e)
{
	if (!e)
		return;
	while (e->nshards)
		shard_fini(&e->shard[--e->nshards]);
	free(e);
}

void engine_set_spin(struct engine *e, u32 usec)
{
	e->spin_ns = usec * 1000ull;
}

void engine_set_help(struct engine *e, u32 usec)
{
	e->help_ns = usec * 1000ull;
}

void engine_run(struct engine *e)
{
	engine_run_thread(e, 0);
}

void engine_run_thread(struct engine *e, u32 number)
{
	shard_run(&e->shard[number]);
}

void engine_stop(struct engine *e)
{
	__atomic_store_n(&e->stop, true, __ATOMIC_SEQ_CST);
	engine_wake(e);
}

/* A pass of each shard: one may have to wait for what another one does. */
static bool step_all(struct engine *e)
{
	bool busy = false;

	for (u32 i = 0; i < e->nshards; i++)
		busy |= shard_step(&e->shard[i]);
	return busy;
}

static bool any_mail(const struct engine *e)
{
	for (u32 i = 0; i < e->nshards; i++)
		if (!inbox_empty(&e->shard[i].inbox) || e->shard[i].news)
			return true;
	return false;
}

u64 engine_poll(struct engine *e)
{
	u64 next;

	/* one thread hands nothing over */
	if (e->nshards == 1)
		return shard_poll(&e->shard[0]);
	do {
		while (step_all(e))
			;
		next = ENGINE_NEVER;
		for (u32 i = 0; i < e->nshards; i++)
			next = MIN(next, shard_poll(&e->shard[i]));
	} while (any_mail(e));
	return next;
}

void engine_status(const struct engine *e, struct engine_status *st)
{
	const struct shard *first = &e->shard[0];

	*st = (struct engine_status){
		.threads = e->nshards,
		.why = __atomic_load_n(&first->asleep, __ATOMIC_RELAXED) ? first->nap_why : "works",
	};
	for (u32 i = 0; i < e->nshards; i++) {
		const struct shard *s = &e->shard[i];

		st->awake += !__atomic_load_n(&s->asleep, __ATOMIC_RELAXED);
		st->sleeps += s->sleeps;
		st->wakes += __atomic_load_n(&s->wakes, __ATOMIC_RELAXED);
		st->helped += s->helped;
	}
}

struct fabric *engine_fabric(const struct engine *e)
{
	return e->fabric;
}

/* ------------------------------------------------------------------------
 * For one adapter
 */

/* Is it here?  Under the lock of @s, without which its home does not change if it is here. */
static bool is_in(const struct adapter *a, struct shard *s)
{
	if (adapter_home(a) != s)
		return false;
	shard_take(s);
	return a->worker == &s->worker;
}

void adapter_lock(struct adapter *a)
{
	for (;;) {
		struct shard *s = adapter_home(a), *from;

		shard_lock(s);
		if (is_in(a, s))
			return;
		from = adapter_home(a) == s ? container_of(a->worker, struct shard, worker) : NULL;
		shard_unlock(s);
		/* the holder of the lock of its previous shard is about to put it into the inbox */
		if (from) {
			shard_lock(from);
			shard_unlock(from);
		}
	}
}

void adapter_unlock(struct adapter *a)
{
	adapter_rouse(a);
	shard_unlock(a->home);
}

void adapter_attend(struct adapter *a)
{
	struct shard *s;

	/* the caller's stores come before the loads of what is to see them */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	s = adapter_home(a);
	shard_call(s, a);
	if (__atomic_load_n(&s->asleep, __ATOMIC_RELAXED))
		shard_attend(s, a);
}

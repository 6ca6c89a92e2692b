// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The engine as a whole: it is made, started, stopped, and kept off its adapters.
 */
#include <stdlib.h>
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
	engine_wake(engine);
}

struct engine *engine_new(const struct engine_clock *clock, struct fabric *fabric)
{
	struct engine *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->fabric = fabric;
	e->help_ns = HELP_USEC * 1000ull;
	if (shard_init(&e->shard, e, clock)) {
		free(e);
		return NULL;
	}
	if (fabric)
		fabric_set_wake(fabric, wake, e);
	return e;
}

void engine_free(struct engine *e)
{
	if (!e)
		return;
	shard_fini(&e->shard);
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

void engine_lock(struct engine *e)
{
	shard_lock(&e->shard);
}

void engine_unlock(struct engine *e)
{
	shard_unlock(&e->shard);
}

void engine_wake(struct engine *e)
{
	shard_wake(&e->shard);
}

void engine_run(struct engine *e)
{
	shard_run(&e->shard);
}

void engine_stop(struct engine *e)
{
	__atomic_store_n(&e->stop, true, __ATOMIC_SEQ_CST);
	engine_wake(e);
}

u64 engine_poll(struct engine *e)
{
	return shard_poll(&e->shard);
}

void engine_status(const struct engine *e, struct engine_status *st)
{
	const struct shard *s = &e->shard;

	*st = (struct engine_status){
		.sleeps = s->sleeps,
		.wakes = __atomic_load_n(&s->wakes, __ATOMIC_RELAXED),
		.helped = s->helped,
		.why = __atomic_load_n(&s->asleep, __ATOMIC_RELAXED) ? s->nap_why : "works",
	};
}

struct fabric *engine_fabric(const struct engine *e)
{
	return e->fabric;
}

/* ------------------------------------------------------------------------
 * For one adapter
 */
void adapter_lock(struct adapter *a)
{
	shard_lock(a->home);
}

void adapter_unlock(struct adapter *a)
{
	shard_unlock(a->home);
}

void adapter_attend(struct adapter *a)
{
	shard_attend(a->home);
}

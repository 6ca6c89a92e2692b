// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Campaigns of several threads: real threads, or stepped in turn by engine_poll(), where everything
 * follows from the seed.  Adapters are moved to other threads all the time, as if work was spread.
 */
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "engine/internal.h"
#include "fabric/internal.h"
#include "res/dev.h"
#include "tests/cflow.h"
#include "tests/cthreads.h"
#include "tests/trandom.h"

static void *run(void *arg)
{
	shard_run(arg);
	return NULL;
}

void c_threads_start(struct campaign *c)
{
	const struct campaign_options *o = c->o;

	c->scatter = o->seed * 0x9e3779b97f4a7c15ull | 1;
	if (!o->threads) {
		t_world_init(&c->w);
		return;
	}
	assert_true(o->threads <= ARRAY_SIZE(c->thread));
	t_world_init_threads(&c->w, o->threads, o->real);
	for (u32 i = 0; o->real && i < o->threads; i++)
		assert_int_equal(pthread_create(&c->thread[i], NULL, run,
						&c->w.engine->shard[i]), 0);
}

void c_threads_stop(struct campaign *c)
{
	if (!c->o->real)
		return;
	engine_stop(c->w.engine);
	for (u32 i = 0; i < c->o->threads; i++)
		assert_int_equal(pthread_join(c->thread[i], NULL), 0);
}

void c_scatter(struct campaign *c)
{
	struct engine *e = c->w.engine;
	struct adapter *a;
	struct shard *to;

	if (!c->o->threads || t_random(&c->scatter) % 4)
		return;
	a = &c->h[t_random(&c->scatter) % DEVS].dev->adapter;
	to = &e->shard[t_random(&c->scatter) % e->nshards];
	adapter_lock(a);
	if (a->home != to && !fabric_is_single(e->fabric))
		adapter_send_off(a, to);
	adapter_unlock(a);
	engine_wake(e);
}

static u64 seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

void c_await(struct campaign *c, bool (*there)(struct campaign *c), const char *what)
{
	u64 start = seconds();

	while (!there(c)) {
		if (seconds() - start > C_PATIENCE)
			c_wrong(c, NULL, "%s", what);
		sched_yield();
	}
}

bool c_nothing_queued(struct campaign *c)
{
	bool queued;

	engine_lock(c->w.engine);
	queued = c->w.fabric->nqueued;
	engine_unlock(c->w.engine);
	return !queued;
}

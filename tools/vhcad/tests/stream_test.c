// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A guest that kicks again and again: the thread that its kicks arrive on helps, until the engine's
 * thread takes over and looks for more by itself.  The clock moves only when the test moves it.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>

#include "engine/internal.h"
#include "tests/cm.h"

/* As engine/loop.c has them. */
#define STREAM_KICKS	8u
#define STREAM_GAP_NS	20000u
#define STREAM_SPIN_NS	20000u

#define GUESTS	2u

/* An adapter without a device; @rung is atomic, @done is posted for each ring. */
struct guest {
	struct adapter a;
	struct list_head qp;
	u32 rung;
	sem_t done;
};

static struct fixture {
	u64 now;			/* atomic */
	struct engine *engine;
	struct guest guest[GUESTS];
	pthread_t thread;
} f;

static u64 time_is(void *arg)
{
	return __atomic_load_n(&f.now, __ATOMIC_RELAXED);
}

static u64 nothing(void *arg)
{
	return 0;
}

static const struct engine_clock still = { .now = time_is, .spent = nothing };

static bool poll_guest(struct adapter *a)
{
	struct guest *g = container_of(a, struct guest, a);
	u32 n = __atomic_exchange_n(&g->rung, 0, __ATOMIC_ACQUIRE);

	for (u32 i = 0; i < n; i++)
		sem_post(&g->done);
	return n;
}

static bool arm_guest(struct adapter *a)
{
	return __atomic_load_n(&container_of(a, struct guest, a)->rung, __ATOMIC_RELAXED);
}

static u32 run_guest(struct adapter *a)
{
	return 0;
}

static bool no_room(struct adapter *a)
{
	return false;
}

static void tell_guest(struct adapter *a)
{
}

static const struct adapter_ops ops = {
	.poll = poll_guest, .arm = arm_guest, .run = run_guest, .room = no_room, .tell = tell_guest,
	.scratch = 8,
};

static void *run(void *arg)
{
	shard_run(arg);
	return NULL;
}

static void pass_time(u64 ns)
{
	__atomic_fetch_add(&f.now, ns, __ATOMIC_RELAXED);
}

/* Time passes until the engine's thread sleeps, and works no more. */
static void wait_asleep(void)
{
	struct shard *s = &f.engine->shard[0];

	while (!__atomic_load_n(&s->asleep, __ATOMIC_SEQ_CST)) {
		pass_time(STREAM_SPIN_NS);
		sched_yield();
	}
	shard_lock(s);
	shard_unlock(s);
}

static void start(void)
{
	memset(&f, 0, sizeof(f));
	f.now = 1000000;
	f.engine = engine_make(&still, NULL, 1);
	assert_non_null(f.engine);
	engine_set_help(f.engine, 50);
	for (u32 i = 0; i < GUESTS; i++) {
		struct guest *g = &f.guest[i];

		g->a.ops = &ops;
		INIT_LIST_HEAD(&g->qp);
		assert_int_equal(sem_init(&g->done, 0, 0), 0);
		assert_int_equal(adapter_init(&g->a, f.engine), 0);
		adapter_add(&g->a);
	}
	assert_int_equal(pthread_create(&f.thread, NULL, run, &f.engine->shard[0]), 0);
	wait_asleep();
}

static void stop(void)
{
	engine_stop(f.engine);
	assert_int_equal(pthread_join(f.thread, NULL), 0);
	for (u32 i = 0; i < GUESTS; i++) {
		adapter_del(&f.guest[i].a);
		adapter_fini(&f.guest[i].a);
		sem_destroy(&f.guest[i].done);
	}
	engine_free(f.engine);
}

/* A guest kicks, and waits for what it has kicked for. */
static void kick(u32 guest)
{
	struct guest *g = &f.guest[guest];

	__atomic_fetch_add(&g->rung, 1, __ATOMIC_RELEASE);
	adapter_attend(&g->a);
	while (sem_wait(&g->done))
		;
}

static u64 helped(void)
{
	u64 n;

	shard_lock(&f.engine->shard[0]);
	n = f.engine->shard[0].helped;
	shard_unlock(&f.engine->shard[0]);
	return n;
}

/* One guest kicks in a row: the engine's thread takes over, until there was nothing for a while. */
static void stream(void **state)
{
	start();
	for (u32 round = 1; round <= 3; round++) {
		for (u32 i = 0; i < 10 * STREAM_KICKS; i++)
			kick(0);
		assert_int_equal(helped(), round * (STREAM_KICKS + 1));
		wait_asleep();
	}
	stop();
}

/* Two that wait for each other kick in turns: both are helped all the time. */
static void in_turns(void **state)
{
	start();
	for (u32 i = 0; i < 10 * STREAM_KICKS; i++) {
		kick(0);
		kick(1);
	}
	assert_int_equal(helped(), 2 * 10 * STREAM_KICKS);
	stop();
}

/* So is one that takes its time. */
static void now_and_then(void **state)
{
	start();
	for (u32 i = 0; i < 10 * STREAM_KICKS; i++) {
		kick(0);
		pass_time(STREAM_GAP_NS);
	}
	assert_int_equal(helped(), 10 * STREAM_KICKS);
	stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stream),
		cmocka_unit_test(in_turns),
		cmocka_unit_test(now_and_then),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

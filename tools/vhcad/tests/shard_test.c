// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Adapters that go from one thread to another: nothing that is brought for them meanwhile gets
 * lost, and nobody works for one at two places.
 *
 * The adapters here have no device.  Two of them stay, one in each shard; the others have messages
 * for one or the other by turns, and go where it is.  A message is a store to the memory of both,
 * which nothing protects but that they are on the same thread: the thread sanitizer sees when they
 * are not.  If a ring or an arrival were ever lost, the test would hang (and be killed).
 */
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

#include "engine/internal.h"
#include "fabric/fabric.h"
#include "tests/cm.h"
#include "tests/trandom.h"

#ifdef __SANITIZE_THREAD__
#define ROUNDS	2000u
#else
#define ROUNDS	10000u
#endif

#define SHARDS	2u
#define GUESTS	4u

/**
 * struct guest - an adapter with one QP
 * @a: adapter
 * @qp: on its ready list
 * @rung: messages that the guest has posted; atomic
 * @todo: those that the adapter knows of
 * @sent: and has sent
 * @got: by others to it
 * @told: completions that it was told of,
 * @strays: and those told of when it had gone
 * @fired: its timer has
 * @done: posted once for each message
 */
struct guest {
	struct adapter a;
	struct list_head qp;
	u32 rung;
	u32 todo, sent, got, told, strays, fired;
	struct timer timer;
	sem_t done;
};

static struct fixture {
	u64 now;
	struct fabric *fabric;
	struct engine *engine;
	struct guest stays[SHARDS], goes[GUESTS];
	pthread_t thread[SHARDS];
	bool found, held;		/* by hold_it(); @held is atomic */
} f;

static struct guest *guest_of(struct adapter *a)
{
	return container_of(a, struct guest, a);
}

static bool poll_guest(struct adapter *a)
{
	struct guest *g = guest_of(a);
	u32 n = __atomic_exchange_n(&g->rung, 0, __ATOMIC_ACQUIRE);

	if (!n)
		return false;
	g->todo += n;
	if (list_empty(&g->qp)) {
		list_add_tail(&g->qp, &a->ready);
		adapter_ready(a);
	}
	return true;
}

static bool arm_guest(struct adapter *a)
{
	return __atomic_load_n(&guest_of(a)->rung, __ATOMIC_RELAXED);
}

static u32 run_guest(struct adapter *a)
{
	struct guest *g = guest_of(a), *to = &f.stays[g->sent % SHARDS];

	list_pop(&a->ready);
	if (to->a.home == a->home) {
		g->sent++;
		g->todo--;
		to->got++;
		adapter_wrote(a);
		sem_post(&g->done);
	} else {
		adapter_go(a, &to->a);
	}
	if (g->todo)
		list_add_tail(&g->qp, &a->ready);
	return 1;
}

static bool no_room(struct adapter *a)
{
	return false;
}

static void tell_guest(struct adapter *a)
{
	struct guest *g = guest_of(a);

	g->told++;
	g->strays += a->worker != &a->home->worker;
}

static const struct adapter_ops ops = {
	.poll = poll_guest, .arm = arm_guest, .run = run_guest, .room = no_room, .tell = tell_guest,
	.scratch = 8,
};

static void on_timer(struct timer *t)
{
	container_of(t, struct guest, timer)->fired++;
}

static void guest_init(struct guest *g, u32 shard)
{
	g->a.ops = &ops;
	INIT_LIST_HEAD(&g->qp);
	assert_int_equal(sem_init(&g->done, 0, 0), 0);
	assert_int_equal(adapter_init(&g->a, f.engine), 0);
	g->a.home = &f.engine->shard[shard];
	g->a.worker = &g->a.home->worker;
	assert_int_equal(timer_init(&g->a.timers, &g->timer, on_timer), 0);
	adapter_add(&g->a);
}

static void guest_fini(struct guest *g)
{
	timer_fini(&g->a.timers, &g->timer);
	adapter_del(&g->a);
	adapter_fini(&g->a);
	sem_destroy(&g->done);
}

static void world(const struct engine_clock *clock)
{
	memset(&f, 0, sizeof(f));
	f.now = 1000;
	f.fabric = fabric_new();
	f.engine = engine_make(clock, f.fabric, SHARDS);
	assert_non_null(f.engine);
	for (u32 i = 0; i < SHARDS; i++)
		guest_init(&f.stays[i], i);
	for (u32 i = 0; i < GUESTS; i++)
		guest_init(&f.goes[i], 0);
}

static void end_world(void)
{
	for (u32 i = 0; i < SHARDS; i++)
		guest_fini(&f.stays[i]);
	for (u32 i = 0; i < GUESTS; i++)
		guest_fini(&f.goes[i]);
	engine_free(f.engine);
	fabric_free(f.fabric);
}

static void *shard_thread(void *arg)
{
	shard_run(arg);
	return NULL;
}

static void start(u32 help)
{
	world(&engine_clock_monotonic);
	engine_set_help(f.engine, help);
	for (u32 i = 0; i < SHARDS; i++)
		assert_int_equal(pthread_create(&f.thread[i], NULL, shard_thread,
						&f.engine->shard[i]), 0);
}

static void stop(void)
{
	engine_stop(f.engine);
	for (u32 i = 0; i < SHARDS; i++)
		assert_int_equal(pthread_join(f.thread[i], NULL), 0);
	end_world();
}

static void ring(struct guest *g, u32 n)
{
	__atomic_fetch_add(&g->rung, n, __ATOMIC_RELEASE);
	adapter_attend(&g->a);
}

static void wait_for(struct guest *g, u32 n)
{
	while (n--)
		while (sem_wait(&g->done))
			;
}

/* ------------------------------------------------------------------------
 * On threads
 */

/* Rings at every phase of adapters' going and of threads' falling asleep. */
static void ring_against_going(u32 help)
{
	u64 rng = 88172645463325252ull;

	start(help);
	for (u32 i = 0; i < ROUNDS; i++) {
		u32 n = 1 + i % 3;

		for (u32 k = 0; k < GUESTS; k++) {
			ring(&f.goes[k], n);
			t_random(&rng);
			for (volatile u32 spin = rng % (4u << (rng >> 32) % 10); spin; spin--)
				;
		}
		for (u32 k = 0; k < GUESTS; k++)
			wait_for(&f.goes[k], n);
	}
	stop();
	assert_int_equal(f.stays[0].got + f.stays[1].got, f.goes[0].sent * GUESTS);
}

static void rings(void **state)
{
	ring_against_going(0);
}

static void rings_with_help(void **state)
{
	ring_against_going(50);
}

/* Nobody works for an adapter while another thread has it; returns what it has sent. */
static u32 hold(struct guest *g)
{
	u32 sent;

	adapter_lock(&g->a);
	sent = g->sent;
	assert_ptr_equal(g->a.worker, &g->a.home->worker);
	assert_false(list_empty(&g->a.node));
	for (volatile u32 spin = 100; spin; spin--)
		;
	assert_int_equal(*(volatile u32 *)&g->sent, sent);
	adapter_unlock(&g->a);
	return sent;
}

/* A thread that wants an adapter finds it, wherever it goes. */
static void locks(void **state)
{
	start(0);
	for (u32 i = 0; i < ROUNDS; i++) {
		struct guest *g = &f.goes[i % GUESTS];
		u32 end = 2 * (i / GUESTS + 1);

		ring(g, 2);
		while (hold(g) < end)
			;
		wait_for(g, 2);
	}
	stop();
}

static void *hold_it(void *arg)
{
	struct guest *g = arg;

	adapter_lock(&g->a);
	f.found = !list_empty(&g->a.node) && g->a.worker == &g->a.home->worker;
	__atomic_store_n(&f.held, true, __ATOMIC_SEQ_CST);
	adapter_unlock(&g->a);
	return NULL;
}

/* It is said to be there, and not in the inbox yet: that is the moment in which it is nowhere. */
static void lock_on_the_way(void **state)
{
	struct shard *from, *to;
	struct guest *g;
	pthread_t t;

	world(&engine_clock_monotonic);
	g = &f.goes[0];
	from = &f.engine->shard[0];
	to = &f.engine->shard[1];
	shard_lock(from);
	list_del_init(&g->a.node);
	__atomic_store_n(&g->a.home, to, __ATOMIC_RELEASE);
	assert_int_equal(pthread_create(&t, NULL, hold_it, g), 0);
	while (!__atomic_load_n(&from->waiters, __ATOMIC_SEQ_CST) &&
	       !__atomic_load_n(&f.held, __ATOMIC_SEQ_CST))
		;
	inbox_put(&to->inbox, &g->a.inbox_link);
	shard_unlock(from);
	assert_int_equal(pthread_join(t, NULL), 0);
	assert_true(f.found);
	end_world();
}

static u32 members(const struct list_head *list)
{
	u32 n = 0;

	list_for_each_safe(l, list)
		n++;
	return n;
}

/* Who stops all of them finds nobody on the way, and no message half sent. */
static void stopped_world(void **state)
{
	start(0);
	for (u32 i = 0; i < ROUNDS; i++) {
		u32 sent = 0, got = 0;

		for (u32 k = 0; k < GUESTS; k++)
			ring(&f.goes[k], 1);
		engine_lock(f.engine);
		assert_int_equal(members(&f.engine->shard[0].adapters) +
				 members(&f.engine->shard[1].adapters), SHARDS + GUESTS);
		for (u32 k = 0; k < GUESTS; k++)
			sent += f.goes[k].sent;
		for (u32 k = 0; k < SHARDS; k++)
			got += f.stays[k].got;
		assert_int_equal(got, sent);
		engine_unlock(f.engine);
		for (u32 k = 0; k < GUESTS; k++)
			wait_for(&f.goes[k], 1);
	}
	stop();
}

/* ---- the inbox alone ---- */

#define PUT	(ROUNDS * 4)
#define PUTTERS	2u

static struct letter {
	struct inbox_link link;
	u32 from, no;
} letter[PUTTERS][PUT];
static struct inbox inbox;

static void *put_all(void *arg)
{
	struct letter *l = arg;

	for (u32 i = 0; i < PUT; i++) {
		l[i].no = i;
		inbox_put(&inbox, &l[i].link);
	}
	return NULL;
}

static void inbox_order(void **state)
{
	u32 next[PUTTERS] = { 0 };
	pthread_t t[PUTTERS];

	for (u32 i = 0; i < PUTTERS; i++) {
		for (u32 k = 0; k < PUT; k++)
			letter[i][k].from = i;
		assert_int_equal(pthread_create(&t[i], NULL, put_all, letter[i]), 0);
	}
	while (next[0] + next[1] < PUTTERS * PUT) {
		for (struct inbox_link *l = inbox_take(&inbox); l; l = l->next) {
			struct letter *it = container_of(l, struct letter, link);

			assert_int_equal(it->no, next[it->from]);
			next[it->from]++;
		}
	}
	assert_true(inbox_empty(&inbox));
	for (u32 i = 0; i < PUTTERS; i++)
		assert_int_equal(pthread_join(t[i], NULL), 0);
}

/* ------------------------------------------------------------------------
 * Step by step
 */
static u64 now(void *arg)
{
	return f.now;
}

/* What it owes, its timers and its work go along; what it has completed is told before. */
static void takes_all_along(void **state)
{
	const struct engine_clock clock = { .now = now };
	struct guest *g;

	world(&clock);
	/* the other one's turn ends its own before the pass ends */
	f.goes[1].rung = 2;
	g = &f.goes[0];
	timer_set(&g->a.timers, &g->timer, 5000);
	g->a.debt = 7;
	/* the first one is for here, the second one for there */
	g->rung = 2;
	assert_int_equal(engine_poll(f.engine), 5000);
	assert_ptr_equal(g->a.home, &f.engine->shard[1]);
	assert_ptr_equal(g->a.worker, &f.engine->shard[1].worker);
	assert_int_equal(f.stays[0].got, 2);
	assert_int_equal(f.stays[1].got, 2);
	assert_int_equal(g->told, 2);
	assert_int_equal(g->strays, 0);
	assert_int_equal(g->a.debt, 7);
	f.now = 5000;
	assert_int_equal(engine_poll(f.engine), ENGINE_NEVER);
	assert_int_equal(g->fired, 1);
	assert_ptr_equal(g->a.home, &f.engine->shard[1]);
	end_world();
}

/* Who is where its peer is does not go. */
static void goes_once(void **state)
{
	const struct engine_clock clock = { .now = now };

	world(&clock);
	for (u32 i = 0; i < GUESTS; i++)
		f.goes[i].rung = 1;
	engine_poll(f.engine);
	for (u32 i = 0; i < GUESTS; i++)
		assert_ptr_equal(f.goes[i].a.home, &f.engine->shard[0]);
	f.goes[2].rung = 1;
	engine_poll(f.engine);
	for (u32 i = 0; i < GUESTS; i++)
		assert_ptr_equal(f.goes[i].a.home, &f.engine->shard[i == 2]);
	assert_int_equal(f.stays[0].got, GUESTS);
	assert_int_equal(f.stays[1].got, 1);
	end_world();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inbox_order),
		cmocka_unit_test(takes_all_along),
		cmocka_unit_test(goes_once),
		cmocka_unit_test(rings),
		cmocka_unit_test(rings_with_help),
		cmocka_unit_test(locks),
		cmocka_unit_test(lock_on_the_way),
		cmocka_unit_test(stopped_world),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

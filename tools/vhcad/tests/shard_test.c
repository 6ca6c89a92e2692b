// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Adapters that move from one thread to another: no news for them gets lost meanwhile, no two
 * threads work for one, and adapters that send to each other meet.
 *
 * The adapters here have no device.  Some are peers, one in each shard at first; the others have
 * messages for each of them in turn.  A message is a store to the memory of both, which only the
 * fact that they are on the same thread protects: the thread sanitizer detects it when they are
 * not.  If a ring, a call or an arrival were ever lost, the test would hang (and be killed).
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

#include "engine/internal.h"
#include "fabric/fabric.h"
#include "tests/cm.h"
#include "tests/trandom.h"

#ifdef __SANITIZE_THREAD__
#define ROUNDS	600u
#else
#define ROUNDS	3000u
#endif

#define SHARDS	3u
#define GUESTS	4u

/**
 * struct guest - an adapter with one QP
 * @a: adapter
 * @qp: on its ready list
 * @rung: messages that the guest has posted; atomic
 * @todo: messages that the adapter knows of
 * @sent: messages that it has sent
 * @next: peer that the next one is for
 * @got: messages from others
 * @told: completions that it was notified of
 * @strays: notifications that came when it had left the engine
 * @fired: its timer has fired
 * @gone: it has left the engine
 * @alone: its guest wants it to work alone; atomic
 * @was_alone: how often it has worked alone
 * @done: posted once for each message, and each time that it was alone
 */
struct guest {
	struct adapter a;
	struct list_head qp;
	u32 rung;
	u32 todo, sent, next, got, told, strays, fired;
	bool gone;
	u32 alone, was_alone;
	struct timer timer;
	sem_t done;
};

static struct fixture {
	u64 now;
	struct fabric *fabric;
	struct engine *engine;
	struct guest peer[SHARDS], goes[GUESTS];
	pthread_t thread[SHARDS];
	bool found, held;		/* by hold_it(); @held is atomic */
} f;

static struct guest *guest_of(struct adapter *a)
{
	return container_of(a, struct guest, a);
}

/* No other thread works meanwhile: all shards are locked, and no message is half sent. */
static void work_alone(struct guest *g)
{
	u32 sent = 0, got = 0;

	for (u32 i = 0; i < SHARDS; i++) {
		assert_int_equal(pthread_mutex_trylock(&f.engine->shard[i].run), EBUSY);
		got += f.peer[i].got;
	}
	for (u32 i = 0; i < GUESTS; i++)
		sent += f.goes[i].sent;
	assert_int_equal(got, sent);
	g->was_alone++;
	sem_post(&g->done);
}

static bool poll_guest(struct adapter *a)
{
	struct guest *g = guest_of(a);
	u32 n;

	if (__atomic_load_n(&g->alone, __ATOMIC_ACQUIRE)) {
		if (!adapter_alone(a))
			return true;
		__atomic_store_n(&g->alone, 0, __ATOMIC_RELAXED);
		work_alone(g);
	}
	n = __atomic_exchange_n(&g->rung, 0, __ATOMIC_ACQUIRE);

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
	const struct guest *g = guest_of(a);

	return __atomic_load_n(&g->rung, __ATOMIC_RELAXED) ||
	       __atomic_load_n(&g->alone, __ATOMIC_RELAXED);
}

static u32 run_guest(struct adapter *a)
{
	struct guest *g = guest_of(a), *to = &f.peer[g->next];

	list_pop(&a->ready);
	/* one that has left the engine gets nothing */
	if (!to->gone && !adapter_meet(a, &to->a)) {
		list_add_tail(&g->qp, &a->away);
		return 1;
	}
	g->sent++;
	g->next = (g->next + 1) % SHARDS;
	g->todo--;
	to->got++;
	adapter_wrote(a);
	sem_post(&g->done);
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

/* How often an adapter had no news when it was asked; atomic. */
static u32 rested;

static bool guest_rests(struct adapter *a)
{
	bool rests = !arm_guest(a);

	__atomic_fetch_add(&rested, rests, __ATOMIC_RELAXED);
	return rests;
}

static const struct adapter_ops ops = {
	.poll = poll_guest, .arm = arm_guest, .run = run_guest, .room = no_room, .tell = tell_guest,
	.rests = guest_rests, .scratch = 8,
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
		guest_init(&f.peer[i], i);
	for (u32 i = 0; i < GUESTS; i++)
		guest_init(&f.goes[i], 0);
}

static void end_world(void)
{
	for (u32 i = 0; i < SHARDS; i++)
		guest_fini(&f.peer[i]);
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

/* Microseconds that a kick's thread helps, and that the engine's look for more. */
static void start_with(u32 help, u32 look)
{
	world(&engine_clock_monotonic);
	engine_set_help(f.engine, help);
	engine_set_spin(f.engine, look);
	for (u32 i = 0; i < SHARDS; i++)
		assert_int_equal(pthread_create(&f.thread[i], NULL, shard_thread,
						&f.engine->shard[i]), 0);
}

static void start(u32 help)
{
	start_with(help, 0);
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

/* An adapter moves to another shard, as if work was spread. */
static void scatter(struct guest *g, u32 shard)
{
	adapter_lock(&g->a);
	if (g->a.home != &f.engine->shard[shard])
		adapter_send_off(&g->a, &f.engine->shard[shard]);
	adapter_unlock(&g->a);
	engine_wake(f.engine);
}

static void scatter_some(u64 *rng)
{
	u32 n = t_random(rng) % (SHARDS + GUESTS), shard = t_random(rng) % SHARDS;

	scatter(n < SHARDS ? &f.peer[n] : &f.goes[n - SHARDS], shard);
}

/* Rings at every phase of adapters' moves and of threads' falling asleep. */
static void ring_against_going(u32 help, u32 look)
{
	u64 rng = 88172645463325252ull;
	u32 sent = 0, got = 0, before = rested;

	start_with(help, look);
	for (u32 i = 0; i < ROUNDS; i++) {
		u32 n = 1 + i % 3;

		for (u32 k = 0; k < GUESTS; k++) {
			ring(&f.goes[k], n);
			t_random(&rng);
			for (volatile u32 spin = rng % (4u << (rng >> 32) % 10); spin; spin--)
				;
			if (!(rng >> 40 & 3))
				scatter_some(&rng);
		}
		for (u32 k = 0; k < GUESTS; k++)
			wait_for(&f.goes[k], n);
	}
	for (u32 i = 0; i < SHARDS; i++)
		got += f.peer[i].got;
	for (u32 i = 0; i < GUESTS; i++)
		sent += f.goes[i].sent;
	stop();
	assert_int_equal(got, sent);
	/* only where threads look for more are there passes enough to be sure */
	assert_true(!look || rested > before);
}

static void rings(void **state)
{
	ring_against_going(0, 0);
}

static void rings_with_help(void **state)
{
	ring_against_going(50, 0);
}

/* Threads that look for more make very many passes: adapters rest all the time. */
static void rings_of_resting(void **state)
{
	ring_against_going(0, 20);
}

/* No thread works for an adapter while another thread has its lock; returns what it has sent. */
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

/* A thread that locks an adapter finds it, wherever it moves. */
static void locks(void **state)
{
	u64 rng = 88172645463325252ull;

	start(0);
	for (u32 i = 0; i < ROUNDS; i++) {
		struct guest *g = &f.goes[i % GUESTS];
		u32 end = SHARDS * (i / GUESTS + 1);

		scatter_some(&rng);
		ring(g, SHARDS);
		while (hold(g) < end)
			;
		wait_for(g, SHARDS);
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

/* Its home is set, and it is not in the inbox yet: at this moment it is in no shard. */
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
	list_del_init(&g->a.awake_node);
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

/* A thread that stops all others finds no adapter between shards, and no message half sent. */
static void stopped_world(void **state)
{
	u64 rng = 88172645463325252ull;

	start(0);
	for (u32 i = 0; i < ROUNDS; i++) {
		u32 sent = 0, got = 0, all = 0;

		for (u32 k = 0; k < GUESTS; k++)
			ring(&f.goes[k], 1);
		scatter_some(&rng);
		engine_lock(f.engine);
		for (u32 k = 0; k < SHARDS; k++)
			all += members(&f.engine->shard[k].adapters);
		assert_int_equal(all, SHARDS + GUESTS);
		for (u32 k = 0; k < GUESTS; k++)
			sent += f.goes[k].sent;
		for (u32 k = 0; k < SHARDS; k++)
			got += f.peer[k].got;
		assert_int_equal(got, sent);
		engine_unlock(f.engine);
		for (u32 k = 0; k < GUESTS; k++)
			wait_for(&f.goes[k], 1);
	}
	stop();
}

/* Adapters of several threads that each want to work alone, while others send and move. */
static void work_that_is_alone(u32 help)
{
	u64 rng = 88172645463325252ull;

	start(help);
	for (u32 i = 0; i < ROUNDS; i++) {
		struct guest *other = &f.peer[i % SHARDS];

		for (u32 k = 0; k < GUESTS; k++)
			ring(&f.goes[k], 2);
		scatter_some(&rng);
		__atomic_store_n(&f.goes[0].alone, 1, __ATOMIC_RELEASE);
		adapter_attend(&f.goes[0].a);
		__atomic_store_n(&other->alone, 1, __ATOMIC_RELEASE);
		adapter_attend(&other->a);
		wait_for(other, 1);
		wait_for(&f.goes[0], 3);
		for (u32 k = 1; k < GUESTS; k++)
			wait_for(&f.goes[k], 2);
	}
	stop();
	assert_int_equal(f.goes[0].was_alone, ROUNDS);
}

static void alone(void **state)
{
	work_that_is_alone(0);
}

static void alone_with_help(void **state)
{
	work_that_is_alone(50);
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

static const struct engine_clock stepped = { .now = now };

static bool is_at(const struct guest *g, u32 shard)
{
	return g->a.home == &f.engine->shard[shard] &&
	       g->a.worker == &f.engine->shard[shard].worker;
}

/* Puts an adapter into a shard before its first step. */
static void put(struct guest *g, u32 shard, u32 peer)
{
	scatter(g, shard);
	engine_poll(f.engine);
	assert_true(is_at(g, shard));
	g->next = peer;
}

/* Its debt, its timers and its work move with it; its completions are notified before. */
static void takes_all_along(void **state)
{
	struct guest *g = &f.goes[0];

	world(&stepped);
	put(g, 1, 1);
	put(&f.goes[1], 1, 1);
	/* the other one's turn ends its own before the pass ends */
	f.goes[1].rung = 1;
	timer_set(&g->a.timers, &g->timer, 5000);
	g->a.debt = 7;
	/*
	 * the first one is for this shard, the second one for a higher number, the third for a
	 * lower
	 */
	g->rung = 3;
	assert_int_equal(engine_poll(f.engine), 5000);
	assert_true(is_at(g, 0));
	assert_int_equal(f.peer[0].got, 1);
	assert_int_equal(f.peer[1].got, 2);
	assert_int_equal(f.peer[2].got, 1);
	assert_int_equal(g->told, 3);
	assert_int_equal(g->strays, 0);
	assert_int_equal(g->a.debt, 7);
	f.now = 5000;
	assert_int_equal(engine_poll(f.engine), ENGINE_NEVER);
	assert_int_equal(g->fired, 1);
	assert_true(is_at(g, 0));
	/* also completions that came while another thread had stopped all */
	adapter_wrote(&g->a);
	put(g, 2, 0);
	assert_int_equal(g->told, 4);
	assert_int_equal(g->strays, 0);
	end_world();
}

/* An adapter that is with its peer does not move, and no other one does. */
static void stays(void **state)
{
	world(&stepped);
	put(&f.goes[0], 2, 2);
	f.goes[0].rung = 1;
	f.goes[1].rung = 1;
	engine_poll(f.engine);
	assert_true(is_at(&f.goes[0], 2));
	assert_true(is_at(&f.peer[2], 2));
	assert_true(is_at(&f.peer[1], 1));
	assert_true(is_at(&f.goes[1], 0));
	assert_int_equal(f.peer[2].got, 1);
	end_world();
}

/* An adapter in a shard with a lower number calls its peer. */
static void calls(void **state)
{
	world(&stepped);
	put(&f.goes[0], 1, 2);
	f.goes[0].rung = 1;
	engine_poll(f.engine);
	assert_true(is_at(&f.goes[0], 1));
	assert_true(is_at(&f.peer[2], 1));
	assert_int_equal(f.peer[2].got, 1);
	assert_int_equal(f.peer[2].a.callers, 0);
	end_world();
}

/* The peer moves to a lower number, for whatever reason: an adapter that has called it follows. */
static void called_by_two(void **state)
{
	world(&stepped);
	put(&f.goes[0], 1, 2);
	put(&f.goes[1], 0, 2);
	f.goes[0].rung = 1;
	shard_poll(&f.engine->shard[1]);
	f.goes[1].rung = 1;
	shard_poll(&f.engine->shard[0]);
	engine_poll(f.engine);
	assert_int_equal(f.peer[2].got, 2);
	for (u32 i = 0; i < 2; i++)
		assert_true(is_at(&f.goes[i], 0));
	assert_true(is_at(&f.peer[2], 0));
	end_world();
}

/* It is called after it has read its callers, and before its new home is set. */
static void called_too_late(void **state)
{
	struct shard *from, *to;
	struct guest *g = &f.peer[2];

	world(&stepped);
	from = &f.engine->shard[2];
	to = &f.engine->shard[1];
	f.goes[0].next = 2;
	shard_lock(from);
	list_del_init(&g->a.awake_node);
	list_del_init(&g->a.node);
	f.goes[0].rung = 1;
	shard_poll(&f.engine->shard[0]);
	__atomic_store_n(&g->a.home, to, __ATOMIC_SEQ_CST);
	inbox_put(&to->inbox, &g->a.inbox_link);
	shard_unlock(from);
	assert_int_equal(g->got, 0);
	engine_poll(f.engine);
	assert_true(is_at(g, 0));
	assert_int_equal(g->got, 1);
	end_world();
}

/* An adapter that waits for one that leaves the engine does not wait for ever. */
static void gone(void **state)
{
	world(&stepped);
	f.goes[0].next = 2;
	f.goes[0].rung = 1;
	shard_poll(&f.engine->shard[0]);
	assert_false(list_empty(&f.goes[0].a.away));
	engine_lock(f.engine);
	adapter_del(&f.peer[2].a);
	f.peer[2].gone = true;
	engine_unlock(f.engine);
	engine_poll(f.engine);
	assert_true(list_empty(&f.goes[0].a.away));
	assert_int_equal(f.goes[0].sent, 1);
	end_world();
}

static void nothing(void *arg, const struct fab_port *from, const struct wire_hdr *h,
		    struct fab_effect *effect)
{
}

/* If packets are handled one by one, all adapters move to one thread, and those that wait too. */
static void gathered(void **state)
{
	world(&stepped);
	put(&f.goes[0], 1, 2);
	f.goes[0].rung = 1;
	shard_poll(&f.engine->shard[1]);
	assert_false(list_empty(&f.goes[0].a.away));
	f.engine->shard[0].asleep = 1;
	engine_lock(f.engine);
	assert_int_equal(fab_set_packet_hook(f.fabric, nothing, NULL), 0);
	engine_unlock(f.engine);
	assert_int_equal(f.engine->shard[0].asleep, 0);
	assert_int_equal(members(&f.engine->shard[0].adapters), SHARDS + GUESTS);
	shard_poll(&f.engine->shard[0]);
	assert_int_equal(f.peer[2].got, 1);
	assert_int_equal(f.goes[0].strays, 0);
	end_world();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inbox_order),
		cmocka_unit_test(takes_all_along),
		cmocka_unit_test(stays),
		cmocka_unit_test(calls),
		cmocka_unit_test(called_by_two),
		cmocka_unit_test(called_too_late),
		cmocka_unit_test(gone),
		cmocka_unit_test(gathered),
		cmocka_unit_test(rings),
		cmocka_unit_test(rings_with_help),
		cmocka_unit_test(rings_of_resting),
		cmocka_unit_test(locks),
		cmocka_unit_test(lock_on_the_way),
		cmocka_unit_test(stopped_world),
		cmocka_unit_test(alone),
		cmocka_unit_test(alone_with_help),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

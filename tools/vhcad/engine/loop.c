// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The loop of a thread that works for adapters, and its sleep.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/internal.h"
#include "fabric/fabric.h"
#include "mem/mem.h"
#include "trace/trace.h"

/*
 * A guest that has kicked so often in a row, each time so soon after it was helped, posts more
 * before long: a thread that looks for it costs less than a kick each time.  It does so until there
 * was nothing for a while.
 */
#define STREAM_KICKS	8u
#define STREAM_GAP_NS	20000u
#define STREAM_SPIN_NS	20000u

/* Packets that are delivered, and timers of each adapter that fire, in one pass. */
#define PASS_PACKETS	64u
#define PASS_TIMERS	64u

/* When the first timer of any adapter fires. */
static u64 next_timer(struct shard *s)
{
	u64 next = TIMER_OFF;

	list_for_each_safe(l, &s->awake)
		next = MIN(next, timers_next(&container_of(l, struct adapter, awake_node)->timers));
	return next;
}

/* When the next packet arrives. */
static u64 next_packet(struct shard *s)
{
	return s->fabric ? fab_next(s->fabric) : ENGINE_NEVER;
}

/*
 * A timer fires after everything that was to happen before it has happened.  Packets that could
 * not be delivered in time are not late; the engine is.
 */
static bool run_timers(struct shard *s)
{
	u64 until = s->worker.now, packets = next_packet(s);
	bool any = false;

	if (packets <= until)
		until = packets ? packets - 1 : 0;
	list_for_each_safe(l, &s->awake) {
		struct adapter *a = container_of(l, struct adapter, awake_node);

		if (a->timers.n)
			any |= timers_run(&a->timers, until, PASS_TIMERS);
	}
	return any;
}

/*
 * The fabric has delivered packets, so adapters that wait for room may go on, and timers may
 * fire.
 */
static bool after_packets(struct shard *s)
{
	u64 next = TIMER_OFF;
	bool any = false;

	list_for_each_safe(l, &s->awake) {
		struct adapter *a = container_of(l, struct adapter, awake_node);

		if (!list_empty(&a->no_room))
			any |= a->ops->room(a);
		next = MIN(next, timers_next(&a->timers));
	}
	if (next <= s->worker.now)
		any |= run_timers(s);
	return any;
}

/*
 * May the fabric be polled?  It delivers to all adapters, so that no thread may work for any of
 * them meanwhile, unless one thread has them all.  Otherwise, if there is something to do, the
 * thread asks for the others to be stopped.
 */
static bool may_poll_fabric(struct shard *s)
{
	struct worker *w = &s->worker;

	if (fabric_is_single(s->fabric))
		return true;
	w->wants_alone |= fab_next(s->fabric) <= w->now;
	return false;
}

static bool poll_adapters(struct shard *s)
{
	bool did = false;

	if (__atomic_load_n(&s->roused, __ATOMIC_RELAXED))
		shard_rouse(s);
	list_for_each_safe(l, &s->awake) {
		struct adapter *a = container_of(l, struct adapter, awake_node);
		bool any = a->ops->poll(a);

		adapter_looked_at(a, any);
		did |= any;
	}
	return did;
}

/* Adapters move to and from this shard. */
static void take_mail(struct shard *s)
{
	struct fabric *f = s->engine->fabric;

	/* only a shard that has adapters sets the time: the fabric's thread may own it alone */
	if (f && !s->fabric && !list_empty(&s->adapters))
		fab_advance(f, s->worker.now);
	shard_take(s);
	if (__atomic_load_n(&s->news, __ATOMIC_RELAXED))
		shard_answer(s);
}

/* Does a little of all kinds of work; true if there may be more. */
static bool pass(struct shard *s)
{
	struct fabric *f = s->fabric;
	struct worker *w = &s->worker;
	bool did;

	w->now = worker_now(w);
	if (f)
		fab_set_now(f, w->now);
	/* the clock is read before this one, so that no adapter's time goes back */
	if (!w->alone)
		take_mail(s);
	gmem_enter();
	did = poll_adapters(s);
	did |= turns_run(s);
	worker_notify(w);
	if (f && (w->alone || may_poll_fabric(s)))
		did |= fab_poll(f, w->now, PASS_PACKETS) > 0;
	did |= after_packets(s);
	worker_notify(w);
	gmem_exit();
	return did || turns_waiting(s) || w->wants_alone;
}

/*
 * Does what must not run while any thread works for an adapter: commands of the shard's adapters
 * that ask for it, and the fabric.  Receivers may be in other shards, whose threads then go on with
 * what they have got.
 */
static void work_alone(struct shard *s)
{
	struct engine *e = s->engine;
	u64 now;

	shard_unlock(s);
	engine_lock(e);
	now = worker_now(&s->worker);
	for (u32 i = 0; i < e->nshards; i++)
		e->shard[i].worker.now = now;
	s->worker.wants_alone = false;
	gmem_enter();
	poll_adapters(s);
	if (s->fabric)
		fab_poll(s->fabric, now, PASS_PACKETS);
	worker_notify(&s->worker);
	gmem_exit();
	/* the other threads look at what their adapters have got */
	for (u32 i = 0; i < e->nshards; i++)
		if (&e->shard[i] != s)
			__atomic_store_n(&e->shard[i].news, true, __ATOMIC_RELAXED);
	engine_unlock(e);
	engine_wake(e);
	shard_lock_in_turn(s);
}

static bool has_mail(const struct shard *s)
{
	return !s->worker.alone &&
	       (!inbox_empty(&s->inbox) || __atomic_load_n(&s->news, __ATOMIC_RELAXED));
}

/* The last look before a sleep; true if there is something to do after all. */
static bool arm_all(struct shard *s)
{
	bool any = false;

	gmem_enter();
	list_for_each_safe(l, &s->awake) {
		struct adapter *a = container_of(l, struct adapter, awake_node);

		any |= a->ops->arm(a);
	}
	gmem_exit();
	/* an adapter that ran out of its time leaves QPs that are not done */
	return any || turns_waiting(s) || has_mail(s) ||
	       __atomic_load_n(&s->roused, __ATOMIC_RELAXED);
}

static inline u64 next_due(struct shard *s)
{
	return MIN(next_timer(s), next_packet(s));
}

/* A pass, and the work that it has left for a time alone; true if there may be more. */
static bool work(struct shard *s)
{
	bool busy = pass(s);

	if (s->worker.wants_alone)
		work_alone(s);
	return busy;
}

bool shard_step(struct shard *s)
{
	bool busy;

	shard_lock(s);
	busy = work(s);
	shard_unlock(s);
	return busy;
}

u64 shard_poll(struct shard *s)
{
	u64 next;

	shard_lock(s);
	do {
		while (work(s))
			;
	} while (arm_all(s));
	if (s->fabric)
		fab_idle(s->fabric);
	next = next_due(s);
	shard_unlock(s);
	return next;
}

/*
 * Declares the thread asleep, unless there is something to do after all.  From then on a thread
 * that brings work sees that it has to wake this one.
 */
static bool fall_asleep(struct shard *s)
{
	__atomic_store_n(&s->asleep, 1, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (arm_all(s) || s->worker.wants_alone ||
	    __atomic_load_n(&s->engine->stop, __ATOMIC_ACQUIRE))
		return false;
	if (s->engine->fabric)
		fab_idle(s->engine->fabric);
	return true;
}

/* May a helping thread go on?  What has to be done alone is left to the shard's own thread. */
static bool may_go_on(const struct shard *s, u64 start)
{
	return s->worker.now - start < s->engine->help_ns && !s->worker.wants_alone;
}

/*
 * Does a guest go on kicking?  Those that wait for each other's answers kick in turns, and are
 * helped best by the threads that their kicks arrive on.
 */
static bool is_stream(struct shard *s, const struct adapter *a, u64 now)
{
	bool again = s->kicker == a && now - s->helped_at < STREAM_GAP_NS;

	s->kicker = a;
	s->kicks = again ? s->kicks + 1 : 0;
	return s->kicks >= STREAM_KICKS;
}

void shard_attend(struct shard *s, const struct adapter *a)
{
	const struct engine *e = s->engine;
	u64 start, begin;
	bool idle;

	if (!e->help_ns || pthread_mutex_trylock(&s->run)) {
		shard_wake(s, WOKEN_BY_GUEST);
		return;
	}
	s->helped++;
	begin = trace_begin();
	start = worker_now(&s->worker);
	s->stream = is_stream(s, a, start);
	do {
		__atomic_store_n(&s->asleep, 0, __ATOMIC_SEQ_CST);
		while (pass(s) && may_go_on(s, start))
			;
		idle = !s->stream && fall_asleep(s);
	} while (!idle && !s->stream && may_go_on(s, start) &&
		 !__atomic_load_n(&e->stop, __ATOMIC_ACQUIRE));
	s->helped_at = worker_now(&s->worker);
	/* only a thread that is declared asleep is woken */
	if (s->stream)
		__atomic_store_n(&s->asleep, 1, __ATOMIC_SEQ_CST);
	/* the thread has work left, or is to look for it, or would sleep for too long */
	idle = idle && next_due(s) >= s->nap_until;
	shard_unlock(s);
	if (begin)
		trace_span(TRACE_PLAIN, trace_thread(), begin, "work for the engine", 0, 0);
	if (!idle)
		shard_wake(s, WOKEN_BY_GUEST);
}

/* What the thread has been waiting for, unless it was woken before. */
static const char *why_asleep(struct shard *s, u64 due)
{
	if (due == ENGINE_NEVER)
		return "sleep: nothing to do";
	if (due == next_packet(s))
		return "sleep: a packet is under way";
	return "sleep: a timer runs";
}

static void trace_nap(struct shard *s, u64 begin, u64 planned, bool woken)
{
	u32 row = trace_thread();

	trace_span(TRACE_SLEEP, row, begin, s->nap_why, planned, 0);
	trace_point(TRACE_PLAIN, row,
		    woken ? __atomic_load_n(&s->woken_by, __ATOMIC_RELAXED) : "woken by the clock",
		    0, 0);
}

/* Sleeps until woken, or until @due; called and left with @run held. */
static void nap(struct shard *s, u64 due)
{
	struct pollfd fd = { .fd = s->wakefd, .events = POLLIN };
	struct timespec ts, *timeout = NULL;
	u64 now = worker_now(&s->worker), count, begin = trace_begin();
	bool woken;

	s->nap_until = due;
	s->nap_why = why_asleep(s, due);
	s->sleeps++;
	if (due != ENGINE_NEVER) {
		u64 wait = due > now ? due - now : 0;

		ts.tv_sec = wait / 1000000000;
		ts.tv_nsec = wait % 1000000000;
		timeout = &ts;
	}
	shard_unlock(s);
	woken = ppoll(&fd, 1, timeout, NULL) > 0;
	if (woken && read(s->wakefd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		abort();
	if (begin)
		trace_nap(s, begin, due > now && due != ENGINE_NEVER ? due - now : 0, woken);
	shard_lock_in_turn(s);
	s->napped += worker_now(&s->worker) - now;
}

void shard_run(struct shard *s)
{
	const struct engine *e = s->engine;
	u64 idle_since = 0, spin_ns;

	shard_lock_in_turn(s);
	s->since = worker_now(&s->worker);
	while (!__atomic_load_n(&e->stop, __ATOMIC_ACQUIRE)) {
		bool busy = work(s);

		if (e->nshards > 1)
			shard_spread(s);
		if (__atomic_load_n(&s->waiters, __ATOMIC_RELAXED)) {
			shard_unlock(s);
			shard_lock_in_turn(s);
		}
		if (busy) {
			idle_since = 0;
			continue;
		}
		spin_ns = s->stream ? MAX(e->spin_ns, STREAM_SPIN_NS) : e->spin_ns;
		if (spin_ns) {
			if (!idle_since)
				idle_since = s->worker.now;
			if (s->worker.now - idle_since < spin_ns) {
				s->napped += worker_now(&s->worker) - s->worker.now;
				continue;
			}
			idle_since = 0;
			s->stream = false;
		}
		if (fall_asleep(s))
			nap(s, next_due(s));
		__atomic_store_n(&s->asleep, 0, __ATOMIC_SEQ_CST);
	}
	shard_unlock(s);
}

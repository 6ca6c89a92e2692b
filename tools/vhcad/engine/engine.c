// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The engine's loop, its sleep, and how other threads get between its slices.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "engine/internal.h"
#include "fabric/fabric.h"
#include "mem/mem.h"
#include "trace/trace.h"

/* How long the thread that a kick arrives on works at the most, see engine_attend(). */
#define HELP_USEC	50u
/* Packets that are delivered, and timers of each adapter that fire, in one pass. */
#define PASS_PACKETS	64u
#define PASS_TIMERS	64u

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
	e->wakefd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (e->wakefd < 0) {
		free(e);
		return NULL;
	}
	if (fabric)
		fabric_set_wake(fabric, wake, e);
	e->worker.clock = *clock;
	e->fabric = fabric;
	e->help_ns = HELP_USEC * 1000ull;
	INIT_LIST_HEAD(&e->adapters);
	INIT_LIST_HEAD(&e->ready);
	INIT_LIST_HEAD(&e->worker.untold);
	pthread_mutex_init(&e->run, NULL);
	pthread_mutex_init(&e->gate, NULL);
	return e;
}

void engine_free(struct engine *e)
{
	if (!e)
		return;
	free(e->worker.scratch);
	pthread_mutex_destroy(&e->run);
	pthread_mutex_destroy(&e->gate);
	close(e->wakefd);
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

/*
 * The gate makes @run fair: who waits for @run holds the gate, so the engine,
 * which passes the gate as well, comes behind those that were there first.
 */
static void take_turn(struct engine *e)
{
	u64 begin = trace_begin();

	pthread_mutex_lock(&e->gate);
	pthread_mutex_lock(&e->run);
	pthread_mutex_unlock(&e->gate);
	if (begin)
		trace_span(TRACE_PLAIN, trace_thread(), begin, "wait: the engine's lock", 0, 0);
}

void engine_lock(struct engine *e)
{
	__atomic_fetch_add(&e->waiters, 1, __ATOMIC_RELAXED);
	take_turn(e);
	__atomic_fetch_sub(&e->waiters, 1, __ATOMIC_RELAXED);
}

void engine_unlock(struct engine *e)
{
	pthread_mutex_unlock(&e->run);
}

void engine_wake(struct engine *e)
{
	const u64 one = 1;

	/* what the caller changed must be visible before asleep is read */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&e->asleep, __ATOMIC_RELAXED) &&
	    __atomic_exchange_n(&e->asleep, 0, __ATOMIC_SEQ_CST)) {
		__atomic_fetch_add(&e->wakes, 1, __ATOMIC_RELAXED);
		if (tracing())
			trace_point(TRACE_PLAIN, trace_thread(), "wake the engine", 0, 0);
		while (write(e->wakefd, &one, sizeof(one)) < 0 && errno == EINTR)
			;
	}
}

void engine_stop(struct engine *e)
{
	__atomic_store_n(&e->stop, true, __ATOMIC_SEQ_CST);
	engine_wake(e);
}

void engine_status(const struct engine *e, struct engine_status *st)
{
	*st = (struct engine_status){
		.sleeps = e->sleeps,
		.wakes = __atomic_load_n(&e->wakes, __ATOMIC_RELAXED),
		.helped = e->helped,
		.why = __atomic_load_n(&e->asleep, __ATOMIC_RELAXED) ? e->nap_why : "works",
	};
}

struct fabric *engine_fabric(const struct engine *e)
{
	return e->fabric;
}

/* When the first timer of any adapter fires. */
static u64 next_timer(struct engine *e)
{
	u64 next = TIMER_OFF;

	list_for_each_safe(l, &e->adapters)
		next = MIN(next, timers_next(&container_of(l, struct adapter, node)->timers));
	return next;
}

/*
 * A timer fires after everything that was to happen before it has happened.  Packets that could
 * not be delivered in time are not late; the engine is.
 */
static bool run_timers(struct engine *e)
{
	u64 until = e->worker.now, packets = fab_next(e->fabric);
	bool any = false;

	if (packets <= until)
		until = packets ? packets - 1 : 0;
	list_for_each_safe(l, &e->adapters) {
		struct adapter *a = container_of(l, struct adapter, node);

		if (a->timers.n)
			any |= timers_run(&a->timers, until, PASS_TIMERS);
	}
	return any;
}

/*
 * The fabric has delivered packets, so adapters that wait for room may go on, and timers may
 * fire.
 */
static bool after_packets(struct engine *e)
{
	u64 next = TIMER_OFF;
	bool any = false;

	list_for_each_safe(l, &e->adapters) {
		struct adapter *a = container_of(l, struct adapter, node);

		if (!list_empty(&a->no_room))
			any |= a->ops->room(a);
		next = MIN(next, timers_next(&a->timers));
	}
	if (next <= e->worker.now)
		any |= run_timers(e);
	return any;
}

/* Does a little of all kinds of work; true if there may be more. */
static bool pass(struct engine *e)
{
	struct worker *w = &e->worker;
	bool did = false;

	w->now = worker_now(w);
	fab_set_now(e->fabric, w->now);
	gmem_enter();
	list_for_each_safe(l, &e->adapters) {
		struct adapter *a = container_of(l, struct adapter, node);

		did |= a->ops->poll(a);
	}
	did |= turns_run(e);
	worker_notify(w);
	did |= fab_poll(e->fabric, w->now, PASS_PACKETS) > 0;
	did |= after_packets(e);
	worker_notify(w);
	gmem_exit();
	return did || turns_waiting(e);
}

/* The last look before a sleep; true if there is something to do after all. */
static bool arm_all(struct engine *e)
{
	bool any = false;

	gmem_enter();
	list_for_each_safe(l, &e->adapters) {
		struct adapter *a = container_of(l, struct adapter, node);

		any |= a->ops->arm(a);
	}
	gmem_exit();
	/* an adapter that ran out of its time leaves QPs that are not done */
	return any || turns_waiting(e);
}

static u64 next_due(struct engine *e)
{
	return MIN(next_timer(e), fab_next(e->fabric));
}

u64 engine_poll(struct engine *e)
{
	u64 next;

	engine_lock(e);
	do {
		while (pass(e))
			;
	} while (arm_all(e));
	fab_idle(e->fabric);
	next = next_due(e);
	engine_unlock(e);
	return next;
}

/*
 * Declares the engine asleep, unless there is something to do after all.  From
 * then on whoever brings work sees that nobody is awake.
 */
static bool fall_asleep(struct engine *e)
{
	__atomic_store_n(&e->asleep, 1, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (arm_all(e) || __atomic_load_n(&e->stop, __ATOMIC_ACQUIRE))
		return false;
	fab_idle(e->fabric);
	return true;
}

void engine_attend(struct engine *e)
{
	u64 start, begin;
	bool idle;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&e->asleep, __ATOMIC_RELAXED))
		return;
	if (!e->help_ns || pthread_mutex_trylock(&e->run)) {
		engine_wake(e);
		return;
	}
	e->helped++;
	begin = trace_begin();
	start = worker_now(&e->worker);
	do {
		__atomic_store_n(&e->asleep, 0, __ATOMIC_SEQ_CST);
		while (pass(e) && e->worker.now - start < e->help_ns)
			;
		idle = fall_asleep(e);
	} while (!idle && e->worker.now - start < e->help_ns &&
		 !__atomic_load_n(&e->stop, __ATOMIC_ACQUIRE));
	/* the engine's thread has work left, or would sleep for too long */
	idle = idle && next_due(e) >= e->nap_until;
	engine_unlock(e);
	if (begin)
		trace_span(TRACE_PLAIN, trace_thread(), begin, "work for the engine", 0, 0);
	if (!idle)
		engine_wake(e);
}

/* What the engine has been waiting for, unless it was woken before. */
static const char *why_asleep(struct engine *e, u64 due)
{
	if (due == ENGINE_NEVER)
		return "sleep: nothing to do";
	return due == fab_next(e->fabric) ? "sleep: a packet is under way" : "sleep: a timer runs";
}

/* Sleeps until woken or until due; called and left with @run held. */
static void nap(struct engine *e, u64 due)
{
	struct pollfd fd = { .fd = e->wakefd, .events = POLLIN };
	struct timespec ts, *timeout = NULL;
	u64 now = worker_now(&e->worker), count, begin = trace_begin();

	e->nap_until = due;
	e->nap_why = why_asleep(e, due);
	e->sleeps++;
	if (due != ENGINE_NEVER) {
		u64 wait = due > now ? due - now : 0;

		ts.tv_sec = wait / 1000000000;
		ts.tv_nsec = wait % 1000000000;
		timeout = &ts;
	}
	engine_unlock(e);
	if (ppoll(&fd, 1, timeout, NULL) > 0 &&
	    read(e->wakefd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		abort();
	if (begin)
		trace_span(TRACE_SLEEP, trace_thread(), begin, e->nap_why,
			   due > now && due != ENGINE_NEVER ? due - now : 0, 0);
	take_turn(e);
}

void engine_run(struct engine *e)
{
	u64 idle_since = 0;

	take_turn(e);
	while (!__atomic_load_n(&e->stop, __ATOMIC_ACQUIRE)) {
		bool busy = pass(e);

		if (__atomic_load_n(&e->waiters, __ATOMIC_RELAXED)) {
			engine_unlock(e);
			take_turn(e);
		}
		if (busy) {
			idle_since = 0;
			continue;
		}
		if (e->spin_ns) {
			if (!idle_since)
				idle_since = e->worker.now;
			if (e->worker.now - idle_since < e->spin_ns)
				continue;
			idle_since = 0;
		}
		if (fall_asleep(e))
			nap(e, next_due(e));
		__atomic_store_n(&e->asleep, 0, __ATOMIC_SEQ_CST);
	}
	engine_unlock(e);
}

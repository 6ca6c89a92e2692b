// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A shard: a thread's adapters, and how other threads run between its slices, wake it, and hand
 * adapters to it.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "engine/internal.h"
#include "trace/trace.h"

int shard_init(struct shard *s, struct engine *e, const struct engine_clock *clock)
{
	s->wakefd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->wakefd < 0)
		return -1;
	s->engine = e;
	s->worker.clock = *clock;
	s->worker.turn_ns = TURN_NS;
	INIT_LIST_HEAD(&s->worker.untold);
	INIT_LIST_HEAD(&s->adapters);
	INIT_LIST_HEAD(&s->awake);
	INIT_LIST_HEAD(&s->ready);
	pthread_mutex_init(&s->run, NULL);
	pthread_mutex_init(&s->gate, NULL);
	return 0;
}

void shard_fini(struct shard *s)
{
	free(s->worker.scratch);
	pthread_mutex_destroy(&s->run);
	pthread_mutex_destroy(&s->gate);
	close(s->wakefd);
}

/*
 * The gate makes @run fair: a thread that waits for @run holds the gate, so the shard's thread,
 * which takes the gate as well, queues behind those that were there first.
 */
void shard_lock_in_turn(struct shard *s)
{
	u64 begin = trace_begin();

	pthread_mutex_lock(&s->gate);
	pthread_mutex_lock(&s->run);
	pthread_mutex_unlock(&s->gate);
	if (begin)
		trace_span(TRACE_PLAIN, trace_thread(), begin, "wait: the engine's lock", 0, 0);
}

void shard_lock(struct shard *s)
{
	__atomic_fetch_add(&s->waiters, 1, __ATOMIC_RELAXED);
	shard_lock_in_turn(s);
	__atomic_fetch_sub(&s->waiters, 1, __ATOMIC_RELAXED);
}

void shard_unlock(struct shard *s)
{
	pthread_mutex_unlock(&s->run);
}

void shard_wake(struct shard *s, const char *by)
{
	const u64 one = 1;

	/* what the caller changed must be visible before asleep is read */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&s->asleep, __ATOMIC_RELAXED) &&
	    __atomic_exchange_n(&s->asleep, 0, __ATOMIC_SEQ_CST)) {
		__atomic_fetch_add(&s->wakes, 1, __ATOMIC_RELAXED);
		if (tracing())
			trace_point(TRACE_PLAIN, trace_thread(), "wake the engine", 0, 0);
		__atomic_store_n(&s->woken_by, by, __ATOMIC_RELAXED);
		while (write(s->wakefd, &one, sizeof(one)) < 0 && errno == EINTR)
			;
	}
}

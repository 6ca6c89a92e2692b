/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The engine's inside, for the files of this folder.
 */
#ifndef VHCAD_ENGINE_INTERNAL_H
#define VHCAD_ENGINE_INTERNAL_H

#include <pthread.h>

#include "engine/adapter.h"

/* Shards share no cache line, nor a pair of lines that are fetched together. */
#define SHARD_ALIGN	128u

/**
 * struct shard - a thread, those that help it, and the adapters they work for
 * @engine: the engine it is part of
 * @number: from 0
 * @fabric: what it runs beside its adapters; NULL: another shard does
 * @worker: state of the thread that works for the shard, which is one at a time
 * @adapters: those that are in this shard
 * @awake: those of them that passes look at, see rest.c
 * @ready: adapters that wait for a turn, in the order of their last ones
 * @served: turns so far
 * @turn: the adapter that is working, or was last; it is not on @ready
 * @moved: the adapter that was the last to do more than acknowledge; only to be compared with
 * @moved_cost: what its turn has cost if it had no more to do, otherwise SLICE_BYTES
 * @run: held while a thread works; protects all that follows and the adapters, except what is
 *	atomic
 * @gate: held by the thread that takes @run next
 * @waiters: threads in shard_lock(); atomic
 * @inbox: adapters that come from other shards
 * @news: an adapter is leaving, is called, or has moved elsewhere; atomic
 * @roused: an adapter that rests has news; atomic
 * @load: part of the time since @since in which it has worked, in thousandths; atomic
 * @since: when the measurement of @load began
 * @napped: nanoseconds since then in which it has slept, or found nothing to do
 * @wakefd: eventfd that ends the thread's sleep
 * @asleep: the thread is in ppoll(), or about to enter it; atomic
 * @nap_until: when the sleeping thread wakes by itself
 * @nap_why: what it waits for
 * @woken_by: which thread has woken it last, for the trace; atomic
 * @kicker: the adapter that was the last to be helped; only to be compared with
 * @kicks: how often it was in a row, soon after each other
 * @helped_at: when that ended
 * @stream: the thread looks for more of it, and does not sleep at once
 * @sleeps: how often it has slept
 * @helped: how often another thread has worked in its place
 * @wakes: how often it was woken; atomic
 */
struct shard {
	struct engine *engine;
	u32 number;
	struct fabric *fabric;
	struct worker worker;
	struct list_head adapters;
	struct list_head awake;
	struct list_head ready;
	u64 served;
	struct adapter *turn;
	const struct adapter *moved;
	u32 moved_cost;

	pthread_mutex_t run;
	pthread_mutex_t gate;
	u32 waiters;
	struct inbox inbox;
	bool news;
	bool roused;
	u32 load;
	u64 since;
	u64 napped;
	int wakefd;
	u32 asleep;
	u64 nap_until;
	const char *nap_why;
	const char *woken_by;
	const struct adapter *kicker;
	u32 kicks;
	u64 helped_at;
	bool stream;
	u64 sleeps;
	u64 helped;
	u64 wakes;
} __attribute__((aligned(SHARD_ALIGN)));

/**
 * struct engine - what all threads have in common
 * @fabric: what the adapters are plugged into
 * @stop: engine_run() is to return; atomic
 * @spin_ns: how long a thread looks for work before it sleeps
 * @help_ns: how long adapter_attend() works at the most
 * @nshards: threads, each with
 * @shard: its adapters; all begin in the first
 */
struct engine {
	struct fabric *fabric;
	bool stop;
	u64 spin_ns;
	u64 help_ns;
	u32 nshards;
	struct shard shard[];
};

/* shard.c */
/** shard_init() - a shard, all zero, gets no adapters yet; 0, or -1 with errno set */
int shard_init(struct shard *s, struct engine *e, const struct engine_clock *clock);

/** shard_fini() - undoes shard_init(); the shard has no adapters any more */
void shard_fini(struct shard *s);

/** shard_lock_in_turn() - shard_lock() of the shard's own thread, which lets others go first */
void shard_lock_in_turn(struct shard *s);

/** shard_lock() - keep the shard's thread off its adapters; waits for the current slice to end */
void shard_lock(struct shard *s);

/** shard_unlock() - let it go on */
void shard_unlock(struct shard *s);

/** shard_open() - shard_take() of an inbox that is not empty */
void shard_open(struct shard *s);

/** shard_take() - take over adapters that have moved to this shard; under its lock */
static inline void shard_take(struct shard *s)
{
	if (!inbox_empty(&s->inbox))
		shard_open(s);
}

/* Who has woken a thread, in the words of the trace. */
#define WOKEN_BY_GUEST		"woken by a guest"
#define WOKEN_BY_CONTROL	"woken by a change"
#define WOKEN_BY_FABRIC		"woken by a packet"
#define WOKEN_BY_SHARD		"woken by another engine"

/** shard_wake() - there may be work; any thread.  @by: WOKEN_BY_* */
void shard_wake(struct shard *s, const char *by);

/* meet.c */
/** shard_answer() - adapters move to where they want to, or are called to; under its lock */
void shard_answer(struct shard *s);
/** adapter_send_off() - let an adapter move to another shard when the next pass begins */
void adapter_send_off(struct adapter *a, struct shard *to);
/**
 * engine_forget() - an adapter has left the engine: no other one remembers it, or waits for it; all
 * shards are locked
 */
void engine_forget(struct engine *e);
/** engine_gather() - move all adapters to the first shard; all shards are locked */
void engine_gather(struct engine *e);

/* spread.c */
/** shard_spread() - now and then, move some of many adapters to a shard that has less to do */
void shard_spread(struct shard *s);

/* turn.c */
/** turns_run() - let adapters have about a slice's worth of turns; true if any had one */
bool turns_run(struct shard *s);

/** turns_waiting() - is there an adapter that has work? */
bool turns_waiting(const struct shard *s);

/* rest.c */
/** adapter_looked_at() - a pass has looked at an adapter that is awake; @any: it had news */
void adapter_looked_at(struct adapter *a, bool any);

/** shard_rouse() - look which of those that rest have news; under the shard's lock */
void shard_rouse(struct shard *s);

/**
 * shard_call() - there is news for an adapter that may rest
 * @s: its shard
 * @a: adapter
 *
 * Context: Any thread.  It has executed a full barrier behind the news.
 */
void shard_call(struct shard *s, const struct adapter *a);

/* loop.c */
/**
 * shard_attend() - there is work for a thread that sleeps, and the caller has time
 * @s: shard
 * @a: the adapter that there is work for
 *
 * See adapter_attend().
 */
void shard_attend(struct shard *s, const struct adapter *a);

/** shard_step() - a pass of one shard; true if there may be more to do */
bool shard_step(struct shard *s);

/** shard_poll() - engine_poll(), for one shard */
u64 shard_poll(struct shard *s);

/** shard_run() - the body of the shard's thread; until the engine is to stop */
void shard_run(struct shard *s);

#endif /* VHCAD_ENGINE_INTERNAL_H */

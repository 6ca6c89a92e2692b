/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * An adapter as the engine sees it: something that can be polled, armed, run and notified.
 *
 * What is in struct adapter belongs to the adapter: a thread that works for it holds its lock, see
 * adapter_lock().
 */
#ifndef VHCAD_ENGINE_ADAPTER_H
#define VHCAD_ENGINE_ADAPTER_H

#include "engine/worker.h"
#include "lib/inbox.h"
#include "lib/timer.h"

struct adapter;
struct shard;

/* Number of adapters that an adapter has sent to and that it remembers, see spread.c. */
#define ADAPTER_MET	6u

/**
 * struct adapter_ops - what the engine asks of an adapter
 * @poll: look for news from the guest, doorbells and commands; true if there were any, or some
 *	may be left
 * @arm: last look before a sleep: from now on news wake the engine; true if some have come, or
 *	are left
 * @run: have a turn: work for what is on the ready list, about SLICE_BYTES' worth; returns what
 *	that has cost, in bytes
 * @room: the fabric has delivered packets: move those ports on the no_room list that have room now
 *	to the ready list; true if anything was moved
 * @tell: notify the guest of completions.  The caller has executed a full barrier behind them
 * @rests: is there nothing that @poll would find, nor would later, unless adapter_attend() is
 *	called?  NULL: it wants to be polled in every pass
 * @leave: it moves to another thread: the worker gives back what belongs to the adapter.  NULL:
 *	there is nothing to give back
 * @scratch: bytes of memory, zeroed, that a worker has for such adapters
 */
struct adapter_ops {
	bool (*poll)(struct adapter *a);
	bool (*arm)(struct adapter *a);
	u32 (*run)(struct adapter *a);
	bool (*room)(struct adapter *a);
	void (*tell)(struct adapter *a);
	bool (*rests)(struct adapter *a);
	void (*leave)(struct adapter *a);
	size_t scratch;
};

/**
 * struct adapter - the engine's part of an adapter
 * @ops: set by the owner before adapter_add()
 * @engine: engine that it was added to
 * @home: the shard (thread) that it belongs to, or is moving to; atomic
 * @going: the shard that it moves to when the next pass begins; NULL: it stays
 * @callers: shards that wait for it to come, a bit for each shard's number; atomic
 * @inbox_link: in the inbox of the shard that it moves to
 * @worker: of the thread that has it; written atomically, as others compare it with their own
 * @node: on @home's list of adapters
 * @awake_node: on @home's list of adapters that a pass looks at
 * @resting: it is not, see rest.c; written by the thread that has it, or its lock; atomic
 * @quiet: passes that have found no news since there were some, as far as they count
 * @ready_node: on @home's list of adapters that wait for a turn
 * @has_turn: it has the turn, or had it last
 * @served: number of its last turn
 * @untold_node: on a worker's list of adapters with completions to tell of
 * @ready: QPs that have work, in the order of their turns
 * @no_room: ports with QPs that wait for room in the fabric
 * @away: QPs whose receivers are with other threads
 * @met: adapters that it has sent to since work was spread last; @nmet of them
 * @met_last: the last one; it is in @met, or
 * @met_many: there are more than fit
 * @timers: all timers of the adapter
 * @debt: nanoseconds that it has worked beyond its turns
 * @turns: that it has had
 * @worked: nanoseconds that work for it has taken
 * @worked_then: what @worked was when work was spread last
 * @group: while work is being spread: the first adapter of its group, those that send to each other
 * @trace_row: of its turns
 */
struct adapter {
	const struct adapter_ops *ops;
	struct engine *engine;
	struct shard *home;
	struct shard *going;
	u64 callers;
	struct inbox_link inbox_link;
	struct worker *worker;
	struct list_head node;
	struct list_head awake_node;
	bool resting;
	u8 quiet;
	struct list_head ready_node;
	bool has_turn;
	u64 served;
	struct list_head untold_node;
	struct list_head ready;
	struct list_head no_room;
	struct list_head away;
	struct adapter *met[ADAPTER_MET];
	struct adapter *met_last;
	u32 nmet;
	bool met_many;
	struct timers timers;
	u64 debt;
	u64 turns;
	u64 worked;
	u64 worked_then;
	struct adapter *group;
	u32 trace_row;
};

/**
 * adapter_init() - prepare an adapter whose ops are set
 * @a: adapter
 * @e: engine that is to work for it
 *
 * Context: under engine_lock().
 * Return: 0 or -ENOMEM.  adapter_fini() must follow on success.
 */
int adapter_init(struct adapter *a, struct engine *e);

/** adapter_fini() - free what adapter_init() has made; the adapter is not, or no more, added */
void adapter_fini(struct adapter *a);

/** adapter_add() - from now on the engine polls and runs the adapter */
void adapter_add(struct adapter *a);

/** adapter_del() - the engine forgets an adapter that has nothing left to do */
void adapter_del(struct adapter *a);

/**
 * adapter_lock() - keep the engine off an adapter
 * @a: adapter
 *
 * For what is the adapter's alone; engine_lock() is for what concerns others, or the fabric.
 * Waits for the current slice to end.  Does not nest.
 *
 * Context: Any thread that does not work for adapters.
 */
void adapter_lock(struct adapter *a);

/** adapter_unlock() - let the engine go on */
void adapter_unlock(struct adapter *a);

/**
 * adapter_attend() - there is work for an adapter, and the caller has time
 * @a: adapter
 *
 * If its thread sleeps, the caller does the work itself for some microseconds: a thread that is
 * awake is worth more than one that has to be woken.  What is left goes to the adapter's thread,
 * which also takes over from a guest that goes on kicking.
 * The caller holds no lock that vdev_host_ops or the log take.
 *
 * Context: Any thread that does not work for adapters.
 */
void adapter_attend(struct adapter *a);

/* rest.c */
/** adapter_end_rest() - adapter_rouse() of an adapter that rests, or comes to a shard */
void adapter_end_rest(struct adapter *a);

/**
 * adapter_rouse() - something has happened to an adapter: passes look at it
 * @a: adapter
 *
 * Context: The thread that works for the adapter, or that holds its lock.
 */
static inline void adapter_rouse(struct adapter *a)
{
	if (a->resting)
		adapter_end_rest(a);
}

/* meet.c */
/** adapter_seek() - adapter_meet() of an adapter that another thread has */
void adapter_seek(struct adapter *a, struct adapter *b);
/** adapter_note() - @a has sent to @b, see spread.c */
void adapter_note(struct adapter *a, struct adapter *b);
/** adapter_forget() - forget the adapters that an adapter has sent to */
void adapter_forget(struct adapter *a);

/** adapter_home() - the thread that an adapter is with, or on its way to; any thread */
static inline struct shard *adapter_home(const struct adapter *a)
{
	return __atomic_load_n(&a->home, __ATOMIC_SEQ_CST);
}

/** adapter_is_near() - may an adapter that is being worked for touch another one? */
static inline bool adapter_is_near(const struct adapter *a, const struct adapter *b)
{
	/*
	 * Only the thread that works for an adapter changes its home and its worker, so that both
	 * stay while they are equal to ours.  When an adapter comes back, its worker changes before
	 * its home.
	 */
	return a->worker->alone || a == b ||
	       (__atomic_load_n(&b->home, __ATOMIC_ACQUIRE) == a->home &&
		__atomic_load_n(&b->worker, __ATOMIC_RELAXED) == a->worker);
}

/**
 * adapter_meet() - an adapter that is being worked for is about to send to another one
 * @a: the sender
 * @b: the receiver
 *
 * Return: true if it may.  Otherwise the two are moving to one shard, and when they may have met,
 * the QPs on the sender's list @away are run again.
 */
static inline bool adapter_meet(struct adapter *a, struct adapter *b)
{
	if (a->worker->alone)
		return true;
	if (!adapter_is_near(a, b)) {
		adapter_seek(a, b);
		return false;
	}
	if (a->met_last != b && a != b)
		adapter_note(a, b);
	return true;
}

/**
 * adapter_alone() - is no thread working for any other adapter?
 * @a: adapter that is being worked for
 *
 * Commands that change the fabric, or other adapters, ask this first.
 *
 * Return: true if none is.  Otherwise the adapter's thread stops the others as soon as the pass is
 * over, and polls the adapter then.
 */
static inline bool adapter_alone(const struct adapter *a)
{
	a->worker->wants_alone |= !a->worker->alone;
	return a->worker->alone;
}

/** adapter_queue() - adapter_ready() for an adapter that waits for no turn yet */
void adapter_queue(struct adapter *a);

/** adapter_ready() - something was put on the ready list */
static inline void adapter_ready(struct adapter *a)
{
	if (list_empty(&a->ready_node) && !a->has_turn)
		adapter_queue(a);
}

/** adapter_idle() - the ready list may have become empty: then the adapter needs no turn */
static inline void adapter_idle(struct adapter *a)
{
	if (list_empty(&a->ready))
		list_del_init(&a->ready_node);
}

/** adapter_behind() - whose turn follows that of an adapter that works or waits; NULL: nobody's */
struct adapter *adapter_behind(const struct adapter *a);

/** adapter_wrote() - the adapter has completions to notify its guest of */
void adapter_wrote(struct adapter *a);

/** adapter_now() - the time, in nanoseconds, exactly */
static inline u64 adapter_now(const struct adapter *a)
{
	return worker_now(a->worker);
}

/**
 * struct adapter_status - what an adapter does, and what it waits for
 * @thread: number of the thread that it is with
 * @turns: that it has had
 * @worked: nanoseconds that work for it has taken
 * @owed: nanoseconds that it has worked beyond its turns
 * @qps: QPs that have work, at most ADAPTER_COUNTED
 * @timers: timers that run
 * @why: what it waits for, in a few words
 */
struct adapter_status {
	u32 thread;
	u64 turns, worked, owed;
	u32 qps, timers;
	const char *why;
};

#define ADAPTER_COUNTED	100u

/** adapter_status() - fills in @st; under engine_lock() */
void adapter_status(const struct adapter *a, struct adapter_status *st);

/**
 * cost_add() - charge an adapter for the time since the last charge
 * @a: adapter that has caused the work
 * @free_ns: nanoseconds of it that are not charged
 *
 * Return: nanoseconds that the work has taken, DEBT_MAX at most; 0 where time is not measured.
 */
u64 cost_add(struct adapter *a, u64 free_ns);

#endif /* VHCAD_ENGINE_ADAPTER_H */

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The engine: threads, mostly one, that do the work of all HCAs of the daemon.
 *
 * They run doorbells, admin queues, queue pairs, timers and the fabric's
 * queues in slices, round robin, and each sleeps in one place when there is
 * nothing to do.  Unit tests call engine_poll() instead of starting a thread.
 * Documentation/hw/threads.rst has how several share the work.
 */
#ifndef VHCAD_ENGINE_H
#define VHCAD_ENGINE_H

#include "lib/types.h"

struct engine;
struct fabric;

#define ENGINE_NEVER	UINT64_MAX

/**
 * struct engine_clock - where the engine's time comes from
 * @now: nanoseconds, never going back
 * @spent: nanoseconds that work has taken, by which adapters are charged; cheap.  NULL: what
 *	they do is charged by its size alone, so that the order of things follows from @now
 * @arg: given to both
 */
struct engine_clock {
	u64 (*now)(void *arg);
	u64 (*spent)(void *arg);
	void *arg;
};

/* CLOCK_MONOTONIC; the only clock that engine_run() may be used with. */
extern const struct engine_clock engine_clock_monotonic;

/**
 * engine_new() - make an engine
 * @clock: time source; copied
 * @fabric: what its HCAs are plugged into; must outlive the engine
 *
 * Returns NULL with errno set.
 */
struct engine *engine_new(const struct engine_clock *clock, struct fabric *fabric);

/* Threads of an engine, at the most. */
#define ENGINE_THREADS	64u

/**
 * engine_make() - engine_new(), of several threads
 * @clock: as there
 * @fabric: as there
 * @threads: 1 to ENGINE_THREADS
 *
 * Returns NULL with errno set.
 */
struct engine *engine_make(const struct engine_clock *clock, struct fabric *fabric, u32 threads);

/**
 * engine_free() - free an engine
 * @e: engine without devices, not running; or NULL
 */
void engine_free(struct engine *e);

/**
 * engine_set_spin() - look for work that long before sleeping
 * @e: engine, not running
 * @usec: microseconds; 0 (the default): sleep at once
 */
void engine_set_spin(struct engine *e, u32 usec);

/**
 * engine_run() - the body of the engine's first thread
 * @e: engine
 *
 * Returns after engine_stop().
 */
void engine_run(struct engine *e);

/**
 * engine_run_thread() - the body of one of its threads
 * @e: engine
 * @number: from 0
 *
 * All of them have to run.  Returns after engine_stop().
 */
void engine_run_thread(struct engine *e, u32 number);

/**
 * engine_stop() - make its threads return
 * @e: engine
 *
 * Any thread, or a signal handler.
 */
void engine_stop(struct engine *e);

/**
 * engine_wake() - there may be work
 * @e: engine
 *
 * Any thread.  One system call if the engine sleeps, else none.
 */
void engine_wake(struct engine *e);

/**
 * engine_set_help() - how long adapter_attend() works at the most
 * @e: engine, not running
 * @usec: microseconds; 0: never, it only wakes the engine's thread
 */
void engine_set_help(struct engine *e, u32 usec);

/**
 * engine_poll() - work until nothing is left that can be done at this time
 * @e: engine that is not running
 *
 * Leaves every doorbell armed, as before a sleep.  Returns the time of the
 * next timer, or ENGINE_NEVER.
 */
u64 engine_poll(struct engine *e);

/**
 * engine_lock() - keep the engine off all adapters and the fabric
 * @e: engine
 *
 * Waits for the current slice to end.  For every thread but the engine's;
 * does not nest.
 */
void engine_lock(struct engine *e);

/** engine_unlock() - let the engine go on */
void engine_unlock(struct engine *e);

/**
 * struct engine_status - what the engine does
 * @threads: that it has
 * @awake: those of them that do not sleep
 * @sleeps: how often its threads have slept
 * @wakes: how often another thread has woken one
 * @helped: how often another thread has worked in the place of one, see adapter_attend()
 * @why: what the first thread does, or what it waits for
 */
struct engine_status {
	u32 threads, awake;
	u64 sleeps, wakes, helped;
	const char *why;
};

/** engine_status() - fills in @st; under engine_lock() */
void engine_status(const struct engine *e, struct engine_status *st);

/** engine_fabric() - the fabric that was given to engine_new() */
struct fabric *engine_fabric(const struct engine *e);

#endif /* VHCAD_ENGINE_H */

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The engine's inside, for the files of this room.
 */
#ifndef VHCAD_ENGINE_INTERNAL_H
#define VHCAD_ENGINE_INTERNAL_H

#include <pthread.h>

#include "engine/adapter.h"

/**
 * struct engine - one thread, those that help it, and the adapters they work for
 * @fabric: what the adapters are plugged into
 * @worker: what whoever works has of its own: one thread works at a time
 * @adapters: all of them
 * @ready: adapters that wait for a turn
 * @turn: the adapter that is working, or was last; it is not on @ready
 * @run: held while the engine works
 * @gate: held by whoever wants @run next
 * @waiters: threads in engine_lock(); atomic
 * @wakefd: eventfd that ends the thread's sleep
 * @asleep: the thread is in ppoll(), or about to enter it; atomic
 * @stop: engine_run() is to return; atomic
 * @spin_ns: how long the thread looks for work before it sleeps
 * @help_ns: how long engine_attend() works at the most
 * @nap_until: when the sleeping thread wakes by itself
 * @nap_why: what it waits for
 * @sleeps: how often it has slept
 * @helped: how often another thread has worked in its place
 * @wakes: how often it was woken; atomic
 */
struct engine {
	struct fabric *fabric;
	struct worker worker;
	struct list_head adapters;
	struct list_head ready;
	struct adapter *turn;

	pthread_mutex_t run;
	pthread_mutex_t gate;
	u32 waiters;
	int wakefd;
	u32 asleep;
	bool stop;
	u64 spin_ns;
	u64 help_ns;
	u64 nap_until;
	const char *nap_why;
	u64 sleeps;
	u64 helped;
	u64 wakes;
};

/** turns_run() - let adapters have about a slice's worth of turns; true if any had one */
bool turns_run(struct engine *e);

/** turns_waiting() - is there an adapter that has work? */
bool turns_waiting(const struct engine *e);

#endif /* VHCAD_ENGINE_INTERNAL_H */

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What threads share that send at the same time.
 */
#include "fabric/threads.h"

/* How far the time of the fabric may be behind before a thread that does not poll it sets it. */
#define FEW_NS	1000000u

void fabric_set_threads(struct fabric *f)
{
	f->threads = true;
}

/* Whoever sends a packet of management reads the time, and one thread sets it. */
u64 fab_now(const struct fabric *f)
{
	return __atomic_load_n(&f->now, __ATOMIC_RELAXED);
}

void fab_set_now(struct fabric *f, u64 now)
{
	__atomic_store_n(&f->now, now, __ATOMIC_RELAXED);
}

void fab_advance(struct fabric *f, u64 now)
{
	u64 old = fab_now(f);

	while (old + FEW_NS <= now) {
		if (__atomic_compare_exchange_n(&f->now, &old, now, true, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			break;
	}
}

void fab_agents_lock(struct fabric *f)
{
	fab_lock(f);
}

void fab_agents_unlock(struct fabric *f)
{
	bool news = f->news;

	f->news = false;
	fab_unlock(f);
	/* the thread that polls the fabric may be another one, and sleep */
	if (news && f->threads)
		f->wake(f->wake_arg);
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What threads that send at the same time share.
 */
#include "fabric/threads.h"

/* The fabric's time is set by a thread that does not poll it if it is more than this behind. */
#define FEW_NS	1000000u

void fabric_set_threads(struct fabric *f)
{
	f->threads = true;
}

/* Threads that send management packets read the time, which one thread sets. */
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
	/* the thread that polls the fabric may be another one, which sleeps */
	if (news && f->threads)
		f->wake(f->wake_arg);
}

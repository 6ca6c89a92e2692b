// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * How much time work takes, and who is charged for it.
 *
 * Bytes and entries tell in advance about how long a turn will take, but a hostile guest finds
 * work that takes longer.  So turns are timed as well: the time that an adapter has used beyond
 * its turns is its debt, and it lets as many turns go by while others wait, or have had work.
 */
#include <time.h>

#include "engine/adapter.h"

static u64 monotonic(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

#if defined(__x86_64__)

/* How long the processor's clock is compared with the system's before it is used. */
#define COMPARE_NS	2000000u

/*
 * Nanoseconds a tick of the processor's clock, times 2^32.  Reading that clock takes a third of
 * the time that reading the system's takes.
 */
static u64 tick;

static u64 compare(void)
{
	static __thread u64 first_ns, first_tick;
	u64 now = monotonic(), ticks = __builtin_ia32_rdtsc();

	if (!first_ns) {
		first_ns = now;
		first_tick = ticks;
	} else if (now - first_ns > COMPARE_NS && ticks > first_tick) {
		unsigned __int128 ns = now - first_ns;

		__atomic_store_n(&tick, (u64)((ns << 32) / (ticks - first_tick)),
				 __ATOMIC_RELAXED);
	}
	return now;
}

u64 cost_spent(void *arg)
{
	u64 t = __atomic_load_n(&tick, __ATOMIC_RELAXED);

	return t ? (u64)((unsigned __int128)__builtin_ia32_rdtsc() * t >> 32) : compare();
}

#else

u64 cost_spent(void *arg)
{
	return monotonic();
}

#endif

u64 cost_add(struct adapter *a, u64 free_ns)
{
	struct worker *w = a->worker;
	u64 now, took;

	if (!w->clock.spent)
		return 0;
	now = w->clock.spent(w->clock.arg);
	/* a clock that jumps, or a host that takes the processor away, costs DEBT_MAX at most */
	took = now > w->mark ? MIN(now - w->mark, (u64)DEBT_MAX) : 0;
	w->mark = now;
	w->late = false;
	a->debt += took;
	a->worked += took;
	a->debt -= MIN(a->debt, free_ns);
	a->debt = MIN(a->debt, (u64)DEBT_MAX);
	return took;
}

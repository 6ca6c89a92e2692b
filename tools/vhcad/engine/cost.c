// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What work costs, in time, and who has caused it.
 *
 * Bytes and entries tell in advance what a turn will about take; a guest that does not mean well
 * finds work that takes longer.  So turns are timed as well: what an adapter has used beyond its
 * turns is its debt, and it lets as many turns go by while others wait.
 */
#include <time.h>

#include "engine/core.h"

static u64 monotonic(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

#if defined(__x86_64__)

/* How long the processor's clock and the system's are compared before the former is believed. */
#define COMPARE_NS	2000000u

/* The processor's clock costs a third of the system's: nanoseconds a tick, times 2^32. */
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

void cost_add(struct vhca_dev *dev, u64 free_ns)
{
	struct engine *e = dev->engine;
	u64 now, took;

	if (!e->clock.spent)
		return;
	now = e->clock.spent(e->clock.arg);
	/* a clock that jumps, or a host that takes the processor away, is nobody's fault */
	took = now > e->mark ? MIN(now - e->mark, (u64)DEBT_MAX) : 0;
	e->mark = now;
	dev->debt += took;
	dev->debt -= MIN(dev->debt, free_ns);
	dev->debt = MIN(dev->debt, (u64)DEBT_MAX);
}

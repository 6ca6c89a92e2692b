/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What threads share that send at the same time, for the files of fabric/.
 */
#ifndef VHCAD_FABRIC_THREADS_H
#define VHCAD_FABRIC_THREADS_H

#include <time.h>

#include "fabric/internal.h"

/**
 * fab_lock() - what threads share that send at the same time is the caller's
 * @f: fabric
 *
 * That is agents and what waits for them, ports of switches that have to look at packets, stamps of
 * the capture, and those outside.  Nothing is to be given to a receiver meanwhile, who may need the
 * lock too.
 */
static inline void fab_lock(struct fabric *f)
{
	if (f->threads)
		pthread_mutex_lock(&f->lock);
}

/** fab_unlock() - it is everybody's again */
static inline void fab_unlock(struct fabric *f)
{
	if (f->threads)
		pthread_mutex_unlock(&f->lock);
}

/** fab_stamp() - what a capture says of the time of a packet now, in ns; under fab_lock() */
static inline u64 fab_stamp(struct fabric *f)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	f->cap_time = MAX(f->cap_time, f->cap_engine ? fab_now(f) :
				       ts.tv_sec * 1000000000ull + ts.tv_nsec);
	return f->cap_time;
}

#endif /* VHCAD_FABRIC_THREADS_H */

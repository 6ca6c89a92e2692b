/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What threads that send at the same time share, for the files of fabric/.
 */
#ifndef VHCAD_FABRIC_THREADS_H
#define VHCAD_FABRIC_THREADS_H

#include <time.h>

#include "fabric/internal.h"

/**
 * fab_lock() - lock what threads that send at the same time share
 * @f: fabric
 *
 * That is agents and packets that wait for them, ports of switches that have to check packets,
 * stamps of the capture, and the network adapters outside.  Nothing is delivered to a receiver
 * under it, as the receiver may take the lock too.
 */
static inline void fab_lock(struct fabric *f)
{
	if (f->threads)
		pthread_mutex_lock(&f->lock);
}

/** fab_unlock() - let other threads have it */
static inline void fab_unlock(struct fabric *f)
{
	if (f->threads)
		pthread_mutex_unlock(&f->lock);
}

/** fab_stamp() - the capture's time stamp, in ns, of a packet sent now; under fab_lock() */
static inline u64 fab_stamp(struct fabric *f)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	f->cap_time = MAX(f->cap_time, f->cap_engine ? fab_now(f) :
				       ts.tv_sec * 1000000000ull + ts.tv_nsec);
	return f->cap_time;
}

#endif /* VHCAD_FABRIC_THREADS_H */

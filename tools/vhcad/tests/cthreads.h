/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The additional part of a campaign of several threads.
 */
#ifndef VHCAD_TESTS_CTHREADS_H
#define VHCAD_TESTS_CTHREADS_H

#include "tests/cflow.h"

/* Seconds in which something has to happen, on real threads. */
#define C_PATIENCE	300u

/** c_threads_start() - make the world of a campaign, and let its threads run */
void c_threads_start(struct campaign *c);
/** c_threads_stop() - end the threads */
void c_threads_stop(struct campaign *c);
/** c_scatter() - now and then, move an adapter to another thread */
void c_scatter(struct campaign *c);
/** c_await() - on real threads: wait until @there is true, or fail with @what */
void c_await(struct campaign *c, bool (*there)(struct campaign *c), const char *what);
/** c_nothing_queued() - have all packets arrived that a fault had delayed? */
bool c_nothing_queued(struct campaign *c);

#endif /* VHCAD_TESTS_CTHREADS_H */

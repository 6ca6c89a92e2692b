/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a campaign of several threads does besides.
 */
#ifndef VHCAD_TESTS_CTHREADS_H
#define VHCAD_TESTS_CTHREADS_H

#include "tests/cflow.h"

/* Seconds in which something has to happen, on threads that are real. */
#define C_PATIENCE	300u

/** c_threads_start() - make the world of a campaign, and let its threads run */
void c_threads_start(struct campaign *c);
/** c_threads_stop() - they have ended */
void c_threads_stop(struct campaign *c);
/** c_scatter() - now and then an adapter goes to another thread */
void c_scatter(struct campaign *c);
/** c_await() - on threads that are real: until it is so, or @what is wrong */
void c_await(struct campaign *c, bool (*there)(struct campaign *c), const char *what);
/** c_nothing_queued() - has every packet arrived that a fault had kept? */
bool c_nothing_queued(struct campaign *c);

#endif /* VHCAD_TESTS_CTHREADS_H */

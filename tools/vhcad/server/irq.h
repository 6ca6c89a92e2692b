/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Interrupt vectors of one device: the eventfds that the VM has assigned to them, and a pending
 * bit for each vector that was raised without an eventfd.
 */
#ifndef VHCAD_SERVER_IRQ_H
#define VHCAD_SERVER_IRQ_H

#include <linux/aio_abi.h>
#include <pthread.h>

#include "pci/config.h"
#include "lib/types.h"

struct vu_irqs {
	pthread_mutex_t lock;		/* fd, pending, and use of aio */
	u32 vectors;
	int fd[MSIX_VECTORS_MAX];	/* -1: none */
	u64 pending;
	aio_context_t aio;
	u32 unreaped;			/* completions left in aio */
	int ready;			/* an eventfd that is always readable */
};

/**
 * vu_irqs_init() - begin without eventfds
 * @irqs: to be initialised
 * @vectors: 1..MSIX_VECTORS_MAX
 *
 * Returns 0 or -errno.
 */
int vu_irqs_init(struct vu_irqs *irqs, u32 vectors);

/** vu_irqs_destroy() - undo vu_irqs_init() */
void vu_irqs_destroy(struct vu_irqs *irqs);

/**
 * vu_irqs_eventfds() - are these all eventfds?
 * @irqs: vectors
 * @fds: descriptors
 * @n: how many
 *
 * Signals none of them.
 */
bool vu_irqs_eventfds(struct vu_irqs *irqs, const int *fds, u32 n);

/**
 * vu_irqs_assign() - assign eventfds to vectors, or take them away
 * @irqs: vectors
 * @start: first vector
 * @count: vectors; @start + @count within the vectors
 * @fds: @count eventfds, checked by vu_irqs_eventfds(), which now belong to the vectors; NULL: the
 *	vectors lose theirs
 *
 * A vector that is pending fires at once.
 */
void vu_irqs_assign(struct vu_irqs *irqs, u32 start, u32 count, const int *fds);

/**
 * vu_irqs_raise() - raise an interrupt
 * @irqs: vectors
 * @vector: which; ignored if there is no such vector
 *
 * May be called from any thread.  Never blocks, whatever the VM does to its eventfd.
 */
void vu_irqs_raise(struct vu_irqs *irqs, u32 vector);

/** vu_irqs_pending() - the pending bits: bit n is vector n */
u64 vu_irqs_pending(struct vu_irqs *irqs);

/** vu_irqs_clear() - clear the pending bits: the device was reset */
void vu_irqs_clear(struct vu_irqs *irqs);

#endif /* VHCAD_SERVER_IRQ_H */

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Interrupt vectors of one device: eventfds that the VM gave for them, and bits for vectors that
 * are raised while they have none.
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
	int ready;			/* descriptor that can always be read */
};

/**
 * vu_irqs_init() - vectors without eventfds
 * @irqs: to be initialised
 * @vectors: 1..MSIX_VECTORS_MAX
 *
 * Returns 0 or -errno.
 */
int vu_irqs_init(struct vu_irqs *irqs, u32 vectors);

/** vu_irqs_destroy() - undo vu_irqs_init() */
void vu_irqs_destroy(struct vu_irqs *irqs);

/**
 * vu_irqs_eventfds() - may these be given to vectors?
 * @irqs: vectors
 * @fds: descriptors
 * @n: how many
 *
 * Returns whether all of them are eventfds; signals none.
 */
bool vu_irqs_eventfds(struct vu_irqs *irqs, const int *fds, u32 n);

/**
 * vu_irqs_assign() - give eventfds to vectors
 * @irqs: vectors
 * @start: first vector
 * @count: vectors; @start + @count within the vectors
 * @fds: as many eventfds, as vu_irqs_eventfds() found, taken over; NULL: take
 *	away what the vectors have
 *
 * A vector that is pending fires at once.
 */
void vu_irqs_assign(struct vu_irqs *irqs, u32 start, u32 count, const int *fds);

/**
 * vu_irqs_raise() - an interrupt is due
 * @irqs: vectors
 * @vector: which; beyond the last one: nothing happens
 *
 * Any thread; never blocks, whatever the VM did to its eventfd.
 */
void vu_irqs_raise(struct vu_irqs *irqs, u32 vector);

/** vu_irqs_pending() - bit n: vector n is due and has no eventfd */
u64 vu_irqs_pending(struct vu_irqs *irqs);

/** vu_irqs_clear() - forget what is pending: the device was reset */
void vu_irqs_clear(struct vu_irqs *irqs);

#endif /* VHCAD_SERVER_IRQ_H */

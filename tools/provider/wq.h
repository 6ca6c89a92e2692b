/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Send, receive and shared receive queues. */
#ifndef VHCA_WQ_H
#define VHCA_WQ_H

#include <stdatomic.h>

#include "vhca.h"

/**
 * struct vhca_wq - send, receive or shared receive queue
 * @lock: protects @head for posting; for an SRQ everything
 * @ring: ring, NULL when the QP has no such queue
 * @log: log2 of its units: blocks, or strides
 * @log_unit: log2 of the bytes of a unit
 * @max_wr: requests outstanding
 * @built: of a send queue, whose requests have several units: requests built, and posted but for
 *	those that an extended call is building
 * @nth: of a send queue: for the last unit of each request, what @built was with it
 * @done: of a send queue: requests completed; changed before @tail is
 * @max_sge: entries of a request's list
 * @max_inline: inline bytes of a request
 * @datagram: requests carry their destination
 * @head: units posted; changed under @lock, read by polls
 * @tail: units completed; changed by polls of the queue's CQ under its lock, read when posting; for
 *	an SRQ units that the device is known to have taken
 */
struct vhca_wq {
	struct vhca_lock lock;
	void *ring;
	uint8_t log;
	uint8_t log_unit;
	uint32_t max_wr;
	uint32_t built;
	uint32_t *nth;
	_Atomic uint32_t done;
	uint32_t max_sge;
	uint32_t max_inline;
	bool datagram;
	_Atomic uint64_t head;
	_Atomic uint64_t tail;
};

/* Place of a receive in its queue's ring. */
static inline void *vhca_recv_at(const struct vhca_wq *wq, uint64_t count)
{
	return (uint8_t *)wq->ring + ((size_t)vhca_ring_slot(count, wq->log) << wq->log_unit);
}

/* post.c */
int vhca_put_recv(struct vhca_wq *rq, const struct ibv_recv_wr *wr, uint64_t head);

#endif /* VHCA_WQ_H */

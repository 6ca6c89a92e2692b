/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Receives, and payload copied from the sender's memory into the receiver's.
 */
#ifndef VHCAD_QP_RECV_H
#define VHCAD_QP_RECV_H

#include "qp/scratch.h"
#include "res/sgl.h"

/**
 * recv_take() - take the next receive, unless one is taken
 * @qp: receiver
 *
 * Return: 0, with its entry in the worker's rx_wqe; -EAGAIN: none is posted; -EFAULT: the ring
 * cannot be read, and the QP has failed; or the VHCA_CS_* that the receive taken now must complete
 * with.
 */
int recv_take(struct vqp *qp);
/**
 * recv_load() - get the entry of the receive that is taken into the worker's rx_wqe again
 * @qp: receiver, for which recv_take() gave 0
 *
 * Return: 0, or a VHCA_CS_* if the entry has changed.
 */
int recv_load(struct vqp *qp);
/** recv_give_back() - drop the entry that a worker has loaded */
void recv_give_back(struct scratch *s);

/* payload.c */
/**
 * payload_gather() - find the payload of the next packets
 * @qp: sender
 * @l: list of the pieces where their bytes are
 * @off: first byte in it
 * @len: bytes, not 0
 * @pl: filled in
 *
 * Payload in too many pieces is copied to the worker's bounce buffer, a packet at a time.
 *
 * Return: @len or the bytes of as many whole packets as could be found; 0 if not even one could be.
 */
u32 payload_gather(struct vqp *qp, const struct sglist *l, u32 off, u32 len, struct payload *pl);
/**
 * payload_scatter() - write payload to the pieces of a list
 * @qp: receiver
 * @run: the packets
 * @l: list
 * @off: first byte in it
 * @len: bytes of the run, from its first
 *
 * Return: the bytes placed; fewer when the list, or the sender's memory (payload.fault), fails.
 */
u32 payload_scatter(struct vqp *qp, const struct run *run, const struct sglist *l, u64 off,
		    u32 len);

#endif /* VHCAD_QP_RECV_H */

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Receives, and the payload on its way from the sender's memory into the receiver's.
 */
#ifndef VHCAD_QP_RECV_H
#define VHCAD_QP_RECV_H

#include "qp/scratch.h"
#include "res/sgl.h"

/**
 * recv_take() - take the next receive, unless one is taken
 * @qp: receiver
 *
 * Return: 0, with its entry in the worker's rx_wqe; -EAGAIN: none is posted; -EFAULT: they cannot
 * be read, and the QP has failed; or the VHCA_CS_* that the one which is taken now must complete
 * with.
 */
int recv_take(struct vqp *qp);
/**
 * recv_load() - get the entry of the receive that is taken into the worker's rx_wqe again
 * @qp: receiver, for which recv_take() gave 0
 *
 * Return: 0, or a VHCA_CS_* when it is not what it was any more.
 */
int recv_load(struct vqp *qp);
/** recv_give_back() - the worker has no entry loaded any more */
void recv_give_back(struct scratch *s);

/* payload.c */
/**
 * payload_gather() - find the payload of the next packets
 * @qp: sender
 * @l: where their bytes are
 * @off: first byte in it
 * @len: bytes, not 0
 * @pl: filled in
 *
 * What lies in too many pieces is copied to the worker's bounce buffer, a packet at a time.
 *
 * Return: @len or the bytes of as many whole packets as there are; 0 when not even one can be had.
 */
u32 payload_gather(struct vqp *qp, const struct sglist *l, u32 off, u32 len, struct payload *pl);
/**
 * payload_scatter() - write payload to where a list says
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

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The requester: send queue entries become requests, packets are sent, answers arrive.
 */
#ifndef VHCAD_QP_REQUESTER_H
#define VHCAD_QP_REQUESTER_H

#include "qp/scratch.h"

/* request.c: makes requests of send queue entries, and packets of requests */

/** req_at() - the request with this number; numbers are free running */
static inline struct tx_req *req_at(struct rc_requester *r, u32 i)
{
	return &r->q[i & r->qmask];
}

/** req_take() - take the next entry of the send queue; false: there is none to take now */
bool req_take(struct vqp *qp);
/**
 * req_reload() - load the entry of a request under way again, unless it is loaded
 * @qp: QP
 * @t: the request
 * @w: where to
 *
 * Return: 0, or a status if it is not the same any more.
 */
int req_reload(struct vqp *qp, const struct tx_req *t, struct send_wqe *w);
/**
 * req_fill() - make the next packets of the request that is being sent
 * @qp: QP
 * @t: the request
 * @n: packets at the most; fewer are made if their payload lies in too many pieces
 * @run: filled in
 * @pl: filled in unless there is no payload
 *
 * Return: 0 or a status.
 */
int req_fill(struct vqp *qp, const struct tx_req *t, u32 n, struct run *run, struct payload *pl);

/* onesided.c */
/**
 * req_fill_single() - make the one packet of an atomic, an atomic write or a flush
 * @qp: QP
 * @t: the request
 * @run: filled in
 * @pl: filled in if there is payload
 *
 * Return: 0 or a status.
 */
int req_fill_single(struct vqp *qp, const struct tx_req *t, struct run *run, struct payload *pl);
/** req_local() - carry a local operation out; returns 0 or a status */
u8 req_local(struct vqp *qp, const struct tx_req *t);

/* req_state.c: requests under way, their timer, and going back to them */

/** req_left() - PSNs of the oldest request that are not acknowledged */
static inline u32 req_left(const struct rc_requester *r, const struct tx_req *t)
{
	return (t->psn + t->npkts - r->una) & PSN_MASK;
}

/** req_settle() - complete what needs no (more) acknowledgment */
void req_settle(struct vqp *qp);
/** req_follow_una() - if una has overtaken sending, go on at una */
void req_follow_una(struct rc_requester *r);
/** req_rewind() - send everything again from the oldest PSN that was not acknowledged */
void req_rewind(struct vqp *qp);
/** req_retry() - count a retry and rewind; the QP fails when none is left */
void req_retry(struct vqp *qp);
/** req_fail() - the oldest request fails, the QP with it */
void req_fail(struct vqp *qp, u8 status);
/** req_arm() - (re)start or stop the acknowledgment timer */
void req_arm(struct vqp *qp);

/* requester.c: sending */

/** req_reset() - start over, with @psn as the first PSN to send */
void req_reset(struct vqp *qp, u32 psn);
/** req_run() - send; true if there is more to do now.  Uses up the budgets */
bool req_run(struct vqp *qp, u32 *bytes, u32 *wqes);
/** req_timeout() - the timer has fired */
void req_timeout(struct timer *t);
/** req_drained() - end the drain of a QP in SQD if nothing is under way any more */
void req_drained(struct vqp *qp);
/** req_doorbell() - the send record was rung, or may have been */
void req_doorbell(struct vqp *qp);

/* req_rx.c: acknowledgments and answers */

/** req_rx_ack() - an acknowledgment or NAK has arrived */
void req_rx_ack(struct vqp *qp, struct run *r);
/** req_rx_read() - a part of the answer to a READ, or the answer to an atomic write or flush */
void req_rx_read(struct vqp *qp, struct run *r);
/** req_rx_atomic() - the answer to an atomic */
void req_rx_atomic(struct vqp *qp, struct run *r);

/* unreliable.c: sending of UC and UD */

/** unreliable_run() - as req_run() */
bool unreliable_run(struct vqp *qp, u32 *bytes, u32 *wqes);
/** unreliable_resume() - the QP goes from SQE to RTS */
void unreliable_resume(struct vqp *qp);

/* flush.c: true if there is, or may be, more to do now */

/** flush_run() - flush both queues */
bool flush_run(struct vqp *qp, u32 *wqes);
/** flush_sends() - flush the send queue alone */
bool flush_sends(struct vqp *qp, u32 *wqes);
/** flush_ring() - flush one entry of the send ring, before block @end */
bool flush_ring(struct vqp *qp, u32 end);

#endif /* VHCAD_QP_REQUESTER_H */

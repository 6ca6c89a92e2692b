/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The responder: requests arrive, and answers leave.
 */
#ifndef VHCAD_QP_RESPONDER_H
#define VHCAD_QP_RESPONDER_H

#include "qp/qp.h"

/* resp_state.c: the PSN that is expected, and the answer that has to be sent */

/** resp_reset() - start over: @psn is expected */
void resp_reset(struct vqp *qp, u32 psn);
/** resp_heard() - the peer has sent something: sends COMM_EST, the first time in RTR */
void resp_heard(struct vqp *qp);
/** resp_answer() - an answer with this syndrome is due */
void resp_answer(struct vqp *qp, u8 syndrome);
/** resp_close() - answer with a NAK that ends the connection */
void resp_close(struct vqp *qp, enum aeth_nak code, u8 recv_status, enum event_bit event);
/** resp_refuse() - close the connection for a request that is invalid */
void resp_refuse(struct vqp *qp);
/** resp_no_access() - close the connection for a request without a right to its memory */
void resp_no_access(struct vqp *qp);

/** resp_advance() - n more PSNs were received in order */
static inline void resp_advance(struct rc_responder *s, u32 n)
{
	u64 next = (u64)s->epsn + n;

	s->lap += next >> PSN_BITS;
	s->epsn = next & PSN_MASK;
}

/* responder.c: requests of RC and XRC */
/** resp_rx() - a request has arrived */
void resp_rx(struct vqp *qp, struct run *r);

/* answer.c */
/** answer_request() - a request in order that has an answer: READ, atomic, flush */
void answer_request(struct vqp *qp, struct run *r);
/** answer_again() - such a request that was received before */
void answer_again(struct vqp *qp, struct run *r);

/* resp_tx.c */
/** resp_run() - send what is due; true if there is more to do now */
bool resp_run(struct vqp *qp, u32 *bytes);
/**
 * resp_settle() - send a pending acknowledgment or NAK, before the QP stops to answer
 * @qp: QP
 *
 * The QP's owner knows already of the message that has arrived, and may destroy the QP: the peer
 * must not take the message for lost.  Answers to READs that are not complete are not finished, and
 * then packets behind them are not acknowledged either.
 */
void resp_settle(struct vqp *qp);
/**
 * resp_may_settle() - may resp_settle() be called?
 *
 * Return: false if another thread has the peer's adapter; true as soon as the adapter works alone.
 */
bool resp_may_settle(struct vqp *qp);
/** credits_of() - the number of receives that an AETH's credit code stands for */
u32 credits_of(u8 code);

/* uc.c */
/** uc_rx() - packets of a UC message have arrived */
void uc_rx(struct vqp *qp, struct run *r);

#endif /* VHCAD_QP_RESPONDER_H */

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How a QP's requests and receives end: completions, errors, and reasons of errors.
 */
#ifndef VHCAD_QP_COMPLETE_H
#define VHCAD_QP_COMPLETE_H

#include "qp/qp.h"

/** qp_error() - enter the error state; both queues will be flushed */
void qp_error(struct vqp *qp);
/** qp_error_event() - enter the error state, and tell the driver why */
void qp_error_event(struct vqp *qp, enum event_bit bit);
/**
 * qp_send_error() - a request has failed
 * @qp: QP
 *
 * A reliable connection fails with it.  Other QPs only stop sending.
 */
void qp_send_error(struct vqp *qp);
/** qp_recv_error() - the receive that is taken fails, and the QP with it */
void qp_recv_error(struct vqp *qp, u8 status);
/** qp_complete_send() - complete a send queue entry, if a completion is wanted */
void qp_complete_send(struct vqp *qp, const struct tx_req *t, u8 status);
/** qp_complete_recv() - complete the receive that is taken */
void qp_complete_recv(struct vqp *qp, struct vhca_cqe *cqe, u8 status, bool solicited);

/* why.c */
/** why() - remember why something of a QP is refused; returns @status */
int why(const struct vqp *qp, enum vhca_why number, int status);
/** why_failed() - enum vhca_why for a completion with an error */
u8 why_failed(const struct vqp *qp, u8 status, bool recv);

#endif /* VHCAD_QP_COMPLETE_H */

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The responder's state: the PSN that it expects, and the acknowledgment that it has to send.
 */
#include "qp/complete.h"
#include "qp/ready.h"
#include "qp/responder.h"

void resp_reset(struct vqp *qp, u32 psn)
{
	struct rc_responder *s = &qp->resp;

	s->epsn = psn;
	s->lap = 0;
	s->msn = 0;
	s->kind = WIRE_NONE;
	qp->recv.taken = false;
	s->quiet = QUIET_NOT;
	s->ack = false;
	s->closing = false;
	s->comm_est = false;
	s->lost = false;
	s->event = 0;
	s->done = 0;
	s->res_next = 0;
	s->fifo_head = 0;
	s->fifo_n = 0;
	for (u32 i = 0; s->res && i < VDEV_MAX_RD_ATOMIC; i++)
		s->res[i] = (struct resp_res){ 0 };
}

void resp_heard(struct vqp *qp)
{
	if (qp->state != QPS_RTR || qp->resp.comm_est)
		return;
	qp->resp.comm_est = true;
	eq_async(qp->dev, &qp->ev, EVB_COMM_EST);
}

void resp_answer(struct vqp *qp, u8 syndrome)
{
	qp->resp.ack = true;
	qp->resp.syndrome = syndrome;
	qp_ready(qp);
}

void resp_close(struct vqp *qp, enum aeth_nak code, u8 recv_status, enum event_bit event)
{
	struct rc_responder *s = &qp->resp;
	struct vhca_cqe cqe = { 0 };

	s->closing = true;
	/* a failed receive reports the error by its completion; without one an event does */
	s->event = qp->recv.taken ? 0 : event;
	resp_answer(qp, AETH_NAK | code);
	if (qp->recv.taken)
		qp_complete_recv(qp, &cqe, recv_status, false);
}

void resp_refuse(struct vqp *qp)
{
	resp_close(qp, NAK_INVALID_REQUEST, VHCA_CS_REM_INV_REQ_ERR, EVB_QP_REQ_ERR);
}

void resp_no_access(struct vqp *qp)
{
	resp_close(qp, NAK_REMOTE_ACCESS, VHCA_CS_LOC_ACCESS_ERR, EVB_QP_ACCESS_ERR);
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * How a QP fails, and completions of its queues.
 */
#include <endian.h>

#include "qp/complete.h"
#include "qp/ready.h"
#include "qp/srq.h"
#include "qp/wqe.h"

void qp_error(struct vqp *qp)
{
	if (qp->state == QPS_ERR)
		return;
	qp->state = QPS_ERR;
	qp->draining = false;
	timer_stop(&qp->req.timer);
	qp->resp.ack = false;
	qp->resp.fifo_n = 0;
	/* it may wait for room in the fabric, which flushing does not need */
	qp_not_ready(qp);
	qp_ready(qp);
}

void qp_error_event(struct vqp *qp, enum event_bit bit)
{
	if (qp->state == QPS_ERR)
		return;
	qp_error(qp);
	eq_async(qp->dev, &qp->ev, bit);
}

void qp_send_error(struct vqp *qp)
{
	if (qp_reliable(qp)) {
		qp_error(qp);
	} else if (qp->state != QPS_ERR) {
		qp->state = QPS_SQE;
		qp->draining = false;
		qp_ready(qp);
	}
}

void qp_recv_error(struct vqp *qp, u8 status)
{
	struct vhca_cqe cqe = { 0 };

	qp_complete_recv(qp, &cqe, status, false);
	qp_error(qp);
}

static const u8 send_opcode[] = {
	[VHCA_OP_NOP]		= VHCA_CQE_SEND,
	[VHCA_OP_SEND]		= VHCA_CQE_SEND,
	[VHCA_OP_SEND_IMM]	= VHCA_CQE_SEND,
	[VHCA_OP_SEND_INV]	= VHCA_CQE_SEND,
	[VHCA_OP_WRITE]		= VHCA_CQE_WRITE,
	[VHCA_OP_WRITE_IMM]	= VHCA_CQE_WRITE,
	[VHCA_OP_READ]		= VHCA_CQE_READ,
	[VHCA_OP_READ_INV]	= VHCA_CQE_READ,
	[VHCA_OP_CMP_SWAP]	= VHCA_CQE_CMP_SWAP,
	[VHCA_OP_FETCH_ADD]	= VHCA_CQE_FETCH_ADD,
	[VHCA_OP_MASKED_CMP_SWAP] = VHCA_CQE_MASKED_CMP_SWAP,
	[VHCA_OP_MASKED_FETCH_ADD] = VHCA_CQE_MASKED_FETCH_ADD,
	[VHCA_OP_ATOMIC_WRITE]	= VHCA_CQE_ATOMIC_WRITE,
	[VHCA_OP_FLUSH]		= VHCA_CQE_FLUSH,
	[VHCA_OP_LOCAL_INV]	= VHCA_CQE_LOCAL_INV,
	[VHCA_OP_BIND_MW]	= VHCA_CQE_BIND_MW,
	[VHCA_OP_REG_MR]	= VHCA_CQE_REG_MR,
	[VHCA_OP_LSO]		= VHCA_CQE_SEND,
};

static void count_status(struct vqp *qp, u8 status)
{
	qp->stats.errors += status && status != VHCA_CS_WR_FLUSH_ERR;
}

void qp_complete_send(struct vqp *qp, const struct tx_req *t, u8 status)
{
	struct vhca_cqe cqe = {
		.wr_id = htole64(t->wr_id),
		.qpn = htole32(qp->qpn),
		.wqe_index = htole32(t->blk + t->nblk),
		.status = status,
		.port = qp->attr.port,
	};

	count_status(qp, status);
	if (status)
		cqe.vendor_err = t->why && status == t->status ? t->why :
				 why_failed(qp, status, false);
	if (!status) {
		if (!(qp->flags & VHCA_QP_SIGNAL_ALL) && !(t->flags & VHCA_WQE_SIGNALED))
			return;
		cqe.opcode = send_opcode[t->opcode];
		if (op_is_read(t->opcode) || op_is_atomic(t->opcode))
			cqe.byte_len = htole32(t->len);
	}
	if (!cq_push(qp->scq, &cqe, false))
		qp_error_event(qp, EVB_QP_FATAL);
}

void qp_complete_recv(struct vqp *qp, struct vhca_cqe *cqe, u8 status, bool solicited)
{
	cqe->wr_id = htole64(qp->recv.wr_id);
	cqe->qpn = htole32(qp->qpn);
	if (!qp_datagrams(qp))
		cqe->src_qpn = qp->attr.dest_qpn;
	cqe->wqe_index = htole32(qp->srq ? 0 : qp->recv.next);
	if (qp->srq && qp_is_target(qp)) {
		cqe->srqn = htole32(qp->srq->srqn);
		cqe->flags |= VHCA_CQE_F_XRC;
	}
	cqe->status = status;
	cqe->vendor_err = status ? why_failed(qp, status, true) : VHCA_WHY_NONE;
	count_status(qp, status);
	cqe->flags |= VHCA_CQE_F_RQ | (solicited ? VHCA_CQE_F_SOLICITED : 0);
	cqe->port = qp->attr.port;
	qp->recv.taken = false;
	if (!cq_push(qp->rcq, cqe, solicited))
		qp_error_event(qp, EVB_QP_FATAL);
}

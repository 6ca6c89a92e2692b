// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The error state: everything posted completes with WR_FLUSH_ERR, the send
 * queue first, then the receive queue, each in order.
 */
#include <endian.h>

#include "engine/core.h"
#include "engine/rc.h"

/* Entries behind those that were under way; false: there is none. */
static bool flush_send_ring(struct vqp *qp)
{
	struct rc_requester *r = &qp->req;
	struct send_wqe *w = &qp->dev->engine->tx_wqe;
	struct tx_req t;

	if (r->blk_next == r->blk_prod)
		return false;
	if (wqe_load_send(qp, r->blk_next, r->blk_prod, w) < 0) {
		r->blk_next = r->blk_prod;
		return false;
	}
	t = (struct tx_req){ .wr_id = w->wr_id, .blk = r->blk_next, .nblk = w->nblk };
	r->blk_next += w->nblk;
	qp_complete_send(qp, &t, VHCA_CS_WR_FLUSH_ERR);
	return true;
}

static bool flush_send(struct vqp *qp)
{
	struct rc_requester *r = &qp->req;

	if (r->head != r->tail) {
		qp_complete_send(qp, &r->q[r->head++ & r->qmask], VHCA_CS_WR_FLUSH_ERR);
		return true;
	}
	return flush_send_ring(qp);
}

static bool flush_recv(struct vqp *qp)
{
	struct rc_responder *s = &qp->resp;
	struct recv_wqe *w = &qp->dev->engine->rx_wqe;
	struct vhca_cqe cqe = { 0 };
	u64 prod;

	if (!s->have_wqe) {
		if (qp->log_rq == VHCA_NO_QUEUE || dbrec_load(&qp->rec_recv, &prod) ||
		    (u32)prod == s->rq_next || (u32)prod - s->rq_next > 1u << qp->log_rq ||
		    wqe_load_recv(qp, s->rq_next, w) < 0)
			return false;
		s->rq_next++;
		s->wr_id = w->wr_id;
	}
	qp_complete_recv(qp, &cqe, VHCA_CS_WR_FLUSH_ERR, false);
	return true;
}

bool flush_run(struct vqp *qp, u32 *wqes)
{
	while ((*wqes)--)
		if (!flush_send(qp) && !flush_recv(qp))
			return false;
	return true;
}

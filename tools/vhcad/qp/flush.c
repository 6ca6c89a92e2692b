// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The error state: everything posted completes with WR_FLUSH_ERR, the send
 * queue first, then the receive queue, each in order.
 */
#include <endian.h>

#include "qp/complete.h"
#include "qp/recv.h"
#include "qp/requester.h"

/* Flushes the next entry that was not flushed yet; false: there is none. */
bool flush_ring(struct vqp *qp, u32 end)
{
	struct rc_requester *r = &qp->req;
	struct send_wqe *w = &qp_scratch(qp)->tx_wqe;
	struct tx_req t;

	if (r->blk_next == end)
		return false;
	if (wqe_load_send(qp, r->blk_next, end, w) < 0) {
		r->blk_next = end;
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
	return flush_ring(qp, r->blk_prod);
}

bool flush_sends(struct vqp *qp, u32 *wqes)
{
	for (; *wqes; --*wqes)
		if (!flush_send(qp))
			return false;
	return true;
}

static bool flush_recv(struct vqp *qp)
{
	struct vhca_cqe cqe = { 0 };

	/* the receives that are still in a shared queue belong to other QPs */
	if (qp_shares(qp) && !qp->recv.taken) {
		if (!qp->recv.last_told)
			eq_async(qp->dev, &qp->ev, EVB_LAST_WQE);
		qp->recv.last_told = true;
		return false;
	}
	if (recv_take(qp) < 0)
		return false;
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

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests under way: they complete in order, are sent again, or fail.
 */
#include "qp/complete.h"
#include "qp/path.h"
#include "qp/ready.h"
#include "qp/requester.h"

void req_follow_una(struct rc_requester *r)
{
	struct tx_req *t = req_at(r, r->head);

	if (psn_diff(r->una, r->nxt) <= 0)
		return;
	/* of requests that get an answer, at most the oldest is under way again */
	r->reads = op_is_answered(t->opcode);
	r->nxt = r->una;
	r->cur = r->head;
	r->cur_pkt = (r->una - t->psn) & PSN_MASK;
	if (r->cur_pkt == t->npkts) {
		r->cur++;
		r->cur_pkt = 0;
	}
}

void req_settle(struct vqp *qp)
{
	struct rc_requester *r = &qp->req;

	while (qp->state != QPS_ERR && r->head != r->cur) {
		struct tx_req *t = req_at(r, r->head);

		if (req_left(r, t))
			break;
		r->head++;
		if (op_is_answered(t->opcode) && t->npkts)
			r->reads--;
		if (t->opcode == VHCA_OP_READ_INV && !t->status)
			t->status = qp_mkey_invalidate(qp, t->inv_key, false);
		if (t->opcode == VHCA_OP_READ_INV && t->status && !t->why)
			t->why = VHCA_WHY_INVALIDATE;
		qp_complete_send(qp, t, t->status);
		if (t->status)
			qp_error(qp);
	}
}

void req_arm(struct vqp *qp)
{
	struct rc_requester *r = &qp->req;

	if (r->rnr_wait)
		return;
	if (r->nxt == r->una || !qp->attr.timeout)
		timer_stop(&r->timer);
	else
		timer_set(&qp->dev->adapter.timers, &r->timer,
			  qp->dev->adapter.worker->now + (4096ull << qp->attr.timeout));
}

void req_rewind(struct vqp *qp)
{
	struct rc_requester *r = &qp->req;
	struct tx_req *t = req_at(r, r->head);

	r->nxt = r->una;
	r->cur = r->head;
	r->cur_pkt = r->head == r->tail ? 0 : (r->una - t->psn) & PSN_MASK;
	r->reads = r->cur_pkt && op_is_answered(t->opcode);
	timer_stop(&r->timer);
	qp_ready(qp);
}

void req_fail(struct vqp *qp, u8 status)
{
	struct rc_requester *r = &qp->req;

	if (r->head != r->tail)
		qp_complete_send(qp, &r->q[r->head++ & r->qmask], status);
	qp_error(qp);
}

void req_retry(struct vqp *qp)
{
	struct rc_requester *r = &qp->req;

	if (r->head == r->tail)
		return;
	if (!r->retry_left && qp->mig != MIG_ARMED) {
		req_fail(qp, VHCA_CS_RETRY_EXC_ERR);
		return;
	}
	if (!r->retry_left) {
		qp_migrate(qp);
		eq_async(qp->dev, &qp->ev, EVB_PATH_MIG);
		req_rewind(qp);
		return;
	}
	r->retry_left--;
	req_rewind(qp);
}

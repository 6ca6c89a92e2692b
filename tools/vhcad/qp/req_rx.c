// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * RC requester: acknowledgments and answers.
 */
#include <endian.h>

#include "qp/complete.h"
#include "qp/counter.h"
#include "qp/ready.h"
#include "qp/recv.h"
#include "qp/requester.h"
#include "qp/responder.h"

/* The times, in units of 10 us, that the codes of an RNR NAK stand for. */
static const u32 rnr_10us[32] = {
	65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
	256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288,
	16384, 24576, 32768, 49152,
};

/* When a loss is reported again the timer is shortened to this part of the ACK timeout. */
#define HURRY	64u

/* Ends @late when a whole window for peers outside was acknowledged since the timer fired. */
static void catch_up(struct vqp *qp)
{
	struct rc_requester *r = &qp->req;

	if (r->late && psn_diff(r->una, r->late_una) >= (s32)(FAR_WINDOW / qp->mtu))
		r->late = false;
}

static void made_progress(struct vqp *qp)
{
	struct rc_requester *r = &qp->req;

	r->retry_left = qp->attr.retry_cnt;
	r->rnr_left = qp->attr.rnr_retry;
	r->gap = GAP_NONE;
	r->rnr_wait = false;
	catch_up(qp);
	if (qp->state == QPS_ERR)
		return;
	req_arm(qp);
	/* without anything to send a QP needs a turn only to notice that it has drained */
	if (r->cur != r->tail || r->blk_next != r->blk_prod || qp->draining)
		qp_ready(qp);
}

/*
 * Completes requests: everything before PSN end has arrived.  A request that was refused while its
 * packets were being sent ends with the last one sent.  A READ is complete only when its data has
 * come: returns true if one is in the way, which means that its answer, or a part of it, was lost.
 *
 * A request without a PSN may lie before the one that an answer belongs to: it was executed
 * already, and is passed by when sending starts over.
 */
static bool acknowledge(struct vqp *qp, u32 end)
{
	struct rc_requester *r = &qp->req;
	bool progress = false, missing = false;

	for (;;) {
		s32 ahead = psn_diff(end, r->una);
		struct tx_req *t;

		req_settle(qp);
		if (qp->state == QPS_ERR || r->head == r->tail)
			break;
		t = req_at(r, r->head);
		if (!req_left(r, t) && psn_diff(r->max, r->una) > 0) {
			r->cur++;
			continue;
		}
		if (ahead <= 0)
			break;
		if (op_is_answered(t->opcode)) {
			missing = true;
			break;
		}
		r->una = psn_add(r->una, MIN((u32)ahead, req_left(r, t)));
		req_follow_una(r);
		progress = true;
	}
	if (progress)
		made_progress(qp);
	return missing;
}

/* A loss is reported again: the resent packet is lost too, or the report was duplicated or late. */
static void hurry(struct vqp *qp)
{
	struct rc_requester *r = &qp->req;
	u64 soon = qp->dev->adapter.worker->now + (4096ull << qp->attr.timeout) / HURRY;

	/* nothing was sent since, or the timer is off, or fires soon anyway */
	if (r->nxt == r->una || r->timer.due == TIMER_OFF || r->timer.due <= soon)
		return;
	r->gap = GAP_HURRY;
	timer_set(&qp->dev->adapter.timers, &r->timer, soon);
}

/*
 * A packet was lost: send again, at once only the first time until there is
 * progress or the timer fires.  Further reports of it may have been duplicated or
 * delayed on the way, and must not use up the retries.  Nor does a loss that is reported
 * with progress: with every such report fewer packets are left to send.
 */
static void loss_noticed(struct vqp *qp, bool progress)
{
	/* everything is sent again after the RNR wait */
	if (qp->req.rnr_wait)
		return;
	if (qp->req.gap == GAP_BACK)
		hurry(qp);
	if (qp->req.gap != GAP_NONE)
		return;
	qp->req.gap = GAP_BACK;
	qp_trace(qp, "a packet was lost", 0);
	if (progress)
		req_rewind(qp);
	else
		req_retry(qp);
}

static void take_credits(struct rc_requester *r, const struct wire_hdr *h)
{
	u8 code = h->syndrome & AETH_VALUE_MASK;

	r->lsn_valid = code != AETH_CREDIT_INVALID;
	r->lsn = (h->msn + credits_of(code)) & PSN_MASK;
}

static void receiver_not_ready(struct vqp *qp, u8 code)
{
	struct rc_requester *r = &qp->req;
	struct adapter *a = &qp->dev->adapter;

	/* a second RNR NAK: nothing was sent since the first */
	if (r->rnr_wait)
		return;
	if (!r->rnr_left) {
		req_fail(qp, VHCA_CS_RNR_RETRY_EXC_ERR);
		return;
	}
	if (qp->attr.rnr_retry != RNR_FOREVER)
		r->rnr_left--;
	req_rewind(qp);
	r->rnr_wait = true;
	r->gap = GAP_NONE;
	qp_trace(qp, "wait: the receiver is not ready", rnr_10us[code] * 10000ull);
	timer_set(&a->timers, &r->timer, a->worker->now + rnr_10us[code] * 10000ull);
}

static void refused(struct vqp *qp, u8 code, bool progress)
{
	switch (code) {
	case NAK_PSN_SEQUENCE:
		loss_noticed(qp, progress);
		break;
	case NAK_INVALID_REQUEST:
		req_fail(qp, VHCA_CS_REM_INV_REQ_ERR);
		break;
	case NAK_REMOTE_ACCESS:
		req_fail(qp, VHCA_CS_REM_ACCESS_ERR);
		break;
	case NAK_REMOTE_OPERATIONAL:
		req_fail(qp, VHCA_CS_REM_OP_ERR);
		break;
	default:
		req_fail(qp, why(qp, VHCA_WHY_NAK_UNKNOWN, VHCA_CS_BAD_RESP_ERR));
		break;
	}
}

/* May an answer carry this PSN now?  Others are old ones and are ignored. */
static bool expected(const struct rc_requester *r, u32 psn)
{
	return psn_diff(psn, r->una) >= 0 && psn_diff(psn, r->max) < 0;
}

static void count_nak(const struct vqp *qp, u8 type, u8 code)
{
	if (type == AETH_RNR_NAK)
		QP_COUNT(qp, rnr_naks_received, 1);
	else if (type == AETH_NAK && code == NAK_PSN_SEQUENCE)
		QP_COUNT(qp, seq_naks_received, 1);
	else if (type == AETH_NAK)
		QP_COUNT(qp, error_naks_received, 1);
}

void req_rx_ack(struct vqp *qp, struct run *run)
{
	struct rc_requester *r = &qp->req;
	u8 type = run->h.syndrome & AETH_TYPE_MASK, code = run->h.syndrome & AETH_VALUE_MASK;
	u32 psn = run->h.psn, before = r->una;

	if (!expected(r, psn))
		return;
	if (type == AETH_ACK) {
		take_credits(r, &run->h);
		if (acknowledge(qp, psn_add(psn, 1)))
			loss_noticed(qp, false);
		return;
	}
	count_nak(qp, type, code);
	if (acknowledge(qp, psn)) {
		loss_noticed(qp, false);
		return;
	}
	if (qp->state == QPS_ERR || r->una != psn)
		return;
	if (type == AETH_RNR_NAK)
		receiver_not_ready(qp, code);
	else if (type == AETH_NAK)
		refused(qp, code, r->una != before);
}

/* Returns the bytes of the answer, which is empty for atomic writes and flushes. */
static u32 answer_len(const struct tx_req *t)
{
	return op_is_read(t->opcode) ? t->len : 0;
}

/* Do the lengths of these packets fit the READ they answer? */
static bool fits(const struct vqp *qp, const struct tx_req *t, const struct run *run, u32 first)
{
	u64 off = (u64)first * qp->mtu;

	if (first + run->npkts > t->npkts || (run->npkts > 1 && run->mtu != qp->mtu))
		return false;
	if (first + run->npkts == t->npkts)
		return run->last && run->len == answer_len(t) - off;
	return run->len == (u64)run->npkts * qp->mtu;
}

/*
 * Places a part of the answer; if it goes to very many pieces only some packets, and the others are
 * cut off.  Returns a status, or -1: the responder's error.
 */
static int place(struct vqp *qp, const struct tx_req *t, struct run *run, u64 off)
{
	struct send_wqe *w = &qp_scratch(qp)->rd_wqe;
	int st = req_reload(qp, t, w);
	struct sglist l = { w->sge, w->nsge, MKEY_WRITE_LOCAL, qp_local_scope(qp, qp->pd) };
	u32 done;

	if (st)
		return st;
	done = payload_scatter(qp, run, &l, off, run->len);
	if (done == run->len)
		return VHCA_CS_SUCCESS;
	if (pieces_enough(qp->dev->adapter.worker, run, done)) {
		run_cut(run, 0, done / run->mtu);
		return VHCA_CS_SUCCESS;
	}
	return run->pl->fault ? -1 : VHCA_CS_LOC_PROT_ERR;
}

/* Returns the request that this packet answers, or the next part of it; NULL: there is none. */
static struct tx_req *answered(struct vqp *qp, const struct run *run)
{
	struct rc_requester *r = &qp->req;

	if (!expected(r, run->h.psn))
		return NULL;
	if (acknowledge(qp, run->h.psn)) {
		loss_noticed(qp, false);
		return NULL;
	}
	if (qp->state == QPS_ERR || r->una != run->h.psn || r->head == r->tail)
		return NULL;
	return req_at(r, r->head);
}

/* Accounts for packets of an answer that have arrived and are placed. */
static void took_answer(struct vqp *qp, const struct run *run)
{
	struct rc_requester *r = &qp->req;

	r->una = psn_add(r->una, run->npkts);
	req_follow_una(r);
	req_settle(qp);
	made_progress(qp);
}

void req_rx_read(struct vqp *qp, struct run *run)
{
	struct tx_req *t = answered(qp, run);
	u32 first, sent;
	int st;

	if (!t || !op_is_answered(t->opcode) || op_is_atomic(t->opcode))
		return;
	first = (run->h.psn - t->psn) & PSN_MASK;
	if (!fits(qp, t, run, first)) {
		req_fail(qp, VHCA_CS_BAD_RESP_ERR);
		return;
	}
	sent = run->npkts;
	st = run->len ? place(qp, t, run, (u64)first * qp->mtu) : 0;
	if (st < 0)
		return;
	if (st) {
		req_fail(qp, st);
		return;
	}
	took_answer(qp, run);
	/* request the packets again that were cut off */
	if (run->npkts < sent && qp->state != QPS_ERR)
		req_rewind(qp);
}

/* Stores the value where the request says, in the byte order of the memory. */
void req_rx_atomic(struct vqp *qp, struct run *run)
{
	struct tx_req *t = answered(qp, run);
	u64 value = htole64(run->h.orig);
	struct payload pl;
	struct run word = { .npkts = 1, .mtu = sizeof(value), .len = sizeof(value), .pl = &pl };
	int st;

	if (!t || !op_is_atomic(t->opcode))
		return;
	pl.mem = NULL;
	pl.host = (const u8 *)&value;
	pl.fault = false;
	st = place(qp, t, &word, 0);
	if (st)
		req_fail(qp, st);
	else
		took_answer(qp, run);
}

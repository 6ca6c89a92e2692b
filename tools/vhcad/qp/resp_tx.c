// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * RC responder: sending.
 *
 * Answers leave in order of PSN: first those to READs and atomics, as long as
 * there are any, then the acknowledgment or NAK for packets behind them.
 */
#include <endian.h>

#include "qp/complete.h"
#include "qp/counter.h"
#include "qp/ready.h"
#include "qp/recv.h"
#include "qp/responder.h"
#include "qp/srq.h"

/* The number of receives that each credit code stands for. */
static const u16 credit_table[] = {
	0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768,
	1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
};

u32 credits_of(u8 code)
{
	return code < ARRAY_SIZE(credit_table) ? credit_table[code] : 0;
}

static u8 resp_credits(struct vqp *qp)
{
	struct dbrec rec = qp_rec_recv(qp);
	u32 n, code = 0;
	u64 prod;

	/* receives of an SRQ cannot be promised to one QP */
	if (qp_shares(qp))
		return AETH_CREDIT_INVALID;
	if (qp->log_rq == VHCA_NO_QUEUE || dbrec_load(&rec, &prod))
		return 0;
	/* the MSN does not count the message under way, whose receive is taken */
	n = (u32)prod - qp->recv.next + qp->recv.taken;
	while (code + 1 < ARRAY_SIZE(credit_table) && credit_table[code + 1] <= n)
		code++;
	return code;
}

/*
 * The PD of an answer's memory.  A target may serve another SRQ by now, or the SRQ may be
 * destroyed.
 */
static const struct vpd *answer_pd(const struct vqp *qp, const struct resp_res *res)
{
	const struct vsrq *srq;

	if (!qp_is_target(qp))
		return qp->pd;
	srq = xrc_find(qp, res->srqn);
	return srq ? srq->pd : NULL;
}

static void unqueue(struct rc_responder *s, struct resp_res *res)
{
	res->queued = false;
	s->fifo_head = (s->fifo_head + 1) % VDEV_MAX_RD_ATOMIC;
	s->fifo_n--;
}

/*
 * Refuses to repeat an answer whose memory the peer may not read any more.  A requester that has
 * the answer already ignores this NAK, and its connection must not break for a late duplicate of a
 * request; one that does not have it learns why it does not come.
 */
static bool cannot_repeat(struct vqp *qp, struct resp_res *res)
{
	struct run run = { .h.path = qp->path, .service = qp->service, .kind = WIRE_ACK,
			   .first = true, .last = true, .npkts = 1, .mtu = qp->mtu };

	if (!qp_may_send(qp))
		return false;
	run.h.psn = psn_add(res->psn, res->sent);
	run.h.syndrome = AETH_NAK | NAK_REMOTE_ACCESS;
	run.h.msn = res->msn;
	unqueue(&qp->resp, res);
	QP_COUNT(qp, error_naks_sent, 1);
	return qp_send(qp, &run);
}

/* Sends one run of the oldest answer; false: there is no room, or the QP has failed. */
static bool send_answer(struct vqp *qp, u32 *bytes)
{
	struct rc_responder *s = &qp->resp;
	struct resp_res *res = &s->res[s->fifo[s->fifo_head]];
	u32 off = res->sent * qp->mtu, room = qp_may_send(qp);
	u32 n = MIN(res->end - res->sent, MAX(*bytes / qp->mtu, 1u));
	struct sge from = { .addr = res->va, .len = res->len, .key = res->rkey };
	struct sglist l = { &from, 1, MKEY_READ_REMOTE, qp_scope(qp) };
	struct run run = { .h.path = qp->path, .service = qp->service, .kind = WIRE_READ_RESP,
			   .mtu = qp->mtu };
	struct payload pl;

	if (!room)
		return false;
	n = MIN(n, room);
	l.scope.pd = answer_pd(qp, res);
	pl.fault = false;
	run.len = MIN((u64)n * qp->mtu, (u64)res->end_off - off);
	if (run.len) {
		u32 got = payload_gather(qp, &l, off, run.len, &pl);

		if (!got)
			goto fault;
		n = (got - 1) / qp->mtu + 1;
		run.len = got;
		run.pl = &pl;
	}
	run.npkts = n;
	run.first = res->sent == res->start;
	run.last = res->sent + n == res->end;
	run.h.psn = psn_add(res->psn, res->sent);
	run.h.syndrome = AETH_ACK | resp_credits(qp);
	run.h.msn = res->msn;
	if (wire_is_atomic(res->kind)) {
		run.kind = WIRE_ATOMIC_ACK;
		run.h.orig = res->orig;
	}
	if (!qp_send(qp, &run))
		return false;
	if (pl.fault)
		goto fault;
	*bytes -= MIN(*bytes, run.len);
	res->sent += n;
	if (res->sent == res->end)
		unqueue(s, res);
	return true;
fault:
	if (res->again)
		return cannot_repeat(qp, res);
	/* the key was invalidated, or its pages were revoked, since the request was accepted */
	s->fifo_n = 0;
	s->epsn = psn_add(res->psn, res->sent);
	resp_no_access(qp);
	return true;
}

static void count_answer(const struct vqp *qp)
{
	const struct rc_responder *s = &qp->resp;

	if (s->closing)
		QP_COUNT(qp, error_naks_sent, 1);
	else if ((s->syndrome & AETH_TYPE_MASK) == AETH_RNR_NAK)
		QP_COUNT(qp, rnr_naks_sent, 1);
	else if ((s->syndrome & AETH_TYPE_MASK) == AETH_NAK)
		QP_COUNT(qp, seq_naks_sent, 1);
}

static bool send_ack(struct vqp *qp)
{
	struct rc_responder *s = &qp->resp;
	struct run run = { .h.path = qp->path, .service = qp->service, .kind = WIRE_ACK,
			   .first = true, .last = true, .npkts = 1, .mtu = qp->mtu };
	bool positive = (s->syndrome & AETH_TYPE_MASK) == AETH_ACK;
	bool closing = s->closing, lives;
	u8 event = s->event;

	if (!qp_may_send(qp))
		return false;
	s->ack = false;
	run.h.psn = positive ? psn_add(s->epsn, PSN_MASK) : s->epsn;
	run.h.syndrome = s->syndrome | (positive ? resp_credits(qp) : 0);
	run.h.msn = s->msn;
	count_answer(qp);
	lives = qp_send(qp, &run);
	if (lives && closing)
		qp_error(qp);
	if (closing && event)
		eq_async(qp->dev, &qp->ev, event);
	return lives;
}

/* Has it to send an acknowledgment that can be sent now? */
static bool owes_ack(const struct vqp *qp)
{
	bool answers = qp->state >= QPS_RTR && qp->state != QPS_ERR;

	return answers && qp->resp.ack && !qp->resp.fifo_n && fab_room(&qp->port->fab);
}

bool resp_may_settle(struct vqp *qp)
{
	struct adapter *a = &qp->dev->adapter;
	const struct vport *to;

	if (!owes_ack(qp) || a->worker->alone)
		return true;
	to = qp_peer_port(qp);
	return !to || adapter_is_near(a, &to->dev->adapter) || adapter_alone(a);
}

void resp_settle(struct vqp *qp)
{
	if (owes_ack(qp))
		send_ack(qp);
}

bool resp_run(struct vqp *qp, u32 *bytes)
{
	struct rc_responder *s = &qp->resp;

	while (s->fifo_n) {
		if (!*bytes || cost_late(qp->dev->adapter.worker))
			return true;
		if (!send_answer(qp, bytes))
			return false;
		cost_pieces(qp->dev->adapter.worker, bytes);
	}
	if (s->ack)
		send_ack(qp);
	return false;
}

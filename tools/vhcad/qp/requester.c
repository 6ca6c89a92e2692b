// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * RC requester: sending.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "qp/complete.h"
#include "qp/counter.h"
#include "qp/path.h"
#include "qp/ready.h"
#include "qp/requester.h"

enum progress {
	WENT_ON,		/* something was done: look for more */
	MUST_WAIT,		/* an answer, room or the receiver's adapter has to come first */
};

/* The QP goes on when something that is under way has arrived, whenever that is. */
static enum progress wait_for(const struct vqp *qp, const char *what)
{
	qp_trace(qp, what, 0);
	return MUST_WAIT;
}

void req_reset(struct vqp *qp, u32 psn)
{
	struct rc_requester *r = &qp->req;

	timer_stop(&r->timer);
	r->head = 0;
	r->cur = 0;
	r->tail = 0;
	r->cur_pkt = 0;
	r->una = psn;
	r->nxt = psn;
	r->max = psn;
	r->new_psn = psn;
	r->ssn = 0;
	r->lsn_valid = false;
	r->stopped = false;
	r->rnr_wait = false;
	r->gap = GAP_NONE;
	r->leftover = false;
	r->late = false;
	r->reads = 0;
	if (!qp_is_target(qp))
		qp->group = (struct fab_cursor){ 0 };
	r->retry_left = qp->attr.retry_cnt;
	r->rnr_left = qp->attr.rnr_retry;
}

void req_doorbell(struct vqp *qp)
{
	struct rc_requester *r = &qp->req;
	u64 prod;

	if (qp->log_sq == VHCA_NO_QUEUE || qp->state < QPS_RTS)
		return;
	if (dbrec_load(&qp->rec_send, &prod)) {
		qp_error_event(qp, EVB_QP_FATAL);
		return;
	}
	if ((u32)prod - r->blk_next > 1u << qp->log_sq) {
		qp_error_event(qp, EVB_QP_FATAL);
		return;
	}
	r->blk_prod = prod;
	qp_ready(qp);
}

/*
 * The request being sent cannot go on.  Its packets that were sent have to be
 * acknowledged first; the requests behind it will be flushed.
 */
static void refuse_current(struct vqp *qp, u8 status)
{
	struct rc_requester *r = &qp->req;
	struct tx_req *t = req_at(r, r->cur);

	t->status = status;
	t->why = why_failed(qp, status, false);
	t->npkts = r->cur_pkt;
	r->stopped = true;
	r->cur++;
	r->cur_pkt = 0;
	r->tail = r->cur;
	r->blk_next = t->blk + t->nblk;
	r->new_psn = r->nxt;
	req_settle(qp);
}

/* Refuses a request with an answer if max_rd_atomic became 0 since it was taken, in SQD. */
static enum progress refuse_answered(struct vqp *qp)
{
	refuse_current(qp, why(qp, VHCA_WHY_NO_READS, VHCA_CS_LOC_QP_OP_ERR));
	return WENT_ON;
}

/* From now on answers to the next n PSNs are accepted. */
static void may_arrive(struct rc_requester *r, u32 n)
{
	u32 end = psn_add(r->nxt, n);

	if (psn_diff(end, r->max) > 0)
		r->max = end;
}

/* Notes that n packets (PSNs) of the current request have been sent. */
static void went_out(struct vqp *qp, struct tx_req *t, u32 n)
{
	struct rc_requester *r = &qp->req;

	may_arrive(r, n);
	r->nxt = psn_add(r->nxt, n);
	r->cur_pkt += n;
	if (r->cur_pkt == t->npkts) {
		r->cur++;
		r->cur_pkt = 0;
	}
	if (r->timer.due == TIMER_OFF)
		req_arm(qp);
}

static enum progress send_read(struct vqp *qp, struct tx_req *t, u32 *bytes)
{
	struct rc_requester *r = &qp->req;
	u32 n = MIN(t->npkts - r->cur_pkt, READ_MAX_PKTS - r->cur_pkt % READ_MAX_PKTS);
	u32 out = psn_diff(r->nxt, r->una);
	u32 off = r->cur_pkt * qp->mtu;
	struct run run = { .h.path = qp->path, .service = qp->service, .kind = WIRE_READ_REQ,
			   .npkts = 1, .mtu = qp->mtu, .first = true, .last = true };

	if (!r->cur_pkt && !qp->attr.max_rd_atomic)
		return refuse_answered(qp);
	if (!r->cur_pkt && r->reads >= qp->attr.max_rd_atomic)
		return wait_for(qp, "wait: READs and atomics under way");
	if (out && (r->cur_pkt || out + n > READ_MAX_PKTS))
		return wait_for(qp, "wait: the window");
	if (!qp_may_send(qp))
		return MUST_WAIT;
	run.h.psn = r->nxt;
	run.h.srqn = t->srqn;
	run.h.ackreq = true;
	run.h.va = t->raddr + off;
	run.h.rkey = t->rkey;
	run.h.dmalen = MIN((u64)n * qp->mtu, (u64)t->len - off);
	if (!qp_send(qp, &run))
		return WENT_ON;
	if (!r->cur_pkt)
		r->reads++;
	went_out(qp, t, n);
	*bytes -= MIN(*bytes, qp->mtu);
	return WENT_ON;
}

/*
 * If the credits that the responder has advertised are used up, the message's first
 * packet is sent alone; when it is acknowledged, the message has got its receive.
 */
static bool over_credit(const struct rc_requester *r, const struct tx_req *t)
{
	if (!r->lsn_valid || t->opcode == VHCA_OP_WRITE ||
	    (s32)((t->ssn - r->lsn) << 8) <= 0)
		return false;
	return !r->cur_pkt || r->una == t->psn;
}

/*
 * How many packets may be under way?  The next ones would make them @wanted.
 *
 * A peer outside of the daemon gets packets through a queue, and may just be slow.  When the timer
 * has fired a single packet is sent as a probe, and then as many as the peer acknowledges: if each
 * time all were sent again, the queue would grow faster than it is emptied, and the acknowledgment
 * would come too late again.
 */
static u32 window(const struct vqp *qp, u32 wanted)
{
	const struct rc_requester *r = &qp->req;
	u32 far;

	if (!qp->path.eth)
		return TX_WINDOW;
	far = FAR_WINDOW / qp->mtu;
	if (r->late)
		far = MIN(far, 1u + psn_diff(r->una, r->late_una));
	if (wanted <= far || fab_receiver(&qp->port->fab, &qp->path))
		return TX_WINDOW;
	return far;
}

static enum progress send_data(struct vqp *qp, struct tx_req *t, u32 *bytes)
{
	struct rc_requester *r = &qp->req;
	u32 out = psn_diff(r->nxt, r->una), len, room;
	u32 n = MIN(t->npkts - r->cur_pkt, MAX(*bytes / qp->mtu, 1u));
	u32 most = window(qp, out + n);
	struct payload pl;
	struct run run;
	int st;

	if (out >= most)
		return wait_for(qp, "wait: the window");
	if (over_credit(r, t)) {
		if (out)
			return wait_for(qp, "wait: the peer's receives");
		n = 1;
	}
	room = qp_may_send(qp);
	if (!room)
		return MUST_WAIT;
	n = MIN(n, room);
	st = req_fill(qp, t, MIN(n, most - out), &run, &pl);
	if (st) {
		refuse_current(qp, st);
		return WENT_ON;
	}
	run.h.ackreq = true;
	n = run.npkts;
	len = run.len;
	if (!qp_send(qp, &run))
		return WENT_ON;
	if (len && pl.fault) {
		/* some may have arrived, and are acknowledged together with those sent before */
		may_arrive(r, n);
		refuse_current(qp, VHCA_CS_LOC_PROT_ERR);
		return WENT_ON;
	}
	went_out(qp, t, n);
	*bytes -= MIN(*bytes, len);
	return WENT_ON;
}

/* Sends an atomic, an atomic write or a flush: one packet, which one packet answers. */
static enum progress send_single(struct vqp *qp, struct tx_req *t, u32 *bytes)
{
	struct rc_requester *r = &qp->req;
	struct payload pl;
	struct run run;
	int st;

	if (!qp->attr.max_rd_atomic)
		return refuse_answered(qp);
	if (r->reads >= qp->attr.max_rd_atomic || psn_diff(r->nxt, r->una) >= (s32)READ_MAX_PKTS)
		return wait_for(qp, "wait: READs and atomics under way");
	if (!qp_may_send(qp))
		return MUST_WAIT;
	pl.fault = false;
	st = req_fill_single(qp, t, &run, &pl);
	if (st) {
		refuse_current(qp, st);
		return WENT_ON;
	}
	run.h.ackreq = true;
	if (!qp_send(qp, &run))
		return WENT_ON;
	if (pl.fault) {
		refuse_current(qp, VHCA_CS_LOC_PROT_ERR);
		return WENT_ON;
	}
	r->reads++;
	went_out(qp, t, 1);
	*bytes -= MIN(*bytes, (u32)sizeof(u64));
	return WENT_ON;
}

/*
 * An invalidated key takes memory from requests before it, which may have to be
 * sent again: it waits until they are complete.  Other local operations begin in order.
 */
static enum progress do_local(struct vqp *qp, struct tx_req *t)
{
	struct rc_requester *r = &qp->req;
	u8 st;

	if (t->opcode == VHCA_OP_LOCAL_INV ? r->head != r->cur :
	    t->flags & VHCA_WQE_FENCE && r->reads)
		return wait_for(qp, "wait: requests before it");
	st = req_local(qp, t);
	if (st) {
		refuse_current(qp, st);
		return WENT_ON;
	}
	t->done = true;
	r->cur++;
	req_settle(qp);
	return WENT_ON;
}

static enum progress send_current(struct vqp *qp, u32 *bytes)
{
	struct rc_requester *r = &qp->req;
	struct tx_req *t = req_at(r, r->cur);

	if (op_is_local(t->opcode) && !t->done && !t->status)
		return do_local(qp, t);
	if (!t->npkts) {
		r->cur++;
		req_settle(qp);
		return WENT_ON;
	}
	if (!r->cur_pkt && t->flags & VHCA_WQE_FENCE && r->reads)
		return wait_for(qp, "wait: a fence");
	if (!op_is_answered(t->opcode))
		return send_data(qp, t, bytes);
	return op_is_read(t->opcode) ? send_read(qp, t, bytes) : send_single(qp, t, bytes);
}

void req_drained(struct vqp *qp)
{
	if (qp->state != QPS_SQD || !qp->draining || qp->req.head != qp->req.tail)
		return;
	qp->draining = false;
	if (qp->attr.en_sqd_async_notify)
		eq_async(qp->dev, &qp->ev, EVB_SQ_DRAINED);
}

bool req_run(struct vqp *qp, u32 *bytes, u32 *wqes)
{
	struct rc_requester *r = &qp->req;

	while (!r->rnr_wait && (qp->state == QPS_RTS || qp->state == QPS_SQD)) {
		enum progress p;

		if (!*wqes || !*bytes || cost_late(qp->dev->adapter.worker))
			return true;
		if (r->cur == r->tail) {
			if (!req_take(qp))
				break;
			--*wqes;
		}
		p = send_current(qp, bytes);
		cost_pieces(qp->dev->adapter.worker, bytes);
		if (p == MUST_WAIT)
			return false;
	}
	req_drained(qp);
	return false;
}

/* Is @peer, which this QP sends to, connected to this QP? */
static bool comes_back(const struct vqp *qp, const struct vqp *peer)
{
	if (peer->path.dqpn != qp->qpn)
		return false;
	if (qp->path.eth)
		return !memcmp(peer->path.dgid, qp->path.sgid, sizeof(qp->path.sgid));
	return peer->path.dlid == qp->path.slid;
}

/*
 * Has the peer an answer that waits only for its turn?  Then the engine is late, not the network,
 * and no packet is taken for lost.  The same holds while another thread has the peer, where there
 * may be such an answer.
 */
static bool answer_waits(struct vqp *qp)
{
	struct vport *p;
	struct vqp *peer;

	qp_follow_port(qp);
	p = qp_peer_port(qp);
	if (!p)
		return false;
	if (!adapter_meet(&qp->dev->adapter, &p->dev->adapter))
		return true;
	peer = dev_live(p->dev) ? qp_find(p->dev, qp->path.dqpn) : NULL;
	if (peer)
		qp_follow_port(peer);
	return peer && comes_back(qp, peer) && (peer->resp.ack || peer->resp.fifo_n) &&
	       !list_empty(&peer->ready_node) && fab_room(&peer->port->fab);
}

void req_timeout(struct timer *t)
{
	struct vqp *qp = container_of(t, struct vqp, req.timer);

	if (!dev_live(qp->dev) || (qp->state != QPS_RTS && qp->state != QPS_SQD))
		return;
	if (qp->req.rnr_wait) {
		qp_trace(qp, "RNR: sends again", 0);
		qp->req.rnr_wait = false;
		qp_ready(qp);
		return;
	}
	if (answer_waits(qp)) {
		qp_trace(qp, "wait: the answer's turn", 0);
		req_arm(qp);
		return;
	}
	qp_trace(qp, "ACK time-out", 0);
	qp->req.late = true;
	qp->req.late_una = qp->req.una;
	if (qp->req.gap == GAP_HURRY) {
		qp->req.gap = GAP_AGAIN;
	} else {
		qp->req.gap = GAP_NONE;
		if (qp->req.retry_left)
			QP_COUNT(qp, timeouts, 1);
	}
	req_retry(qp);
}

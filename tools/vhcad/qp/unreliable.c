// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requester of the unreliable services.
 *
 * One request is under way at a time, and it is complete when its last packet
 * has been sent: nothing is acknowledged, kept or sent again.  A
 * request that fails takes the QP to SQE: requests posted behind it are flushed,
 * receives go on, and the driver can take the QP back to RTS.
 */
#include <endian.h>

#include "qp/complete.h"
#include "qp/counter.h"
#include "qp/offload.h"
#include "qp/ud.h"
#include "qp/ready.h"
#include "qp/requester.h"
#include "qp/special.h"

static void complete(struct vqp *qp, const struct tx_req *t, u8 status)
{
	struct rc_requester *r = &qp->req;

	qp->group = (struct fab_cursor){ 0 };
	r->head++;
	r->cur = r->head;
	r->cur_pkt = 0;
	r->new_psn = r->nxt;
	qp_complete_send(qp, t, status);
	if (status)
		qp_send_error(qp);
}

/* Fills in the destination of a run of a QP that is not connected. */
static int address(struct vqp *qp, const struct tx_req *t, struct run *run)
{
	return qp_datagrams(qp) ? ud_address(qp, t, run) : VHCA_CS_SUCCESS;
}

/*
 * Sends a datagram to as many ports of a group as the slice has bytes for: the others get it in the
 * next one.  Returns false if there are others.
 */
static bool send_to_group(struct vqp *qp, struct run *run, u32 *bytes)
{
	if (!qp->group.going)
		qp_count_tx(qp, run);
	return fab_send_some(&qp->port->fab, run, &qp->group, bytes) && qp->state != QPS_ERR;
}

static bool send_out(struct vqp *qp, struct run *run, u32 *bytes)
{
	if (path_is_mcast(&run->h.path))
		return send_to_group(qp, run, bytes);
	/* an agent may answer at once, for all ports of a switch */
	if (run->h.dqpn < VHCA_SPECIAL_QPS)
		cost_look(qp->dev->adapter.worker);
	if (qp->type == VHCA_QPT_SMI)
		return smi_send(qp, run);
	return qp_send(qp, run);
}

/* Sends packets of the request under way; false: it has to wait. */
static bool send_some(struct vqp *qp, u32 *bytes)
{
	struct rc_requester *r = &qp->req;
	const struct tx_req *t = &r->q[r->head & r->qmask];
	/* VL15 does not wait */
	u32 room = qp->type == VHCA_QPT_SMI ? 1 : fab_room(&qp->port->fab), n, len;
	struct payload pl;
	struct run run;
	int st;

	if (!t->npkts) {
		u8 status = t->status;

		if (!status && op_is_local(t->opcode))
			status = req_local(qp, t);
		complete(qp, t, status);
		return true;
	}
	/* the port's MTU may have become smaller since the request was taken */
	if (qp_datagrams(qp) && t->opcode != VHCA_OP_LSO && t->len > qp->mtu) {
		complete(qp, t, VHCA_CS_LOC_LEN_ERR);
		return true;
	}
	if (!room) {
		qp_wait_room(qp);
		return false;
	}
	n = MIN(t->npkts - r->cur_pkt, MAX(*bytes / qp->mtu, 1u));
	if (offload_wanted(t))
		st = offload_fill(qp, t, &run, &pl);
	else
		st = req_fill(qp, t, MIN(n, room), &run, &pl);
	if (!st)
		st = address(qp, t, &run);
	if (st) {
		complete(qp, t, st);
		return true;
	}
	/* packets of QP 0 wait in the fabric */
	if (qp->type != VHCA_QPT_SMI && !qp_reaches(qp, &run.h.path)) {
		qp_wait_away(qp);
		return false;
	}
	n = run.npkts;
	len = run.len;
	if (!send_out(qp, &run, bytes))
		return true;
	if (len && pl.fault) {
		complete(qp, t, VHCA_CS_LOC_PROT_ERR);
		return true;
	}
	r->nxt = psn_add(r->nxt, n);
	r->cur_pkt += n;
	/* an entry may stand for many short datagrams */
	*bytes -= MIN(*bytes, len + (t->npkts > 1 && offload_wanted(t) ? COPY_COST : 0));
	if (r->cur_pkt == t->npkts)
		complete(qp, t, VHCA_CS_SUCCESS);
	return true;
}

/* Flushes what was posted while the QP was in SQE, even if it is in RTS again. */
static bool flush_leftover(struct vqp *qp)
{
	struct rc_requester *r = &qp->req;

	if (r->leftover && !flush_ring(qp, r->leftover_end))
		r->leftover = false;
	return r->leftover;
}

bool unreliable_run(struct vqp *qp, u32 *bytes, u32 *wqes)
{
	struct rc_requester *r = &qp->req;

	while (qp->state == QPS_RTS || qp->state == QPS_SQD) {
		cost_pieces(qp->dev->adapter.worker, bytes);
		if (!*wqes || !*bytes || cost_late(qp->dev->adapter.worker))
			return true;
		if (flush_leftover(qp)) {
			--*wqes;
			continue;
		}
		if (r->head == r->tail) {
			if (!req_take(qp))
				break;
			--*wqes;
			/* each datagram goes elsewhere, and its payload is looked up first */
			if (qp_datagrams(qp))
				fab_prefetch(&qp->port->fab,
					     le16toh(qp_scratch(qp)->tx_wqe.av.dlid));
		}
		if (!send_some(qp, bytes))
			return false;
	}
	if (qp->state == QPS_SQE)
		return flush_sends(qp, wqes);
	req_drained(qp);
	return false;
}

void unreliable_resume(struct vqp *qp)
{
	struct rc_requester *r = &qp->req;

	req_doorbell(qp);
	r->stopped = false;
	r->leftover = true;
	r->leftover_end = r->blk_prod;
}

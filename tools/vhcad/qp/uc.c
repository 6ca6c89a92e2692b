// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * UC responder.
 *
 * A message arrives as a whole or not at all, and the sender does not learn that it did not.
 * When it cannot go on (a packet is missing, there is no receive, the sender may not
 * write to the memory) the rest of it is dropped, and the next first
 * packet starts over.  A receive that it had taken serves the next message.
 */
#include <endian.h>
#include <errno.h>

#include "qp/complete.h"
#include "qp/counter.h"
#include "qp/recv.h"
#include "qp/responder.h"

static void drop_message(struct vqp *qp)
{
	qp->resp.kind = WIRE_NONE;
}

static bool take_recv(struct vqp *qp)
{
	int st = recv_take(qp);

	if (!st)
		return true;
	if (st > 0)
		qp_recv_error(qp, st);
	else if (st == -EAGAIN)
		QP_COUNT(qp, rx_no_receive, 1);
	drop_message(qp);
	return false;
}

static void arrived(struct vqp *qp, const struct run *run)
{
	struct rc_responder *s = &qp->resp;
	struct vhca_cqe cqe = {
		.opcode = s->kind == WIRE_SEND ? VHCA_CQE_RECV : VHCA_CQE_RECV_WRITE_IMM,
		.imm = run->imm ? run->h.imm : 0,
		.flags = run->imm ? VHCA_CQE_F_IMM : 0,
	};

	s->done += run->len;
	if (!run->last)
		return;
	cqe.byte_len = htole32(s->done);
	if (s->kind == WIRE_SEND || run->imm)
		qp_complete_recv(qp, &cqe, VHCA_CS_SUCCESS, run->h.se);
	drop_message(qp);
}

static void rx_send(struct vqp *qp, struct run *run)
{
	struct rc_responder *s = &qp->resp;
	struct recv_wqe *w = &qp_scratch(qp)->rx_wqe;
	struct sglist l = { .access = MKEY_WRITE_LOCAL,
			    .scope = qp_local_scope(qp, qp->recv.pd) };
	u32 got;
	int st;

	if (run->first) {
		if (!take_recv(qp))
			return;
	} else {
		st = recv_load(qp);
		if (st) {
			qp_recv_error(qp, st);
			return;
		}
	}
	if (run->len > qp->recv.room - s->done) {
		QP_COUNT(qp, rx_no_receive, 1);
		drop_message(qp);
		return;
	}
	l.sge = w->sge;
	l.n = w->nsge;
	got = payload_scatter(qp, run, &l, s->done, run->len);
	if (got == run->len)
		arrived(qp, run);
	else if (run->pl->fault || pieces_enough(qp->dev->adapter.worker, run, got))
		drop_message(qp);
	else
		qp_recv_error(qp, VHCA_CS_LOC_PROT_ERR);
}

/* The first packet of a WRITE tells where all of it goes. */
static bool start_write(struct vqp *qp, const struct run *run)
{
	struct rc_responder *s = &qp->resp;

	if (!(qp->attr.access & VHCA_ACCESS_REMOTE_WRITE) || run->h.dmalen > VDEV_MAX_MSG)
		return false;
	if (run->h.dmalen && !qp_mkey_find(qp, run->h.rkey, run->h.va, run->h.dmalen,
					   MKEY_WRITE_REMOTE))
		return false;
	s->va = run->h.va;
	s->rkey = run->h.rkey;
	s->dmalen = run->h.dmalen;
	return true;
}

static void rx_write(struct vqp *qp, struct run *run)
{
	struct rc_responder *s = &qp->resp;
	struct sglist l = { .n = 1, .access = MKEY_WRITE_REMOTE, .scope = qp_scope(qp) };
	struct sge to;
	u32 left;

	if (run->first && !start_write(qp, run)) {
		drop_message(qp);
		return;
	}
	left = s->dmalen - s->done;
	if (run->last ? run->len != left : run->len > left) {
		drop_message(qp);
		return;
	}
	if (run->last && run->imm && !take_recv(qp))
		return;
	to = (struct sge){ .addr = s->va, .len = s->dmalen, .key = s->rkey };
	l.sge = &to;
	if (payload_scatter(qp, run, &l, s->done, run->len) == run->len)
		arrived(qp, run);
	else
		drop_message(qp);
}

/*
 * Is there a gap before a packet?  The message under way ends with it, and
 * so does the message of the packet, unless the packet is its first.  However
 * much of one message is missing counts as one loss.
 */
static void check_gap(struct vqp *qp, const struct run *run)
{
	struct rc_responder *s = &qp->resp;
	s32 ahead = psn_diff(run->h.psn, s->epsn);

	if (!ahead)
		return;
	if (s->kind != WIRE_NONE || (ahead > 0 && !s->lost)) {
		QP_COUNT(qp, rx_uc_gaps, 1);
		s->lost = true;
	}
	drop_message(qp);
}

static bool lengths_fit(const struct vqp *qp, const struct run *run)
{
	if (run->npkts > 1)
		return run->mtu == qp->mtu;
	return run->last ? run->len <= qp->mtu : run->len == qp->mtu;
}

void uc_rx(struct vqp *qp, struct run *run)
{
	struct rc_responder *s = &qp->resp;

	resp_heard(qp);
	check_gap(qp, run);
	/* a late or duplicated packet that starts no message changes nothing */
	if (!run->first && psn_diff(run->h.psn, s->epsn) < 0)
		return;
	s->epsn = psn_add(run->h.psn, run->npkts);
	if (run->first) {
		s->lost = false;
		s->kind = run->kind;
		s->done = 0;
	} else if (s->kind != run->kind) {
		drop_message(qp);
		return;
	}
	if (!lengths_fit(qp, run))
		drop_message(qp);
	else if (run->kind == WIRE_SEND)
		rx_send(qp, run);
	else
		rx_write(qp, run);
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * RC responder, and that of XRC: requests that arrive.
 *
 * A run whose packets are all good is placed in one go.  Otherwise the good
 * packets in front count as received, and the answer names the first bad one.
 */
#include <endian.h>
#include <errno.h>

#include "qp/complete.h"
#include "qp/counter.h"
#include "qp/recv.h"
#include "qp/responder.h"
#include "qp/srq.h"

/* Packets that the peer may send behind a NAK before the NAK is assumed to be lost. */
#define RENAK	64u

static void not_ready(struct vqp *qp)
{
	qp->resp.quiet = QUIET_FOR_RECV;
	/* without the capability the packet counts as lost */
	if (qp->dev->caps >> VHCA_CAP_RNR_NAK & 1)
		resp_answer(qp, AETH_RNR_NAK | qp->attr.min_rnr_timer);
}

/* Takes the next receive; false if there is none, or none that can be used. */
static bool take_recv(struct vqp *qp)
{
	int st = recv_take(qp);

	if (st == -EAGAIN)
		not_ready(qp);
	else if (st > 0)
		resp_close(qp, NAK_REMOTE_OPERATIONAL, st, EVB_QP_FATAL);
	return !st;
}

/* Notes that n packets with len bytes have arrived in order and are placed. */
static void accepted(struct vqp *qp, u32 n, u32 len)
{
	resp_advance(&qp->resp, n);
	qp->resp.done += len;
}

static void finish(struct vqp *qp, const struct run *run)
{
	struct rc_responder *s = &qp->resp;

	if (run->last) {
		struct vhca_cqe cqe = {
			.opcode = s->kind == WIRE_SEND ? VHCA_CQE_RECV : VHCA_CQE_RECV_WRITE_IMM,
			.byte_len = htole32(s->done),
			.imm = run->imm ? run->h.imm : 0,
			.flags = run->imm ? VHCA_CQE_F_IMM : 0,
		};

		s->msn = (s->msn + 1) & PSN_MASK;
		if (run->inv) {
			cqe.flags = VHCA_CQE_F_INV;
			cqe.inv_key = htole32(run->h.inv_key);
		}
		if (qp->recv.taken)
			qp_complete_recv(qp, &cqe, VHCA_CS_SUCCESS, run->h.se);
		s->kind = WIRE_NONE;
	}
	if (run->h.ackreq && qp->state != QPS_ERR)
		resp_answer(qp, AETH_ACK);
}

/*
 * It has taken a slice to place some of the packets, as their memory lies in very many pieces.  The
 * others are treated as lost: the peer sends them again, in its turn.
 */
static void lose_rest(struct vqp *qp)
{
	struct rc_responder *s = &qp->resp;

	s->quiet = QUIET_FOR_PSN;
	s->heard = s->epsn;
	s->told = s->epsn;
	resp_answer(qp, AETH_NAK | NAK_PSN_SEQUENCE);
}

/* Invalidates the key that a SEND names, before the SEND completes. */
static bool end_key(struct vqp *qp, const struct run *run)
{
	u8 st = qp_mkey_invalidate(qp, run->h.inv_key, true);

	if (!st)
		return true;
	accepted(qp, run->npkts - 1, (run->npkts - 1) * run->mtu);
	resp_close(qp, NAK_REMOTE_ACCESS, st, EVB_QP_ACCESS_ERR);
	return false;
}

static void rx_send(struct vqp *qp, struct run *run)
{
	struct rc_responder *s = &qp->resp;
	struct recv_wqe *w = &qp_scratch(qp)->rx_wqe;
	u32 room, want, got, good;
	int st;

	if (run->first) {
		if (!take_recv(qp))
			return;
		s->kind = WIRE_SEND;
		s->done = 0;
	} else {
		st = recv_load(qp);
		if (st) {
			resp_close(qp, NAK_REMOTE_OPERATIONAL, st, 0);
			return;
		}
	}
	room = qp->recv.room - s->done;
	want = run->len <= room ? run->len : room / run->mtu * run->mtu;
	got = want;
	if (want) {
		struct sglist l = { w->sge, w->nsge, MKEY_WRITE_LOCAL,
				    qp_local_scope(qp, qp->recv.pd) };

		got = payload_scatter(qp, run, &l, s->done, want);
	}
	if (got == run->len) {
		if (run->last && run->inv && !end_key(qp, run))
			return;
		accepted(qp, run->npkts, got);
		finish(qp, run);
		return;
	}
	good = got / run->mtu;
	accepted(qp, good, good * run->mtu);
	if (pieces_enough(qp->dev->adapter.worker, run, got))
		lose_rest(qp);
	else if (got == want)
		resp_close(qp, NAK_INVALID_REQUEST, VHCA_CS_LOC_LEN_ERR, 0);
	else if (!run->pl->fault)
		resp_close(qp, NAK_REMOTE_OPERATIONAL, VHCA_CS_LOC_PROT_ERR, 0);
}

/* The first packet of a WRITE tells where all of it goes. */
static bool start_write(struct vqp *qp, const struct run *run)
{
	struct rc_responder *s = &qp->resp;

	if (!(qp->attr.access & VHCA_ACCESS_REMOTE_WRITE) || run->h.dmalen > VDEV_MAX_MSG) {
		resp_refuse(qp);
		return false;
	}
	if (run->h.dmalen && !qp_mkey_find(qp, run->h.rkey, run->h.va, run->h.dmalen,
					   MKEY_WRITE_REMOTE)) {
		resp_no_access(qp);
		return false;
	}
	s->kind = WIRE_WRITE;
	s->va = run->h.va;
	s->rkey = run->h.rkey;
	s->dmalen = run->h.dmalen;
	s->done = 0;
	return true;
}

/* Places packets of the WRITE under way. */
static void write_data(struct vqp *qp, struct run *run)
{
	struct rc_responder *s = &qp->resp;
	struct sge to = { .addr = s->va, .len = s->dmalen, .key = s->rkey };
	struct sglist l = { &to, 1, MKEY_WRITE_REMOTE, qp_scope(qp) };
	u32 got = run->len ? payload_scatter(qp, run, &l, s->done, run->len) : 0, good;

	if (got == run->len) {
		accepted(qp, run->npkts, got);
		finish(qp, run);
		return;
	}
	good = got / run->mtu;
	accepted(qp, good, good * run->mtu);
	if (pieces_enough(qp->dev->adapter.worker, run, got))
		lose_rest(qp);
	else if (!run->pl->fault)
		resp_no_access(qp);
}

static void rx_write(struct vqp *qp, struct run *run)
{
	struct rc_responder *s = &qp->resp;
	u32 left;

	if (run->first && !start_write(qp, run))
		return;
	left = s->dmalen - s->done;
	if (run->last ? run->len != left : run->len > left) {
		resp_refuse(qp);
		return;
	}
	/* the last packet may need a receive; those before it do not */
	if (run->last && run->imm && run->npkts > 1) {
		struct run front = *run;

		run_cut(&front, 0, run->npkts - 1);
		run_cut(run, run->npkts - 1, 1);
		write_data(qp, &front);
		if (s->closing || s->epsn != run->h.psn)
			return;
	}
	if (run->last && run->imm && !take_recv(qp)) {
		/* the packet will be sent again, perhaps as a first packet */
		if (run->first)
			s->kind = WIRE_NONE;
		return;
	}
	write_data(qp, run);
}

/* Does this packet continue what came before it, and are the lengths right? */
static bool in_sequence(const struct vqp *qp, const struct run *run)
{
	const struct rc_responder *s = &qp->resp;

	if (run->first ? s->kind != WIRE_NONE : s->kind != run->kind)
		return false;
	if (run->npkts > 1)
		return run->mtu == qp->mtu;
	return run->last ? run->len <= qp->mtu : run->len == qp->mtu;
}

static void in_order(struct vqp *qp, struct run *run)
{
	struct rc_responder *s = &qp->resp;

	/* a NAK that was not sent yet asked for this packet */
	if (s->quiet)
		s->ack = false;
	s->quiet = QUIET_NOT;
	if (!in_sequence(qp, run) || (qp_is_target(qp) && !xrc_turn(qp, run))) {
		resp_refuse(qp);
		return;
	}
	switch (run->kind) {
	case WIRE_SEND:
		rx_send(qp, run);
		break;
	case WIRE_WRITE:
		rx_write(qp, run);
		break;
	default:
		answer_request(qp, run);
		break;
	}
}

/*
 * A packet before these is missing.  A NAK is sent once, and again when the peer must have gone
 * back to the packet, or goes on without having got the NAK: then the packet, or the NAK, is lost
 * too.
 */
static void out_of_order(struct vqp *qp, const struct run *run)
{
	struct rc_responder *s = &qp->resp;
	u32 behind = psn_add(run->h.psn, run->npkts);
	bool again;

	if (s->quiet == QUIET_FOR_RECV)
		return;
	again = psn_diff(run->h.psn, s->heard) < 0 || psn_diff(behind, s->told) > (s32)RENAK;
	s->heard = behind;
	if (s->quiet && (s->ack || !again))
		return;
	s->quiet = QUIET_FOR_PSN;
	s->told = behind;
	resp_answer(qp, AETH_NAK | NAK_PSN_SEQUENCE);
}

void resp_rx(struct vqp *qp, struct run *run)
{
	struct rc_responder *s = &qp->resp;
	s32 ahead = psn_diff(run->h.psn, s->epsn);

	if (s->closing)
		return;
	resp_heard(qp);
	if (ahead > 0) {
		out_of_order(qp, run);
		return;
	}
	if (ahead < 0) {
		u32 again = MIN((u32)-ahead, run->npkts);

		QP_COUNT(qp, duplicates, again);
		if (run->kind != WIRE_SEND && run->kind != WIRE_WRITE)
			answer_again(qp, run);
		else if (!s->ack)
			resp_answer(qp, AETH_ACK);
		if (again == run->npkts)
			return;
		run_cut(run, again, run->npkts - again);
	}
	in_order(qp, run);
}

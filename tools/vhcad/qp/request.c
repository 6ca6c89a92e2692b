// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests: taken from the send queue, and made into packets.
 */
#include <endian.h>
#include <errno.h>

#include "qp/complete.h"
#include "qp/recv.h"
#include "qp/requester.h"

/* PSNs that a request takes. */
static u32 packets(const struct vqp *qp, const struct send_wqe *w)
{
	u32 size = w->opcode == VHCA_OP_LSO ? w->lso.mss : qp->mtu;

	if (w->opcode == VHCA_OP_NOP || op_is_local(w->opcode))
		return 0;
	return w->len ? (w->len - 1) / size + 1 : 1;
}

int req_reload(struct vqp *qp, const struct tx_req *t, struct send_wqe *w)
{
	int st;

	if (w->qp == qp && w->blk == t->blk)
		return VHCA_CS_SUCCESS;
	st = wqe_load_send(qp, t->blk, t->blk + t->nblk, w);
	if (st)
		return st < 0 ? VHCA_CS_LOC_QP_OP_ERR : st;
	if (w->opcode != t->opcode || w->nblk != t->nblk || w->len != t->len ||
	    (w->flags ^ t->flags) & VHCA_WQE_IP_CSUM ||
	    /* a request that was refused midway has only the packets that were sent */
	    (!t->status && packets(qp, w) != t->npkts)) {
		w->qp = NULL;
		return VHCA_CS_LOC_QP_OP_ERR;
	}
	return VHCA_CS_SUCCESS;
}

static bool is_send(u8 opcode)
{
	return opcode >= VHCA_OP_SEND && opcode <= VHCA_OP_SEND_INV;
}

static bool has_imm(u8 opcode)
{
	return opcode == VHCA_OP_SEND_IMM || opcode == VHCA_OP_WRITE_IMM;
}

/* Checks what can be checked before anything is sent. */
static int check_request(struct vqp *qp, const struct send_wqe *w)
{
	struct sglist l = { w->sge, w->nsge, MKEY_WRITE_LOCAL, qp_local_scope(qp, qp->pd) };

	if (!op_is_answered(w->opcode))
		return VHCA_CS_SUCCESS;
	if (!qp->attr.max_rd_atomic)
		return why(qp, VHCA_WHY_NO_READS, VHCA_CS_LOC_QP_OP_ERR);
	if (!op_is_read(w->opcode) && !op_is_atomic(w->opcode))
		return VHCA_CS_SUCCESS;
	return sgl_check(&l) ? VHCA_CS_SUCCESS : VHCA_CS_LOC_PROT_ERR;
}

bool req_take(struct vqp *qp)
{
	struct rc_requester *r = &qp->req;
	struct send_wqe *w = &qp_scratch(qp)->tx_wqe;
	struct tx_req *t;
	int st;

	if (qp->state != QPS_RTS || r->stopped || r->blk_next == r->blk_prod ||
	    r->tail - r->head > r->qmask)
		return false;
	st = wqe_load_send(qp, r->blk_next, r->blk_prod, w);
	if (st < 0) {
		qp_error_event(qp, EVB_QP_FATAL);
		return false;
	}
	if (!st)
		st = check_request(qp, w);
	t = req_at(r, r->tail++);
	*t = (struct tx_req){
		.wr_id = w->wr_id,
		.raddr = w->raddr,
		.rkey = w->rkey,
		.len = st ? 0 : w->len,
		.blk = r->blk_next,
		.psn = r->new_psn,
		.srqn = w->srqn,
		.opcode = w->opcode,
		.flags = w->flags,
		.nblk = w->nblk,
		.status = st,
		.why = st ? why_failed(qp, st, false) : VHCA_WHY_NONE,
	};
	if (has_imm(w->opcode))
		t->imm = w->imm;
	else
		t->inv_key = w->inv_key;
	r->blk_next += w->nblk;
	if (st) {
		r->stopped = true;
	} else if (packets(qp, w)) {
		t->npkts = packets(qp, w);
		t->ssn = ++r->ssn;
		r->new_psn = psn_add(r->new_psn, t->npkts);
	}
	return true;
}

/* Finds the payload of *n packets from byte off on; may make *n smaller. */
static int find_data(struct vqp *qp, const struct send_wqe *w, u32 off, u32 *len, u32 *n,
		     struct payload *pl)
{
	struct sglist l = { w->sge, w->nsge, MKEY_READ_LOCAL, qp_local_scope(qp, qp->pd) };
	u32 got;

	if (w->data) {
		if ((u64)off + *len > w->len)
			return VHCA_CS_LOC_QP_OP_ERR;
		pl->fault = false;
		pl->mem = NULL;
		pl->host = w->data + off;
		return VHCA_CS_SUCCESS;
	}
	/* use the packets that were found; the rest, or its error, comes next */
	got = payload_gather(qp, &l, off, *len, pl);
	if (got < *len)
		*n = (got + qp->mtu - 1) / qp->mtu;
	*len = got;
	return got ? VHCA_CS_SUCCESS : VHCA_CS_LOC_PROT_ERR;
}

int req_fill(struct vqp *qp, const struct tx_req *t, u32 n, struct run *run, struct payload *pl)
{
	struct rc_requester *r = &qp->req;
	struct send_wqe *w = &qp_scratch(qp)->tx_wqe;
	u32 off = r->cur_pkt * qp->mtu, len = MIN((u64)n * qp->mtu, (u64)t->len - off);
	int st;

	*run = (struct run){ .h.path = qp->path, .service = qp->service, .mtu = qp->mtu };
	if (len) {
		st = req_reload(qp, t, w);
		if (!st)
			st = find_data(qp, w, off, &len, &n, pl);
		if (st)
			return st;
		run->pl = pl;
	}
	run->kind = is_send(t->opcode) ? WIRE_SEND : WIRE_WRITE;
	run->first = !r->cur_pkt;
	/* a message that was refused midway has no last packet */
	run->last = r->cur_pkt + n == t->npkts && !t->status;
	run->imm = has_imm(t->opcode);
	run->inv = t->opcode == VHCA_OP_SEND_INV;
	run->npkts = n;
	run->len = len;
	run->h.psn = r->nxt;
	run->h.srqn = t->srqn;
	run->h.se = t->flags & VHCA_WQE_SOLICITED && t->opcode != VHCA_OP_WRITE;
	if (run->inv)
		run->h.inv_key = t->inv_key;
	else
		run->h.imm = t->imm;
	run->h.va = t->raddr;
	run->h.rkey = t->rkey;
	run->h.dmalen = t->len;
	return VHCA_CS_SUCCESS;
}

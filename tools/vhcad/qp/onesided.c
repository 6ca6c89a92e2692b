// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests of one packet, and local operations.
 */
#include <endian.h>

#include "qp/complete.h"
#include "qp/requester.h"

static_assert(VHCA_OP_MASKED_FETCH_ADD - VHCA_OP_CMP_SWAP ==
	      (int)WIRE_MASKED_FETCH_ADD - (int)WIRE_CMP_SWAP, "the same in the same order");

static void fill_atomic(const struct matomic *a, struct run *run)
{
	run->kind = WIRE_CMP_SWAP + (a->opcode - VHCA_OP_CMP_SWAP);
	run->h.swap_add = a->swap_add;
	run->h.compare = a->compare;
	run->h.mask = a->mask;
	run->h.compare_mask = a->compare_mask;
}

static void fill_flush(const struct send_wqe *w, struct run *run)
{
	run->kind = WIRE_FLUSH;
	run->h.flush_type = w->flush.type;
	run->h.flush_level = w->flush.level;
	run->h.dmalen = w->flush.len;
}

int req_fill_single(struct vqp *qp, const struct tx_req *t, struct run *run, struct payload *pl)
{
	struct send_wqe *w = &qp_scratch(qp)->tx_wqe;
	int st;

	if (t->opcode == VHCA_OP_ATOMIC_WRITE) {
		st = req_fill(qp, t, 1, run, pl);
		run->kind = WIRE_ATOMIC_WRITE;
		run->h.se = false;
		return st;
	}
	st = req_reload(qp, t, w);
	if (st)
		return st;
	*run = (struct run){ .h.path = qp->path, .service = qp->service, .mtu = qp->mtu, .npkts = 1,
			     .first = true, .last = true };
	run->h.psn = qp->req.nxt;
	run->h.srqn = t->srqn;
	run->h.va = t->raddr;
	run->h.rkey = t->rkey;
	if (t->opcode == VHCA_OP_FLUSH)
		fill_flush(w, run);
	else
		fill_atomic(&w->atomic, run);
	return VHCA_CS_SUCCESS;
}

u8 req_local(struct vqp *qp, const struct tx_req *t)
{
	struct send_wqe *w = &qp_scratch(qp)->tx_wqe;
	struct mkey_scope s = qp_scope(qp);
	int st = req_reload(qp, t, w);

	if (st)
		return st;
	switch (t->opcode) {
	case VHCA_OP_LOCAL_INV:
		st = mkey_invalidate(&s, t->inv_key, false);
		return st ? why(qp, VHCA_WHY_INVALIDATE, st) : VHCA_CS_SUCCESS;
	case VHCA_OP_BIND_MW:
		return mkey_bind(&s, &qp->keys, &w->bind);
	default:
		st = mkey_register(&s, &w->reg);
		return st ? why(qp, VHCA_WHY_REGISTER, st) : VHCA_CS_SUCCESS;
	}
}

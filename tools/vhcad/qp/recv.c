// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Receives: taken in order, kept until their message is complete.
 */
#include <errno.h>
#include <string.h>

#include "qp/complete.h"
#include "qp/recv.h"
#include "qp/srq.h"

/* Copies an entry with the scatter entries that it has, not all that fit. */
static void copy_wqe(struct recv_wqe *to, const struct recv_wqe *from)
{
	memcpy(to, from, offsetof(struct recv_wqe, sge) + from->nsge * sizeof(from->sge[0]));
}

/*
 * The worker's entry, to load another one into.  If it belongs to a message that is
 * still under way, and cannot be read from its SRQ again, its QP keeps a copy.
 */
static struct recv_wqe *next_loaded(struct scratch *s)
{
	struct recv_wqe *w = &s->rx_wqe;
	struct vqp *of = w->qp;

	if (of && w->shared && of->recv.taken && w->index == of->recv.next - 1)
		copy_wqe(of->recv.kept, w);
	return w;
}

void recv_give_back(struct scratch *s)
{
	next_loaded(s)->qp = NULL;
}

/* Reads how many receives are posted; 0: there are some to take. */
static int own_posted(struct vqp *qp)
{
	struct dbrec rec = qp_rec_recv(qp);
	struct qp_recv *r = &qp->recv;
	u64 posted;
	u32 n;

	if (qp->log_rq == VHCA_NO_QUEUE)
		return -EAGAIN;
	if (dbrec_load(&rec, &posted))
		return -EFAULT;
	n = (u32)posted - r->next;
	if (n > 1u << qp->log_rq)
		return -EFAULT;
	r->posted = posted;
	return n ? 0 : -EAGAIN;
}

/* Takes the next entry of the QP's own ring.  Reads the record when all known ones are taken. */
static int own_take(struct vqp *qp, struct recv_wqe *w)
{
	if (qp->recv.posted == qp->recv.next) {
		int err = own_posted(qp);

		if (err)
			return err;
	}
	return wqe_load_recv(qp->dev->mem, &qp->rq, qp->log_stride, qp->recv.next, w);
}

int recv_take(struct vqp *qp)
{
	struct qp_recv *r = &qp->recv;
	struct recv_wqe *w;
	int st;

	if (r->taken)
		return r->status ? r->status : recv_load(qp);
	w = next_loaded(qp_scratch(qp));
	st = qp->srq ? srq_take(qp->srq, w) : own_take(qp, w);
	if (st == -EFAULT)
		qp_error_event(qp, EVB_QP_FATAL);
	if (st < 0)
		return st;
	w->index = r->next;
	w->shared = qp->srq;
	w->qp = st ? NULL : qp;
	r->taken = true;
	r->status = st;
	r->next++;
	r->wr_id = w->wr_id;
	r->room = MIN(w->len, (u64)VDEV_MAX_MSG);
	return st;
}

int recv_load(struct vqp *qp)
{
	struct recv_wqe *w = &qp_scratch(qp)->rx_wqe;
	u32 index = qp->recv.next - 1;

	if (w->qp == qp && w->index == index)
		return VHCA_CS_SUCCESS;
	next_loaded(qp_scratch(qp));
	if (qp->srq)
		copy_wqe(w, qp->recv.kept);
	else if (wqe_load_recv(qp->dev->mem, &qp->rq, qp->log_stride, index, w))
		return VHCA_CS_LOC_QP_OP_ERR;
	w->shared = qp->srq;
	w->qp = qp;
	return VHCA_CS_SUCCESS;
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * XRC: domains, and targets: each request to a target names the SRQ that it is for.
 *
 * A target has no PD, no CQ and no receives of its own: it uses those of the
 * SRQ that was named last.  SRQs are created and destroyed by their processes while the
 * target stays; what the target has of an SRQ ends with the SRQ.
 */
#include <stdlib.h>

#include "qp/scratch.h"
#include "qp/srq.h"
#include "res/command.h"

struct vsrq *xrc_find(const struct vqp *qp, u32 srqn)
{
	struct vsrq *srq = table_get(&qp->dev->srqs, srqn);

	return srq && srq->xrcd == qp->xrcd ? srq : NULL;
}

void xrc_leave(struct vqp *qp)
{
	list_del_init(&qp->in_srq);
	qp->srq = NULL;
	qp->rcq = NULL;
	qp->pd = NULL;
	qp->recv.pd = NULL;
}

bool xrc_turn(struct vqp *qp, const struct run *run)
{
	struct vsrq *srq;

	if (qp->srq && qp->srq->srqn == run->h.srqn)
		return true;
	/* a message stays with the SRQ that it began with */
	if (!run->first || qp->recv.taken)
		return false;
	srq = xrc_find(qp, run->h.srqn);
	if (!srq)
		return false;
	xrc_leave(qp);
	list_add_tail(&qp->in_srq, &srq->targets);
	qp->srq = srq;
	qp->rcq = srq->cq;
	qp->pd = srq->pd;
	qp->recv.pd = srq->pd;
	return true;
}

bool xrc_forget_srq(struct vsrq *srq, u32 most)
{
	for (; most && !list_empty(&srq->targets); most--) {
		struct vqp *qp = container_of(srq->targets.next, struct vqp, in_srq);

		wqe_forget(qp);
		qp->recv.taken = false;
		xrc_leave(qp);
	}
	return most;
}

void xrcd_destroy(struct vxrcd *xrcd)
{
	table_del(&xrcd->dev->xrcds, xrcd->xrcdn, 0);
	free(xrcd);
}

enum vhca_status cmd_create_xrcd(struct command *c)
{
	struct vxrcd *xrcd = calloc(1, sizeof(*xrcd));
	int err;

	if (!xrcd)
		return VHCA_ST_INTERNAL;
	xrcd->dev = c->dev;
	err = table_add(&c->dev->xrcds, xrcd, 0, &xrcd->xrcdn);
	if (err) {
		free(xrcd);
		return command_table_error(c, VLIM_XRCDS, err);
	}
	return command_object(c, xrcd->xrcdn);
}

enum vhca_status cmd_destroy_xrcd(struct command *c)
{
	struct vxrcd *xrcd = table_get(&c->dev->xrcds, command_handle(c));

	if (!xrcd)
		return BAD_HANDLE(c, vhca_object_req, handle);
	if (xrcd->users)
		return BUSY(c, vhca_object_req, handle);
	xrcd_destroy(xrcd);
	return VHCA_ST_OK;
}

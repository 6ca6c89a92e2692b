// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Whose turn it is: devices in a circle, and the QPs of each in a circle.
 */
#include "engine/core.h"
#include "engine/rc.h"

void sched_ready(struct vqp *qp)
{
	struct vhca_dev *dev = qp->dev;

	if (!link_alone(&qp->ready_link))
		return;
	link_add_tail(&dev->ready, &qp->ready_link);
	if (link_alone(&dev->ready_link))
		link_add_tail(&dev->engine->ready, &dev->ready_link);
}

void sched_drop(struct vqp *qp)
{
	link_del(&qp->ready_link);
	if (link_alone(&qp->dev->ready))
		link_del(&qp->dev->ready_link);
}

void sched_wait_room(struct vqp *qp)
{
	sched_drop(qp);
	link_add_tail(&qp->dev->engine->no_room, &qp->ready_link);
}

void sched_room(struct engine *e)
{
	struct link *l;

	while ((l = link_pop(&e->no_room)))
		sched_ready(container_of(l, struct vqp, ready_link));
}

/* One slice of a QP, which uses up the bytes; true if it could go on. */
static bool run_slice(struct vqp *qp, u32 *bytes)
{
	u32 wqes = SLICE_WQES;
	bool more;

	if (qp->state == QPS_ERR)
		return flush_run(qp, &wqes);
	if (qp->state < QPS_RTR)
		return false;
	if (!qp_reliable(qp))
		return unreliable_run(qp, bytes, &wqes);
	more = resp_run(qp, bytes);
	if (qp->state == QPS_RTS || qp->state == QPS_SQD)
		more |= req_run(qp, bytes, &wqes);
	return more;
}

bool sched_run(struct engine *e, u32 most)
{
	bool any = false;
	struct link *l;

	while (most && (l = link_pop(&e->ready))) {
		struct vhca_dev *dev = container_of(l, struct vhca_dev, ready_link);
		u32 bytes = SLICE_BYTES;
		struct vqp *qp;

		l = link_pop(&dev->ready);
		if (!l)
			continue;
		qp = container_of(l, struct vqp, ready_link);
		/* both go behind whoever else has work */
		if (!link_alone(&dev->ready) && link_alone(&dev->ready_link))
			link_add_tail(&e->ready, &dev->ready_link);
		if (!dev_live(dev))
			continue;
		if (run_slice(qp, &bytes))
			sched_ready(qp);
		if (bytes <= SLICE_BYTES - TELL_BYTES)
			cq_tell_news(e);
		any = true;
		most--;
	}
	return any;
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Whose turn it is: devices in a circle, and the QPs of each in a circle.
 *
 * A turn is about a slice's worth of work, of as many QPs as that takes: one that
 * only acknowledges is not worth a slice of every other device.  When as much has
 * been done the doorbells are looked at, and who has had the turn goes behind
 * those who have come meanwhile.  Who has used more time than its turns are worth
 * lets turns go by, see cost.c.
 */
#include "engine/core.h"
#include "qp/qp.h"

void sched_ready(struct vqp *qp)
{
	struct vhca_dev *dev = qp->dev;

	if (!list_empty(&qp->ready_link))
		return;
	list_add_tail(&qp->ready_link, &dev->ready);
	if (list_empty(&dev->ready_link) && dev != dev->engine->turn)
		list_add_tail(&dev->ready_link, &dev->engine->ready);
}

void sched_drop(struct vqp *qp)
{
	list_del_init(&qp->ready_link);
	if (list_empty(&qp->dev->ready))
		list_del_init(&qp->dev->ready_link);
}

void sched_wait_room(struct vqp *qp)
{
	struct vport *p = qp->port;

	sched_drop(qp);
	list_add_tail(&qp->ready_link, &p->no_room);
	if (list_empty(&p->no_room_link))
		list_add_tail(&p->no_room_link, &qp->dev->engine->no_room);
}

/* As many as there is room for packets, those first that have waited longest. */
static bool port_room(struct vport *p)
{
	u32 room = MIN(fab_room(&p->fab), PASS_PACKETS);
	struct list_head *l;
	bool any = false;

	for (; room && (l = list_pop(&p->no_room)); room--) {
		sched_ready(container_of(l, struct vqp, ready_link));
		any = true;
	}
	if (list_empty(&p->no_room))
		list_del_init(&p->no_room_link);
	return any;
}

bool sched_room(struct engine *e)
{
	bool any = false;

	list_for_each_safe(l, &e->no_room)
		any |= port_room(container_of(l, struct vport, no_room_link));
	return any;
}

/* One slice of a QP, which uses up bytes and entries; true if it could go on. */
static bool run_slice(struct vqp *qp, u32 *bytes, u32 *wqes)
{
	bool more;

	if (qp->state == QPS_ERR)
		return flush_run(qp, wqes);
	if (qp->state < QPS_RTR)
		return false;
	if (!qp_reliable(qp))
		return unreliable_run(qp, bytes, wqes);
	more = resp_run(qp, bytes);
	if (qp->state == QPS_RTS || qp->state == QPS_SQD)
		more |= req_run(qp, bytes, wqes);
	return more;
}

/* What a turn costs besides its bytes, in bytes that could be moved meanwhile. */
#define QP_COST		1024u
#define WQE_COST	(SLICE_BYTES / SLICE_WQES)
/* Another QP begins its slice in the same turn as long as the turn has cost less. */
#define TURN_COST	(SLICE_BYTES / 4)

/* The turn of a device; what it has cost. */
static u32 run_turn(struct vhca_dev *dev)
{
	u32 cost = 0;
	struct list_head *l;

	while (cost < TURN_COST && !cost_late(dev->engine) && (l = list_pop(&dev->ready))) {
		struct vqp *qp = container_of(l, struct vqp, ready_link);
		u32 bytes = SLICE_BYTES, wqes = SLICE_WQES;

		if (!dev_live(dev))
			continue;
		soon_turn(qp);
		if (run_slice(qp, &bytes, &wqes))
			sched_ready(qp);
		if (bytes <= SLICE_BYTES - TELL_BYTES)
			cq_tell_news(dev->engine);
		cost += SLICE_BYTES - bytes + (SLICE_WQES - wqes) * WQE_COST + QP_COST;
	}
	cost_add(dev, SLICE_NS);
	return cost;
}

/* Does a device let its turn go by, because it has used more time than its turns? */
static bool pays(struct engine *e, struct vhca_dev *dev)
{
	if (dev->debt < SLICE_NS)
		return false;
	if (list_empty(&e->ready)) {
		/* nobody has had to wait */
		dev->debt = 0;
		return false;
	}
	dev->debt -= SLICE_NS;
	list_add_tail(&dev->ready_link, &e->ready);
	return true;
}

/* Who has had the turn goes behind whoever else has work. */
static void end_turn(struct engine *e)
{
	struct vhca_dev *dev = e->turn;

	e->turn = NULL;
	if (dev && !list_empty(&dev->ready))
		list_add_tail(&dev->ready_link, &e->ready);
}

void sched_forget(struct vhca_dev *dev)
{
	if (dev->engine->turn == dev)
		dev->engine->turn = NULL;
	for (u32 i = 0; i < dev->nports; i++)
		list_del_init(&dev->port[i].no_room_link);
}

bool sched_waiting(const struct engine *e)
{
	return !list_empty(&e->ready) || (e->turn && !list_empty(&e->turn->ready));
}

bool sched_run(struct engine *e)
{
	u32 cost = 0;
	struct list_head *l;

	/* this one's turn has ended before the doorbells were looked at */
	end_turn(e);
	while (cost < SLICE_BYTES && (l = list_pop(&e->ready))) {
		struct vhca_dev *dev = container_of(l, struct vhca_dev, ready_link);

		end_turn(e);
		if (pays(e, dev))
			continue;
		e->turn = dev;
		cost += run_turn(dev);
	}
	return cost;
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * QPs that have work wait in a circle for their turns.
 */
#include "qp/ready.h"

/* QPs of a port that are woken at once when there is room. */
#define ROOM_QPS	64u

void qp_ready(struct vqp *qp)
{
	struct adapter *a = &qp->dev->adapter;

	if (!list_empty(&qp->ready_node))
		return;
	list_add_tail(&qp->ready_node, &a->ready);
	adapter_ready(a);
}

void qp_not_ready(struct vqp *qp)
{
	list_del_init(&qp->ready_node);
	adapter_idle(&qp->dev->adapter);
}

void qp_wait_room(struct vqp *qp)
{
	struct vport *p = qp->port;

	qp_trace(qp, "wait: room in the fabric", 0);
	qp_not_ready(qp);
	list_add_tail(&qp->ready_node, &p->no_room);
	if (list_empty(&p->no_room_node))
		list_add_tail(&p->no_room_node, &qp->dev->adapter.no_room);
}

/* Wakes as many QPs as there is room for packets, in the order in which they began to wait. */
static bool port_room(struct vport *p)
{
	u32 room = MIN(fab_room(&p->fab), ROOM_QPS);
	struct list_head *l;
	bool any = false;

	for (; room && (l = list_pop(&p->no_room)); room--) {
		qp_ready(container_of(l, struct vqp, ready_node));
		any = true;
	}
	if (list_empty(&p->no_room))
		list_del_init(&p->no_room_node);
	return any;
}

void qp_wait_away(struct vqp *qp)
{
	qp_trace(qp, "wait: an adapter of another engine", 0);
	qp_not_ready(qp);
	list_add_tail(&qp->ready_node, &qp->dev->adapter.away);
}

struct vport *qp_peer_port(const struct vqp *qp)
{
	const struct fab_port *to = fab_receiver(&qp->port->fab, &qp->path);

	/* the ports of all adapters have the same ops */
	return to && to->ops == qp->port->fab.ops ? to->owner : NULL;
}

/* A search of a QP for the receivers of what it sends. */
struct search {
	struct vqp *qp;
	bool found;
};

static void look_for(void *arg, struct fab_port *to)
{
	struct search *s = arg;
	const struct vport *p = to->owner;

	/* as above: a receiver outside is no adapter's port */
	if (to->ops == s->qp->port->fab.ops)
		s->found &= adapter_meet(&s->qp->dev->adapter, &p->dev->adapter);
}

bool qp_seek(struct vqp *qp, const struct wire_path *path)
{
	struct search s = { .qp = qp, .found = true };

	fab_receivers(&qp->port->fab, path, look_for, &s);
	return s.found;
}

bool qp_room(struct adapter *a)
{
	bool any = false;

	list_for_each_safe(l, &a->no_room)
		any |= port_room(container_of(l, struct vport, no_room_node));
	return any;
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Packets that arrive at a device's port, and changes of the port itself.
 */
#include <string.h>

#include "lib/log.h"
#include "qp/counter.h"
#include "qp/life.h"
#include "qp/mcg.h"
#include "qp/path.h"
#include "qp/ready.h"
#include "qp/requester.h"
#include "qp/responder.h"
#include "qp/ud.h"

/* Is the packet from the QP that this one is connected to? */
static bool from_peer(const struct vqp *qp, const struct wire_hdr *h)
{
	if (h->slid != qp->path.dlid)
		return false;
	return !h->grh || !qp->path.grh || !memcmp(h->sgid, qp->path.dgid, sizeof(h->sgid));
}

/* XRC: one side asks, the other one answers. */
static bool takes_kind(const struct vqp *qp, u8 kind)
{
	bool answer = kind == WIRE_ACK || kind == WIRE_READ_RESP || kind == WIRE_ATOMIC_ACK;

	if (qp->type == VHCA_QPT_XRC_INI)
		return answer;
	return !answer || !qp_is_target(qp);
}

/* Do packets come along the QP's path, or along the alternate one that is its path then? */
static bool takes_path(struct vqp *qp, const struct vport *p, const struct wire_hdr *h)
{
	if (qp->type == VHCA_QPT_UD)
		return qp->port == p;
	if (qp->port != p || !from_peer(qp, h))
		return qp_follow_peer(qp, p, h);
	if (qp->mig == MIG_REARM && !h->mig)
		qp->mig = MIG_ARMED;
	return true;
}

/* Does the QP take such packets now? */
static bool takes(struct vqp *qp, const struct vport *p, const struct run *run)
{
	return qp->state >= QPS_RTR && qp->state != QPS_ERR && run->service == qp->service &&
	       takes_kind(qp, run->kind) && takes_path(qp, p, &run->h);
}

static void rc_rx(struct vqp *qp, struct run *run)
{
	switch (run->kind) {
	case WIRE_SEND:
	case WIRE_WRITE:
	case WIRE_READ_REQ:
	case WIRE_CMP_SWAP ... WIRE_MASKED_FETCH_ADD:
	case WIRE_ATOMIC_WRITE:
	case WIRE_FLUSH:
		resp_rx(qp, run);
		break;
	case WIRE_ACK:
		if (qp->state > QPS_RTR)
			req_rx_ack(qp, run);
		break;
	case WIRE_READ_RESP:
		if (qp->state > QPS_RTR)
			req_rx_read(qp, run);
		break;
	case WIRE_ATOMIC_ACK:
		if (qp->state > QPS_RTR)
			req_rx_atomic(qp, run);
		break;
	}
}

static void vport_rx(struct fab_port *fab, struct run *run)
{
	struct vport *p = fab->owner;
	struct vqp *qp;

	if (!dev_live(p->dev))
		return;
	qp = qp_find(p->dev, run->h.dqpn);
	if (!qp || !takes(qp, p, run)) {
		p->count.rx_no_qp += run->npkts;
		return;
	}
	if (qp->type == VHCA_QPT_UD) {
		struct vhca_cqe cqe = ud_completion(run);
		struct datagram d;

		datagram_init(&d, run);
		ud_rx(qp, &d, &cqe);
		return;
	}
	if (!rx_pkey_ok(qp, run))
		return;
	qp_count_rx(qp, run);
	if (qp->type == VHCA_QPT_UC)
		uc_rx(qp, run);
	else
		rc_rx(qp, run);
}

static void vport_rx_mcast(struct fab_port *fab, struct datagram *d)
{
	struct vport *p = fab->owner;

	if (dev_live(p->dev))
		mcg_rx(p, d);
}

static void vport_state(struct fab_port *fab, u8 old)
{
	struct vport *p = fab->owner;

	log_line("%s: port %u %s", p->dev->name, fab->number,
		 fab->ib.state == PORT_ACTIVE ? "active" :
		 fab->ib.state == PORT_INIT ? "initialised" : "down");
	if (!dev_live(p->dev))
		return;
	if (fab->ib.state == PORT_ACTIVE)
		eq_async(p->dev, &p->ev, EVB_PORT_ACTIVE);
	else if (old == PORT_ACTIVE)
		eq_async(p->dev, &p->ev, EVB_PORT_ERR);
}

/* A port's addresses have changed. */
static void vport_changed(struct fab_port *fab, u32 what)
{
	static const struct { u32 change, event; } events[] = {
		{ PORT_LID_CHANGED, EVB_LID_CHANGE },
		{ PORT_PKEY_CHANGED, EVB_PKEY_CHANGE },
		{ PORT_GID_CHANGED, EVB_GID_CHANGE },
		{ PORT_SM_CHANGED, EVB_SM_CHANGE },
		{ PORT_REREGISTER, EVB_REREGISTER },
	};
	struct vport *p = fab->owner;
	struct vqp *qp;

	table_for_each(qp, &p->dev->qps)
		if (qp->port == p)
			qp_follow_port(qp);
	for (u32 i = 0; dev_live(p->dev) && i < ARRAY_SIZE(events); i++)
		if (what & events[i].change)
			eq_async(p->dev, &p->ev, events[i].event);
}

static void vport_prefetch(struct fab_port *fab, u32 qpn)
{
	const struct vport *p = fab->owner;

	prefetch_rx(p->dev, qpn);
}

const struct fab_port_ops vport_ops = {
	.prefetch = vport_prefetch,
	.rx = vport_rx,
	.rx_mcast = vport_rx_mcast,
	.state = vport_state,
	.changed = vport_changed,
};

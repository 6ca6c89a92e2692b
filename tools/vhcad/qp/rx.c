// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Packets that arrive at a device's port, and changes of the port itself.
 */
#include <endian.h>
#include <string.h>

#include "lib/log.h"
#include "qp/counter.h"
#include "qp/life.h"
#include "qp/mcg.h"
#include "qp/path.h"
#include "qp/ready.h"
#include "qp/requester.h"
#include "qp/responder.h"
#include "qp/special.h"
#include "qp/ud.h"

/* Is the packet from the QP that this one is connected to? */
static bool from_peer(const struct vqp *qp, const struct wire_hdr *h)
{
	if (h->slid != qp->path.dlid)
		return false;
	return !h->grh || !qp->path.grh || !memcmp(h->sgid, qp->path.dgid, sizeof(h->sgid));
}

/* XRC: an initiator gets only answers, a target only requests. */
static bool takes_kind(const struct vqp *qp, u8 kind)
{
	bool answer = kind == WIRE_ACK || kind == WIRE_READ_RESP || kind == WIRE_ATOMIC_ACK;

	if (qp->type == VHCA_QPT_XRC_INI)
		return answer;
	return !answer || !qp_is_target(qp);
}

/* The alternate path has a timeout of its own, which also holds for requests under way. */
static bool follow_peer(struct vqp *qp, const struct vport *p, const struct wire_hdr *h)
{
	u8 timeout = qp->attr.timeout;
	bool follows = qp_follow_peer(qp, p, h);

	if (follows && qp_reliable(qp) && qp->attr.timeout != timeout)
		req_arm(qp);
	return follows;
}

/* Do packets come along the QP's path, or along the alternate path, which becomes its path then? */
static bool takes_path(struct vqp *qp, const struct vport *p, const struct wire_hdr *h)
{
	if (qp_datagrams(qp))
		return qp->port == p;
	if (qp->port != p || !from_peer(qp, h))
		return follow_peer(qp, p, h);
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

/* Is this a MAD for QP 0 or QP 1?  Only QP 0 sends on VL15, and only the kernel has it. */
static bool is_mad(const struct run *run)
{
	return run->service == WIRE_UD && run->kind == WIRE_SEND && !run->imm &&
	       run->len == VHCA_MAD_SIZE &&
	       (run->h.vl == PORT_VL15) == (run->h.dqpn == VHCA_QPT_SMI);
}

/* Index of the port's first P_Key that matches the packet's; PORT_PKEYS: there is none. */
static u32 find_pkey(const struct vport *p, u16 pkey)
{
	u32 i = 0;

	while (i < PORT_PKEYS && !pkey_match(p->fab.ib.pkey[i], pkey))
		i++;
	return i;
}

/* Has a packet for QP 1 a P_Key of the port, and the Q_Key of QP 1? */
static bool gsi_keys_ok(struct vport *p, const struct run *run, u32 *pkey_index)
{
	*pkey_index = find_pkey(p, run->h.pkey);
	if (*pkey_index == PORT_PKEYS) {
		vport_bad_pkey(p, run);
		return false;
	}
	if (run->h.qkey != MAD_GSI_QKEY) {
		vport_bad_qkey(p, run);
		return false;
	}
	return true;
}

static bool takes_mad(const struct vqp *qp)
{
	return qp && qp->state >= QPS_RTR && qp->state != QPS_ERR;
}

/* A packet for QP 0 or QP 1 of a port. */
static void special_rx(struct vport *p, struct run *run)
{
	struct vqp *qp = p->special[run->h.dqpn];
	bool mad = is_mad(run);
	struct vhca_cqe cqe;
	struct datagram d;
	u32 pkey_index = 0;

	if (mad && run->h.dqpn == VHCA_QPT_GSI && !gsi_keys_ok(p, run, &pkey_index))
		return;
	/* MADs that are not for the device's own agent are for its host, if a driver runs */
	if (mad && !p->fab.eth && agent_rx(&p->agent, run))
		return;
	if (!mad || !dev_live(p->dev) || !takes_mad(qp)) {
		p->count.rx_no_qp += run->npkts;
		return;
	}
	cqe = ud_completion(p, run);
	cqe.pkey_index = htole16(pkey_index);
	datagram_init(&d, run);
	ud_deliver(qp, &d, &cqe);
}

static void vport_rx(struct fab_port *fab, struct run *run)
{
	struct vport *p = fab->owner;
	struct vqp *qp = qp_find(p->dev, run->h.dqpn);

	adapter_rouse(&p->dev->adapter);
	if (qp)
		qp_follow_port(qp);
	if (!qp || !dev_live(p->dev) || !takes(qp, p, run)) {
		if (run->h.dqpn < VHCA_SPECIAL_QPS)
			special_rx(p, run);
		else if (dev_live(p->dev))
			p->count.rx_no_qp += run->npkts;
		return;
	}
	if (qp_datagrams(qp)) {
		struct vhca_cqe cqe = ud_completion(p, run);
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

	adapter_rouse(&p->dev->adapter);
	if (dev_live(p->dev))
		mcg_rx(p, d);
}

static void vport_state(struct fab_port *fab, u8 old)
{
	static const char *const name[] = {
		[PORT_DOWN] = "down", [PORT_INIT] = "initialised", [PORT_ARMED] = "armed",
		[PORT_ACTIVE] = "active",
	};
	struct vport *p = fab->owner;

	adapter_rouse(&p->dev->adapter);
	log_line("%s: port %u %s", p->dev->name, fab->number, name[fab->ib.state]);
	if (!dev_live(p->dev))
		return;
	if (fab->ib.state == PORT_ACTIVE)
		eq_async(p->dev, &p->ev, EVB_PORT_ACTIVE);
	else if (old == PORT_ACTIVE)
		eq_async(p->dev, &p->ev, EVB_PORT_ERR);
	else
		eq_port_change(p->dev, &p->ev);
}

/* Changes of a port that paths of QPs depend on. */
#define IN_PATHS	(PORT_LID_CHANGED | PORT_PKEY_CHANGED | PORT_GID_CHANGED | \
			 PORT_SETUP_CHANGED)

/* A port's addresses have changed.  QPs update their paths when they send or receive next. */
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

	adapter_rouse(&p->dev->adapter);
	if (what & IN_PATHS)
		p->changes++;
	for (u32 i = 0; dev_live(p->dev) && i < ARRAY_SIZE(events); i++)
		/* the driver itself has changed the GIDs of an Ethernet port, and needs no event */
		if (what & events[i].change && !(p->fab.eth && events[i].event == EVB_GID_CHANGE))
			eq_async(p->dev, &p->ev, events[i].event);
	if (dev_live(p->dev) && what & PORT_SETUP_CHANGED)
		eq_port_change(p->dev, &p->ev);
}

const struct fab_port_ops vport_ops = {
	.rx = vport_rx,
	.rx_mcast = vport_rx_mcast,
	.state = vport_state,
	.changed = vport_changed,
};

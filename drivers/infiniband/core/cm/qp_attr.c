// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a connection means for its QP.
 */
#include <linux/cleanup.h>
#include <rdma/rdma_reject.h>

#include "cm.h"
#include "trace.h"

/* In which of these states are the attributes of a QP state known? */
static bool is_known(enum ib_cm_state state, enum ib_qp_state qp_state)
{
	const u32 asked = BIT(IB_CM_REQ_SENT) | BIT(IB_CM_MRA_REQ_RCVD);
	const u32 passive = BIT(IB_CM_REQ_RCVD) | BIT(IB_CM_MRA_REQ_SENT) | BIT(IB_CM_REP_SENT) |
			    BIT(IB_CM_MRA_REP_RCVD);
	const u32 active = BIT(IB_CM_REP_RCVD) | BIT(IB_CM_MRA_REP_SENT);

	/* The peer's QP is not known before its reply. */
	if (BIT(state) & asked)
		return qp_state == IB_QPS_INIT;
	/* The peer may disconnect before the consumer knows that it is connected. */
	if (state == IB_CM_DREQ_RCVD)
		return qp_state == IB_QPS_RTS;
	return BIT(state) & (passive | active | BIT(IB_CM_ESTABLISHED));
}

static void init_attr(const struct cm_id *id, struct ib_qp_attr *attr, int *mask)
{
	u64 flush = IB_DEVICE_FLUSH_GLOBAL | IB_DEVICE_FLUSH_PERSISTENT;

	*mask = IB_QP_STATE | IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX | IB_QP_PORT;
	attr->pkey_index = id->route->pkey_index;
	attr->port_num = id->route->port->num;
	attr->qp_access_flags = IB_ACCESS_REMOTE_WRITE;
	if (!id->responder_resources)
		return;
	attr->qp_access_flags |= IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC;
	if (id->device->ib->attrs.device_cap_flags & flush)
		attr->qp_access_flags |= IB_ACCESS_FLUSH_GLOBAL | IB_ACCESS_FLUSH_PERSISTENT;
}

static void alt_attr(const struct cm_id *id, struct ib_qp_attr *attr, int *mask)
{
	*mask |= IB_QP_ALT_PATH;
	attr->alt_ah_attr = id->alt->attr;
	attr->alt_port_num = id->alt->port->num;
	attr->alt_pkey_index = id->alt->pkey_index;
	attr->alt_timeout = id->alt_ack_timeout;
}

static void rtr_attr(const struct cm_id *id, struct ib_qp_attr *attr, int *mask)
{
	*mask = IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN;
	attr->ah_attr = id->route->attr;
	if (attr->ah_attr.type == RDMA_AH_ATTR_TYPE_IB && id->data_dlid &&
	    id->data_dlid != be16_to_cpu(IB_LID_PERMISSIVE))
		attr->ah_attr.ib.dlid = id->data_dlid;
	attr->path_mtu = id->path_mtu;
	attr->dest_qp_num = id->remote_qpn;
	attr->rq_psn = id->rq_psn;
	if (id->qp_type == IB_QPT_RC || id->qp_type == IB_QPT_XRC_TGT) {
		*mask |= IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER;
		attr->max_dest_rd_atomic = id->responder_resources;
		attr->min_rnr_timer = 0;
	}
	if (id->alt)
		alt_attr(id, attr, mask);
}

static void rts_attr(const struct cm_id *id, struct ib_qp_attr *attr, int *mask)
{
	*mask = IB_QP_STATE | IB_QP_SQ_PSN;
	attr->sq_psn = id->sq_psn;
	if (id->qp_type == IB_QPT_RC || id->qp_type == IB_QPT_XRC_INI) {
		*mask |= IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC;
		attr->retry_cnt = id->retry_count;
		attr->rnr_retry = id->rnr_retry_count;
		attr->max_rd_atomic = id->initiator_depth;
	}
	if (id->qp_type != IB_QPT_UC) {
		*mask |= IB_QP_TIMEOUT;
		attr->timeout = id->ack_timeout;
	}
	if (id->alt) {
		*mask |= IB_QP_PATH_MIG_STATE;
		attr->path_mig_state = IB_MIG_REARM;
	}
}

/* The QP has been in use: only its alternate path is new. */
static void rearm_attr(const struct cm_id *id, struct ib_qp_attr *attr, int *mask)
{
	*mask = IB_QP_PATH_MIG_STATE;
	attr->path_mig_state = IB_MIG_REARM;
	if (id->alt)
		alt_attr(id, attr, mask);
}

/**
 * ib_cm_init_qp_attr() - attributes that a connection's QP needs next
 * @cm_id: id of the connection
 * @qp_attr: its qp_state is IB_QPS_INIT, IB_QPS_RTR or IB_QPS_RTS; receives what the connection
 *	says for that transition. Address vectors refer to GIDs that the id holds.
 * @qp_attr_mask: receives which attributes these are
 *
 * After an alternate path has been loaded, RTS stands for arming it.
 *
 * The PSN to receive from is the one that the consumer gives the peer, in the REQ or in the REP. A
 * consumer that moves a QP to RTR before it sends the REP replaces @qp_attr->rq_psn, which is 0
 * till then.
 *
 * Context: any.
 * Return: 0; -EINVAL for another QP state, or before the connection knows the attributes; -ENODEV
 * when the device is gone.
 */
int ib_cm_init_qp_attr(struct ib_cm_id *cm_id, struct ib_qp_attr *qp_attr, int *qp_attr_mask)
{
	struct cm_id *id = to_cm_id(cm_id);
	enum ib_qp_state state = qp_attr->qp_state;

	if (state != IB_QPS_INIT && state != IB_QPS_RTR && state != IB_QPS_RTS)
		return rdma_refuse(-EINVAL, "a connection says nothing of QP state %d", state);
	guard(spinlock_irqsave)(&id->lock);
	if (!is_known(cm_id->state, state)) {
		if (state == IB_QPS_INIT)
			trace_icm_qp_init_err(cm_id);
		else if (state == IB_QPS_RTR)
			trace_icm_qp_rtr_err(cm_id);
		else
			trace_icm_qp_rts_err(cm_id);
		return rdma_refuse(-EINVAL, "QP state %d in the id's state %s", state,
				   cm_state_name(cm_id->state));
	}
	if (!id->route)
		return -ENODEV;
	if (state == IB_QPS_INIT)
		init_attr(id, qp_attr, qp_attr_mask);
	else if (state == IB_QPS_RTR)
		rtr_attr(id, qp_attr, qp_attr_mask);
	else if (cm_id->lap_state == IB_CM_LAP_UNINIT)
		rts_attr(id, qp_attr, qp_attr_mask);
	else
		rearm_attr(id, qp_attr, qp_attr_mask);
	return 0;
}
EXPORT_SYMBOL(ib_cm_init_qp_attr);

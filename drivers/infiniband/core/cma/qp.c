// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The QP of an id, and its way through the states. If an id has none, its consumer makes the same
 * steps with a QP of its own and the attributes of rdma_init_qp_attr().
 */
#include <kunit/static_stub.h>
#include <kunit/visibility.h>
#include <linux/cleanup.h>

#include "connect.h"
#include "trace.h"

/**
 * cma_transport() - get the transport of an id
 * @id: id that has a device
 *
 * Return: the transport; NULL if the id has no device, or one whose port has no connection manager.
 */
const struct cma_transport *cma_transport(const struct cma_id *id)
{
	const struct rdma_cm_id *rdma_id = &id->id;

	KUNIT_STATIC_STUB_REDIRECT(cma_transport, id);
	if (!rdma_id->device)
		return NULL;
	if (rdma_cap_iw_cm(rdma_id->device, rdma_id->port_num))
		return &cma_transport_iw;
	if (!rdma_cap_ib_cm(rdma_id->device, rdma_id->port_num))
		return NULL;
	return rdma_id->qp_type == IB_QPT_UD ? &cma_transport_sidr : &cma_transport_ib;
}
EXPORT_SYMBOL_IF_KUNIT(cma_transport);

/**
 * cma_ib_port_attr() - get the attributes that a QP has before it is connected
 * @id: id on an InfiniBand or RoCE port
 * @attr: receives port and place of the P_Key
 * @mask: receives the bits of those and of the state
 *
 * Return: 0, or -ENOENT if the port has the P_Key no more.
 */
int cma_ib_port_attr(struct cma_id *id, struct ib_qp_attr *attr, int *mask)
{
	struct ib_device *device = id->id.device;
	u32 port = id->id.port_num;
	u16 pkey = IB_DEFAULT_PKEY_FULL;

	if (!rdma_cap_eth_ah(device, port))
		pkey = ib_addr_get_pkey(&id->id.route.addr.dev_addr);
	attr->port_num = port;
	*mask = IB_QP_STATE | IB_QP_PORT | IB_QP_PKEY_INDEX;
	return ib_find_cached_pkey(device, port, pkey, &attr->pkey_index);
}

/**
 * rdma_init_qp_attr() - attributes with which a QP reaches its next state
 * @rdma_id: id that has a device
 * @qp_attr: qp_state is the state to reach, IB_QPS_INIT, IB_QPS_RTR or IB_QPS_RTS; receives the
 *	rest
 * @qp_attr_mask: receives the attributes that count
 *
 * Context: may sleep.
 * Return: 0; -EINVAL if the connection is in no state for it; -ENOENT if the port has the P_Key no
 * more; -ENOSYS for a port without a connection manager.
 */
int rdma_init_qp_attr(struct rdma_cm_id *rdma_id, struct ib_qp_attr *qp_attr, int *qp_attr_mask)
{
	struct cma_id *id = to_cma_id(rdma_id);
	const struct cma_transport *transport = cma_transport(id);
	int ret;

	if (!transport)
		return rdma_refuse(-ENOSYS, "the port has no connection manager");
	ret = transport->qp_attr(id, qp_attr, qp_attr_mask);
	if (ret)
		return ret;
	if (*qp_attr_mask & IB_QP_TIMEOUT && id->timeout_set)
		qp_attr->timeout = id->timeout;
	if (*qp_attr_mask & IB_QP_MIN_RNR_TIMER && id->min_rnr_timer_set)
		qp_attr->min_rnr_timer = id->min_rnr_timer;
	return 0;
}
EXPORT_SYMBOL(rdma_init_qp_attr);

/* One step; @adjust has the consumer's last word on the attributes. */
static int qp_step(struct cma_id *id, struct ib_qp *qp, enum ib_qp_state state,
		   void (*adjust)(struct ib_qp_attr *attr, const struct rdma_conn_param *param),
		   const struct rdma_conn_param *param)
{
	struct ib_qp_attr attr = { .qp_state = state };
	int mask = 0;
	int ret;

	ret = rdma_init_qp_attr(&id->id, &attr, &mask);
	if (ret)
		return ret;
	if (adjust && param)
		adjust(&attr, param);
	return ib_modify_qp(qp, &attr, mask);
}

/* A datagram QP has no peer to wait for: it is ready at once. */
static int datagram_ready(struct ib_qp *qp)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTR };
	int ret;

	ret = ib_modify_qp(qp, &attr, IB_QP_STATE);
	if (ret)
		return ret;
	attr.qp_state = IB_QPS_RTS;
	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN);
}

/**
 * rdma_create_qp() - make the QP of an id
 * @rdma_id: id that has a device
 * @pd: PD of that device
 * @qp_init_attr: attributes; receives the port and the sizes that the QP got
 *
 * The QP is in INIT, or if it is for datagrams ready to send. rdma_connect(), rdma_accept() and
 * rdma_disconnect() take it further.
 *
 * Context: may sleep; also in the id's handler.
 * Return: 0; -EINVAL for a PD of another device; errors of ib_create_qp() and ib_modify_qp().
 */
int rdma_create_qp(struct rdma_cm_id *rdma_id, struct ib_pd *pd,
		   struct ib_qp_init_attr *qp_init_attr)
{
	struct cma_id *id = to_cma_id(rdma_id);
	struct ib_qp *qp;
	int ret;

	if (pd->device != rdma_id->device) {
		ret = rdma_refuse(-EINVAL, "the PD is of another device than the id");
		goto out;
	}
	qp_init_attr->port_num = rdma_id->port_num;
	qp = ib_create_qp(pd, qp_init_attr);
	ret = PTR_ERR_OR_ZERO(qp);
	if (ret)
		goto out;
	ret = qp_step(id, qp, IB_QPS_INIT, NULL, NULL);
	if (!ret && rdma_id->qp_type == IB_QPT_UD)
		ret = datagram_ready(qp);
	if (ret) {
		ib_destroy_qp(qp);
		goto out;
	}
	id->qp_num = qp->qp_num;
	id->srq = !!qp->srq;
	scoped_guard(mutex, &id->qp_lock)
		rdma_id->qp = qp;
out:
	trace_cm_qp_create(id, pd, qp_init_attr, ret);
	return ret;
}
EXPORT_SYMBOL(rdma_create_qp);

/**
 * rdma_destroy_qp() - destroy the QP of an id
 * @rdma_id: id with a QP
 *
 * Events of the id leave the QP alone from then on.
 *
 * Context: may sleep.
 */
void rdma_destroy_qp(struct rdma_cm_id *rdma_id)
{
	struct cma_id *id = to_cma_id(rdma_id);

	trace_cm_qp_destroy(id);
	guard(mutex)(&id->qp_lock);
	ib_destroy_qp(rdma_id->qp);
	rdma_id->qp = NULL;
}
EXPORT_SYMBOL(rdma_destroy_qp);

static void adjust_rtr(struct ib_qp_attr *attr, const struct rdma_conn_param *param)
{
	attr->max_dest_rd_atomic = param->responder_resources;
}

static void adjust_rts(struct ib_qp_attr *attr, const struct rdma_conn_param *param)
{
	attr->max_rd_atomic = param->initiator_depth;
}

/**
 * cma_qp_to_rtr() - let the id's QP receive
 * @id: id, which may have no QP
 * @param: the consumer's parameters, or NULL to take what was agreed with the peer
 *
 * Moves it to INIT again first, as access rights and P_Key are known by now.
 *
 * Return: 0, also without a QP; errors of rdma_init_qp_attr() and ib_modify_qp().
 */
int cma_qp_to_rtr(struct cma_id *id, const struct rdma_conn_param *param)
{
	struct ib_qp *qp;
	int ret;

	guard(mutex)(&id->qp_lock);
	qp = id->id.qp;
	if (!qp)
		return 0;
	ret = qp_step(id, qp, IB_QPS_INIT, NULL, NULL);
	return ret ?: qp_step(id, qp, IB_QPS_RTR, adjust_rtr, param);
}

/**
 * cma_qp_to_rts() - let the id's QP send
 * @id: id, which may have no QP
 * @param: the consumer's parameters, or NULL to take what was agreed with the peer
 *
 * Return: 0, also without a QP; errors of rdma_init_qp_attr() and ib_modify_qp().
 */
int cma_qp_to_rts(struct cma_id *id, const struct rdma_conn_param *param)
{
	guard(mutex)(&id->qp_lock);
	if (!id->id.qp)
		return 0;
	return qp_step(id, id->id.qp, IB_QPS_RTS, adjust_rts, param);
}

/**
 * cma_qp_to_err() - flush the id's QP
 * @id: id, which may have no QP
 *
 * Return: 0, also without a QP; errors of ib_modify_qp().
 */
int cma_qp_to_err(struct cma_id *id)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	guard(mutex)(&id->qp_lock);
	return id->id.qp ? ib_modify_qp(id->id.qp, &attr, IB_QP_STATE) : 0;
}

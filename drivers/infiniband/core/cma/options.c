// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a consumer sets in an id and asks about it.
 */
#include <linux/module.h>

#include "cma_priv.h"

/**
 * rdma_set_service_type() - type of service of the connection
 * @id: the id
 * @tos: as in an IP header; on InfiniBand the traffic class of the path query
 *
 * Counts for the route if it is set before rdma_resolve_route(), and for iWARP before connecting.
 *
 * Context: may sleep.
 */
void rdma_set_service_type(struct rdma_cm_id *id, int tos)
{
	struct cma_id *own = to_cma_id(id);

	guard(mutex)(&own->qp_lock);
	own->tos_set = true;
	own->tos = tos;
}
EXPORT_SYMBOL(rdma_set_service_type);

/**
 * rdma_set_ack_timeout() - local ACK timeout of the QP
 * @id: id with a QP type that is acknowledged
 * @timeout: exponent of 4.096 us times a power of two, 0 to 31; 0 waits for ever
 *
 * Counts for the QP if it is set before it is connected or accepted.
 *
 * Context: may sleep.
 * Return: 0, or -EINVAL for a QP type that sends no requests to acknowledge.
 */
int rdma_set_ack_timeout(struct rdma_cm_id *id, u8 timeout)
{
	struct cma_id *own = to_cma_id(id);

	if (id->qp_type != IB_QPT_XRC_INI && id->qp_type != IB_QPT_RC)
		return rdma_refuse(-EINVAL, "QP type %d has no ACK timeout", id->qp_type);
	guard(mutex)(&own->qp_lock);
	own->timeout_set = true;
	own->timeout = timeout;
	return 0;
}
EXPORT_SYMBOL(rdma_set_ack_timeout);

/**
 * rdma_set_min_rnr_timer() - set how long a peer is to wait when the QP has no receive buffer
 * @id: id with a QP type that answers requests
 * @min_rnr_timer: the code of RNR NAKs, 0 to 31; 0, the longest, stands for 655.36 ms
 *
 * Counts for the QP if it is set before it is connected or accepted.
 *
 * Context: may sleep.
 * Return: 0, or -EINVAL for a code that is too large or a QP type without RNR NAKs.
 */
int rdma_set_min_rnr_timer(struct rdma_cm_id *id, u8 min_rnr_timer)
{
	struct cma_id *own = to_cma_id(id);

	if (min_rnr_timer > 31)
		return rdma_refuse(-EINVAL, "minimum RNR timer %u > 31", min_rnr_timer);
	if (id->qp_type != IB_QPT_XRC_TGT && id->qp_type != IB_QPT_RC)
		return rdma_refuse(-EINVAL, "QP type %d has no RNR timer", id->qp_type);
	guard(mutex)(&own->qp_lock);
	own->min_rnr_timer_set = true;
	own->min_rnr_timer = min_rnr_timer;
	return 0;
}
EXPORT_SYMBOL(rdma_set_min_rnr_timer);

/**
 * rdma_set_reuseaddr() - may others bind the id's port, too?
 * @id: the id
 * @reuse: other than 0 if so
 *
 * All ids of a port have to agree.  When an id listens, it does not share its port any more.
 *
 * Context: any.
 * Return: 0; -EINVAL when a listening id is to share its port, or a bound one not to share it any
 * more.
 */
int rdma_set_reuseaddr(struct rdma_cm_id *id, int reuse)
{
	struct cma_id *own = to_cma_id(id);

	guard(spinlock_irqsave)(&own->lock);
	if (own->state != RDMA_CM_IDLE && (!reuse || own->state == RDMA_CM_LISTEN))
		return rdma_refuse(-EINVAL, "reuse of the address cannot change in state %d",
				   own->state);
	own->reuseaddr = reuse;
	return 0;
}
EXPORT_SYMBOL(rdma_set_reuseaddr);

/**
 * rdma_set_afonly() - does a wildcard address stand for its own family alone?
 * @id: the id
 * @afonly: other than 0 if so
 *
 * Unless set, the namespace's net.ipv6.bindv6only decides for IPv6, and IPv4 is for itself.
 *
 * Context: any.
 * Return: 0, or -EINVAL in a state after ADDR_BOUND.
 */
int rdma_set_afonly(struct rdma_cm_id *id, int afonly)
{
	struct cma_id *own = to_cma_id(id);

	guard(spinlock_irqsave)(&own->lock);
	if (own->state != RDMA_CM_ADDR_BOUND && own->state != RDMA_CM_IDLE)
		return rdma_refuse(-EINVAL, "the families of the address cannot change in state %d",
				   own->state);
	own->afonly_set = true;
	own->afonly = afonly;
	return 0;
}
EXPORT_SYMBOL(rdma_set_afonly);

/**
 * rdma_read_gids() - GIDs of an id's two ends
 * @cm_id: the id
 * @sgid: receives the own one; may be NULL
 * @dgid: receives the peer's; may be NULL
 *
 * They are zeroes for an id without a device.
 *
 * Context: any.
 */
void rdma_read_gids(struct rdma_cm_id *cm_id, union ib_gid *sgid, union ib_gid *dgid)
{
	struct rdma_addr *ends = &cm_id->route.addr;
	union ib_gid own = {}, peer = {};

	if (cm_id->device && rdma_protocol_roce(cm_id->device, cm_id->port_num)) {
		rdma_ip2gid((struct sockaddr *)&ends->src_addr, &own);
		rdma_ip2gid((struct sockaddr *)&ends->dst_addr, &peer);
	} else if (cm_id->device) {
		rdma_addr_get_sgid(&ends->dev_addr, &own);
		rdma_addr_get_dgid(&ends->dev_addr, &peer);
	}
	if (sgid)
		*sgid = own;
	if (dgid)
		*dgid = peer;
}
EXPORT_SYMBOL(rdma_read_gids);

/**
 * rdma_iw_cm_id() - id of iw_cm behind an id
 * @cm_id: id with a device
 *
 * A driver that is asked to describe an id may use what this returns until it has answered.
 *
 * Context: any.
 * Return: the id; NULL on a device that is no iWARP device, or while there is no connection.
 */
struct iw_cm_id *rdma_iw_cm_id(struct rdma_cm_id *cm_id)
{
	if (cm_id->device->node_type != RDMA_NODE_RNIC)
		return NULL;
	return READ_ONCE(to_cma_id(cm_id)->cm_id.iw);
}
EXPORT_SYMBOL(rdma_iw_cm_id);

/**
 * rdma_event_msg() - describe an event in words
 * @event: the event
 *
 * Return: a constant text, also for numbers that stand for nothing.
 */
const char *__attribute_const__ rdma_event_msg(enum rdma_cm_event_type event)
{
	switch (event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:	return "address resolved";
	case RDMA_CM_EVENT_ADDR_ERROR:		return "address not resolved";
	case RDMA_CM_EVENT_ROUTE_RESOLVED:	return "route resolved";
	case RDMA_CM_EVENT_ROUTE_ERROR:		return "route not resolved";
	case RDMA_CM_EVENT_CONNECT_REQUEST:	return "request to connect";
	case RDMA_CM_EVENT_CONNECT_RESPONSE:	return "request to connect answered";
	case RDMA_CM_EVENT_CONNECT_ERROR:	return "connecting failed";
	case RDMA_CM_EVENT_UNREACHABLE:		return "peer unreachable";
	case RDMA_CM_EVENT_REJECTED:		return "rejected";
	case RDMA_CM_EVENT_ESTABLISHED:		return "established";
	case RDMA_CM_EVENT_DISCONNECTED:	return "disconnected";
	case RDMA_CM_EVENT_DEVICE_REMOVAL:	return "device removed";
	case RDMA_CM_EVENT_MULTICAST_JOIN:	return "multicast group joined";
	case RDMA_CM_EVENT_MULTICAST_ERROR:	return "multicast group not joined";
	case RDMA_CM_EVENT_ADDR_CHANGE:		return "link address changed";
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:	return "time wait over";
	}
	return "unknown event";
}
EXPORT_SYMBOL(rdma_event_msg);

/**
 * rdma_reject_msg() - why a peer rejected a connection, in words
 * @id: id with a device
 * @reason: status of the REJECTED event
 *
 * Return: a constant text, also for unknown reasons.
 */
const char *__attribute_const__ rdma_reject_msg(struct rdma_cm_id *id, int reason)
{
	if (rdma_protocol_iwarp(id->device, id->port_num))
		return iwcm_reject_msg(reason);
	return ibcm_reject_msg(reason);
}
EXPORT_SYMBOL(rdma_reject_msg);

/* Did the peer's consumer reject, and not its connection manager? */
static bool is_consumer_reject(struct rdma_cm_id *id, int reason)
{
	if (rdma_protocol_iwarp(id->device, id->port_num))
		return reason == -ECONNREFUSED;
	return reason == IB_CM_REJ_CONSUMER_DEFINED;
}

/**
 * rdma_consumer_reject_data() - private data of a consumer who rejected the connection
 * @id: id with a device
 * @ev: its REJECTED event
 * @data_len: receives the number of bytes
 *
 * Context: the event's handler.
 * Return: the data as long as the handler runs; NULL and 0 bytes if the peer's consumer was not
 * asked.
 */
const void *rdma_consumer_reject_data(struct rdma_cm_id *id, struct rdma_cm_event *ev, u8 *data_len)
{
	bool asked = is_consumer_reject(id, ev->status);

	*data_len = asked ? ev->param.conn.private_data_len : 0;
	return asked ? ev->param.conn.private_data : NULL;
}
EXPORT_SYMBOL(rdma_consumer_reject_data);

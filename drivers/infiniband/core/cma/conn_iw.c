// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Connections on iWARP ports: iw_cm's calls, and what its events mean to the consumer.
 */
#include <kunit/visibility.h>
#include <linux/cleanup.h>

#include "connect.h"
#include "trace.h"

static struct iw_cm_conn_param to_iw(const struct cma_id *id, const struct rdma_conn_param *param)
{
	return (struct iw_cm_conn_param) {
		.private_data = param->private_data,
		.private_data_len = param->private_data_len,
		.ord = param->initiator_depth,
		.ird = param->responder_resources,
		.qpn = id->qp_num,
	};
}

static int iw_connect(struct cma_id *id, const struct rdma_conn_param *param)
{
	struct iw_cm_conn_param iw_param = to_iw(id, param);
	struct iw_cm_id *cm_id;
	int ret;

	cm_id = iw_create_cm_id(id->id.device, cma_iw_event, id);
	if (IS_ERR(cm_id))
		return PTR_ERR(cm_id);
	scoped_guard(mutex, &id->qp_lock) {
		cm_id->tos = id->tos;
		cm_id->tos_set = id->tos_set;
	}
	cm_id->local_addr = id->id.route.addr.src_addr;
	cm_id->remote_addr = id->id.route.addr.dst_addr;
	id->cm_id.iw = cm_id;
	ret = cma_qp_to_rtr(id, param);
	if (!ret)
		ret = iw_cm_connect(cm_id, &iw_param);
	if (ret)
		iw_destroy_cm_id(cma_take_iw(id));
	return ret;
}

static int iw_accept(struct cma_id *id, const struct rdma_conn_param *param)
{
	struct iw_cm_conn_param iw_param = to_iw(id, param);
	int ret;

	ret = cma_qp_to_rtr(id, param);
	return ret ?: iw_cm_accept(id->cm_id.iw, &iw_param);
}

static int iw_reject(struct cma_id *id, const void *data, u8 len, u8 reason)
{
	return iw_cm_reject(id->cm_id.iw, data, len);
}

static int iw_disconnect(struct cma_id *id)
{
	return iw_cm_disconnect(id->cm_id.iw, 0);
}

static int iw_qp_attr(struct cma_id *id, struct ib_qp_attr *attr, int *mask)
{
	int ret = 0;

	if (id->cm_id.iw) {
		ret = iw_cm_init_qp_attr(id->cm_id.iw, attr, mask);
	} else {
		attr->qp_access_flags = 0;
		*mask = IB_QP_STATE | IB_QP_ACCESS_FLAGS;
	}
	attr->port_num = id->id.port_num;
	*mask |= IB_QP_PORT;
	return ret;
}

const struct cma_transport cma_transport_iw = {
	.connect = iw_connect,
	.accept = iw_accept,
	.reject = iw_reject,
	.disconnect = iw_disconnect,
	.qp_attr = iw_qp_attr,
};

/* ---- events ---- */

/* The event for the outcome of a request to connect. */
static enum rdma_cm_event_type outcome(int status)
{
	switch (status) {
	case 0:
		return RDMA_CM_EVENT_ESTABLISHED;
	case -ECONNREFUSED:
	case -ECONNRESET:
		return RDMA_CM_EVENT_REJECTED;
	case -ETIMEDOUT:
		return RDMA_CM_EVENT_UNREACHABLE;
	default:
		return RDMA_CM_EVENT_CONNECT_ERROR;
	}
}

/* The other side's outstanding READs are what this side may expect, and the reverse. */
static void fill_depths(struct rdma_cm_event *event, const struct iw_cm_event *iw)
{
	event->param.conn.responder_resources = iw->ord;
	event->param.conn.initiator_depth = iw->ird;
}

static void take_ends(struct cma_id *id, const struct iw_cm_event *iw)
{
	id->id.route.addr.src_addr = iw->local_addr;
	id->id.route.addr.dst_addr = iw->remote_addr;
}

static bool iw_mean(struct cma_id *id, const struct iw_cm_event *iw, struct rdma_cm_event *event)
{
	event->status = iw->status;
	event->param.conn.private_data = iw->private_data;
	event->param.conn.private_data_len = iw->private_data_len;
	switch (iw->event) {
	case IW_CM_EVENT_CONNECT_REPLY:
		take_ends(id, iw);
		event->event = outcome(iw->status);
		if (!iw->status)
			fill_depths(event, iw);
		return true;
	case IW_CM_EVENT_ESTABLISHED:
		event->event = RDMA_CM_EVENT_ESTABLISHED;
		fill_depths(event, iw);
		return true;
	case IW_CM_EVENT_CLOSE:
		event->event = RDMA_CM_EVENT_DISCONNECTED;
		return true;
	default:
		return false;
	}
}

/* Ends an id whose handler has given it up; iw_cm destroys its own by the return value. */
static void end_unlock(struct cma_id *id)
{
	id->cm_id.iw = NULL;
	cma_destroy_unlock(id);
}

/**
 * cma_iw_event() - handler of an id's connection
 * @cm_id: CM id of iw_cm
 * @iw: its event
 *
 * Context: iw_cm's work queue; one event at a time.
 * Return: 0; else the id is gone, and iw_cm destroys @cm_id.
 */
int cma_iw_event(struct iw_cm_id *cm_id, struct iw_cm_event *iw)
{
	struct cma_id *id = cm_id->context;
	struct rdma_cm_event event = {};
	int ret = 0;

	mutex_lock(&id->handler_lock);
	if (cma_state(id) == RDMA_CM_CONNECT && iw_mean(id, iw, &event))
		ret = cma_deliver(id, &event);
	if (ret)
		end_unlock(id);
	else
		mutex_unlock(&id->handler_lock);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(cma_iw_event);

/*
 * A child that knows its ends and its device. Its handler lock is held, unless an error is
 * returned.
 */
static struct cma_id *child_of(struct cma_listen *listen, struct iw_cm_id *cm_id,
			       struct iw_cm_event *iw)
{
	struct cma_id *child = cma_create_child(listen->id);
	int ret;

	if (IS_ERR(child))
		return child;
	mutex_lock_nested(&child->handler_lock, SINGLE_DEPTH_NESTING);
	take_ends(child, iw);
	child->id.qp_type = IB_QPT_RC;
	ret = rdma_translate_ip(cma_src_addr(child), &child->id.route.addr.dev_addr);
	if (!ret)
		ret = cma_acquire_for_iw_request(child, listen);
	if (!ret && !cma_step(child, CMA_REQUEST))
		ret = -ECONNABORTED;
	if (ret) {
		cma_destroy_unlock(child);
		return ERR_PTR(ret);
	}
	child->cm_id.iw = cm_id;
	cm_id->context = child;
	cm_id->cm_handler = cma_iw_event;
	return child;
}

/**
 * cma_iw_listen_handler() - handler of a listen of iw_cm
 * @cm_id: the new connection's, not the listen's
 * @iw: the request
 *
 * Context: iw_cm's work queue.
 * Return: 0; else iw_cm turns the peer down and destroys @cm_id.
 */
int cma_iw_listen_handler(struct iw_cm_id *cm_id, struct iw_cm_event *iw)
{
	struct cma_listen *listen = cm_id->context;
	struct cma_id *listener = listen->id;
	struct rdma_cm_event event = {
		.event = RDMA_CM_EVENT_CONNECT_REQUEST,
		.param.conn.private_data = iw->private_data,
		.param.conn.private_data_len = iw->private_data_len,
	};
	struct cma_id *child;
	int ret;

	fill_depths(&event, iw);
	guard(mutex)(&listener->handler_lock);
	if (cma_state(listener) != RDMA_CM_LISTEN)
		return -ECONNABORTED;
	child = child_of(listen, cm_id, iw);
	if (IS_ERR(child))
		return PTR_ERR(child);
	ret = cma_deliver(child, &event);
	if (ret)
		end_unlock(child);
	else
		mutex_unlock(&child->handler_lock);
	return ret;
}

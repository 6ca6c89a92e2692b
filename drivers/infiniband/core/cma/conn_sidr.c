// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Datagram ids on InfiniBand and RoCE ports: service resolution (SIDR) tells the peer's QP and
 * Q_Key.
 */
#include <linux/cleanup.h>
#include <linux/slab.h>

#include "connect.h"
#include "trace.h"

/* The event of a positive answer; its address vector holds a reference to the source GID. */
static void fill_found(struct cma_id *id, const struct ib_cm_sidr_rep_event_param *rep,
		       struct rdma_cm_event *event)
{
	int ret;

	ret = cma_set_qkey(id, rep->qkey);
	if (ret) {
		event->event = RDMA_CM_EVENT_ADDR_ERROR;
		event->status = ret;
		return;
	}
	ret = ib_init_ah_attr_from_path(id->id.device, id->id.port_num, id->id.route.path_rec,
					&event->param.ud.ah_attr, rep->sgid_attr);
	if (ret) {
		memset(&event->param.ud.ah_attr, 0, sizeof(event->param.ud.ah_attr));
		event->event = RDMA_CM_EVENT_CONNECT_ERROR;
		event->status = ret;
		return;
	}
	event->event = RDMA_CM_EVENT_ESTABLISHED;
	event->param.ud.qp_num = rep->qpn;
	event->param.ud.qkey = rep->qkey;
}

static bool fill_answer(struct cma_id *id, const struct ib_cm_event *ib,
			struct rdma_cm_event *event)
{
	const struct ib_cm_sidr_rep_event_param *rep = &ib->param.sidr_rep_rcvd;

	switch (ib->event) {
	case IB_CM_SIDR_REQ_ERROR:
		event->event = RDMA_CM_EVENT_UNREACHABLE;
		event->status = -ETIMEDOUT;
		return true;
	case IB_CM_SIDR_REP_RECEIVED:
		event->param.ud.private_data = ib->private_data;
		event->param.ud.private_data_len = IB_CM_SIDR_REP_PRIVATE_DATA_SIZE;
		if (rep->status == IB_SIDR_SUCCESS) {
			fill_found(id, rep, event);
		} else {
			event->event = RDMA_CM_EVENT_UNREACHABLE;
			event->status = rep->status;
		}
		return true;
	default:
		return false;
	}
}

/* Handler of a resolution that this side has asked for. */
static int sidr_event(struct ib_cm_id *cm_id, const struct ib_cm_event *ib)
{
	struct cma_id *id = cm_id->context;
	struct rdma_cm_event event = {};
	int ret = 0;

	mutex_lock(&id->handler_lock);
	if (cma_state(id) == RDMA_CM_CONNECT && fill_answer(id, ib, &event)) {
		ret = cma_deliver(id, &event);
		rdma_destroy_ah_attr(&event.param.ud.ah_attr);
	}
	if (!ret) {
		mutex_unlock(&id->handler_lock);
		return 0;
	}
	id->cm_id.ib = NULL;
	cma_destroy_unlock(id);
	return ret;
}

static int sidr_connect(struct cma_id *id, const struct rdma_conn_param *param)
{
	struct cma_request_data *data __free(kfree) =
		cma_ib_begin(id, param, IB_CM_SIDR_REQ_PRIVATE_DATA_SIZE, sidr_event);
	struct ib_cm_sidr_req_param req = {
		.path = id->id.route.path_rec,
		.sgid_attr = id->id.route.addr.dev_addr.sgid_attr,
		.service_id = rdma_get_service_id(&id->id, cma_dst_addr(id)),
		/* 4.096 us << n, in ms */
		.timeout_ms = 1 << (CMA_CM_RESPONSE_TIMEOUT - 8),
		.max_cm_retries = CMA_CM_RETRIES,
	};
	int ret;

	if (IS_ERR(data))
		return PTR_ERR(data);
	req.private_data = data->bytes;
	req.private_data_len = data->len;
	trace_cm_send_sidr_req(id);
	ret = ib_send_cm_sidr_req(id->cm_id.ib, &req);
	if (ret)
		cma_ib_abort(id);
	return ret;
}

/* The Q_Key is the consumer's, else that of the port space. */
static int sidr_accept(struct cma_id *id, const struct rdma_conn_param *param)
{
	struct ib_cm_sidr_rep_param rep = {
		.status = IB_SIDR_SUCCESS,
		.qp_num = id->qp_num,
		.private_data = param->private_data,
		.private_data_len = param->private_data_len,
		.ece = id->ece,
	};
	int ret;

	ret = param->qkey ? cma_set_qkey(id, param->qkey) : cma_set_default_qkey(id);
	if (ret)
		return ret;
	rep.qkey = id->qkey;
	trace_cm_send_sidr_rep(id);
	return ib_send_cm_sidr_rep(id->cm_id.ib, &rep);
}

static int sidr_confirm(struct cma_id *id)
{
	static const struct rdma_conn_param nothing;

	return sidr_accept(id, &nothing);
}

static int sidr_reject(struct cma_id *id, const void *data, u8 len, u8 reason)
{
	struct ib_cm_sidr_rep_param rep = {
		.status = IB_SIDR_REJECT,
		.private_data = data,
		.private_data_len = len,
	};

	trace_cm_send_sidr_rep(id);
	return ib_send_cm_sidr_rep(id->cm_id.ib, &rep);
}

/* There is no connection to end, but the QP stops as that of other ids does. */
static int sidr_disconnect(struct cma_id *id)
{
	return cma_qp_to_err(id);
}

static int sidr_qp_attr(struct cma_id *id, struct ib_qp_attr *attr, int *mask)
{
	int ret;

	ret = cma_ib_port_attr(id, attr, mask);
	if (ret)
		return ret;
	ret = cma_set_default_qkey(id);
	if (ret)
		return ret;
	attr->qkey = id->qkey;
	*mask |= IB_QP_QKEY;
	if (attr->qp_state == IB_QPS_RTR)
		attr->rq_psn = id->seq_num;
	return 0;
}

const struct cma_transport cma_transport_sidr = {
	.connect = sidr_connect,
	.accept = sidr_accept,
	.confirm = sidr_confirm,
	.reject = sidr_reject,
	.disconnect = sidr_disconnect,
	.qp_attr = sidr_qp_attr,
};

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Connections on InfiniBand and RoCE ports: requests and answers of ib_cm, and what its events mean
 * to the consumer.
 */
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/slab.h>

#include "connect.h"
#include "trace.h"

#define MAX_RETRIES	7

/**
 * cma_request_data() - private data of a request that goes out
 * @id: id
 * @param: has the consumer's data, of which there may be none
 * @room: bytes that the message has for private data
 * @data: receives the header, if the id has IP addresses, and the consumer's data
 *
 * Return: 0, or -EINVAL if that is more than @room.
 */
int cma_request_data(struct cma_id *id, const struct rdma_conn_param *param, size_t room,
		     struct cma_request_data *data)
{
	unsigned int offset = ipcm_data_offset(cma_family(id));
	const struct ipcm_ends ends = {
		.local = id->id.route.addr.src_addr,
		.remote = id->id.route.addr.dst_addr,
	};

	if (offset + param->private_data_len > room)
		return rdma_refuse(-EINVAL, "%u bytes of private data, there is room for %zu",
				   param->private_data_len, room - offset);
	memset(data, 0, sizeof(*data));
	data->len = offset + param->private_data_len;
	if (param->private_data)
		memcpy(data->bytes + offset, param->private_data, param->private_data_len);
	return offset ? ipcm_pack(data->bytes, &ends) : 0;
}
EXPORT_SYMBOL_IF_KUNIT(cma_request_data);

/**
 * cma_ib_begin() - make what a request needs to go out
 * @id: id, with the handler lock held, for which events of the cm_id wait
 * @param: the consumer's parameters
 * @room: bytes of private data that the request has room for
 * @handler: handler of the cm_id
 *
 * That is its private data, and the cm_id that the id gets. The trace of the request names the
 * cm_id, so the id has it before it is used.
 *
 * Return: the data, to be freed; cma_ib_abort() takes the rest back. -ENOMEM, or an error of
 * cma_request_data() or ib_create_cm_id().
 */
struct cma_request_data *cma_ib_begin(struct cma_id *id, const struct rdma_conn_param *param,
				      size_t room, ib_cm_handler handler)
{
	struct cma_request_data *data __free(kfree) = kmalloc(sizeof(*data), GFP_KERNEL);
	struct ib_cm_id *cm_id;
	int ret;

	if (!data)
		return ERR_PTR(-ENOMEM);
	ret = cma_request_data(id, param, room, data);
	if (ret)
		return ERR_PTR(ret);
	cm_id = ib_create_cm_id(id->id.device, handler, id);
	if (IS_ERR(cm_id))
		return ERR_CAST(cm_id);
	id->cm_id.ib = cm_id;
	return no_free_ptr(data);
}

/**
 * cma_ib_abort() - take back what cma_ib_begin() did: the request could not be sent
 * @id: id, with the handler lock held
 */
void cma_ib_abort(struct cma_id *id)
{
	struct ib_cm_id *cm_id = id->cm_id.ib;

	id->cm_id.ib = NULL;
	ib_destroy_cm_id(cm_id);
}

static int ib_connect(struct cma_id *id, const struct rdma_conn_param *param)
{
	struct cma_request_data *data __free(kfree) =
		cma_ib_begin(id, param, IB_CM_REQ_PRIVATE_DATA_SIZE, cma_ib_event);
	struct rdma_route *route = &id->id.route;
	struct ib_cm_req_param req = {
		.primary_path = route->path_rec,
		.primary_path_inbound = route->path_rec_inbound,
		.primary_path_outbound = route->path_rec_outbound,
		.alternate_path = route->num_pri_alt_paths == 2 ? &route->path_rec[1] : NULL,
		.ppath_sgid_attr = route->addr.dev_addr.sgid_attr,
		.service_id = rdma_get_service_id(&id->id, cma_dst_addr(id)),
		.qp_num = id->qp_num,
		.qp_type = id->id.qp_type,
		.starting_psn = id->seq_num,
		.responder_resources = param->responder_resources,
		.initiator_depth = param->initiator_depth,
		.remote_cm_response_timeout = CMA_CM_RESPONSE_TIMEOUT,
		.local_cm_response_timeout = CMA_CM_RESPONSE_TIMEOUT,
		.max_cm_retries = CMA_CM_RETRIES,
		.flow_control = param->flow_control,
		.retry_count = min_t(u8, param->retry_count, MAX_RETRIES),
		.rnr_retry_count = min_t(u8, param->rnr_retry_count, MAX_RETRIES),
		.srq = id->srq,
		.ece = id->ece,
	};
	int ret;

	if (IS_ERR(data))
		return PTR_ERR(data);
	req.private_data = data->bytes;
	req.private_data_len = data->len;
	trace_cm_send_req(id);
	ret = ib_send_cm_req(id->cm_id.ib, &req);
	if (ret)
		cma_ib_abort(id);
	return ret;
}

static int ib_accept(struct cma_id *id, const struct rdma_conn_param *param)
{
	struct ib_cm_rep_param rep = {
		.qp_num = id->qp_num,
		.starting_psn = id->seq_num,
		.private_data = param->private_data,
		.private_data_len = param->private_data_len,
		.responder_resources = param->responder_resources,
		.initiator_depth = param->initiator_depth,
		.flow_control = param->flow_control,
		.rnr_retry_count = min_t(u8, param->rnr_retry_count, MAX_RETRIES),
		.srq = id->srq,
		.ece = id->ece,
	};
	int ret;

	ret = cma_qp_to_rtr(id, param);
	if (!ret)
		ret = cma_qp_to_rts(id, param);
	if (ret)
		return ret;
	trace_cm_send_rep(id);
	return ib_send_cm_rep(id->cm_id.ib, &rep);
}

/* The peer's reply has come: makes the QP ready, and sends an RTU. */
static int ib_confirm(struct cma_id *id)
{
	int ret;

	ret = cma_qp_to_rtr(id, NULL);
	if (!ret)
		ret = cma_qp_to_rts(id, NULL);
	if (ret)
		return ret;
	trace_cm_send_rtu(id);
	return ib_send_cm_rtu(id->cm_id.ib, NULL, 0);
}

static int ib_reject(struct cma_id *id, const void *data, u8 len, u8 reason)
{
	trace_cm_send_rej(id);
	return ib_send_cm_rej(id->cm_id.ib, reason, NULL, 0, data, len);
}

static bool take_end(struct cma_id *id, struct cma_report *report, struct rdma_cm_event *event)
{
	event->event = RDMA_CM_EVENT_DISCONNECTED;
	event->status = -ETIMEDOUT;
	return cma_step(id, CMA_DISCONNECTED);
}

/*
 * If the peer was first to disconnect, answers its request instead of sending one. A request that
 * there was no memory to wait for has ended the connection, too, and ib_cm has no event for that.
 */
static int ib_disconnect(struct cma_id *id)
{
	int ret;

	ret = cma_qp_to_err(id);
	if (ret)
		return ret;
	trace_cm_disconnect(id);
	ret = ib_send_cm_dreq(id->cm_id.ib, NULL, 0);
	if (!ret) {
		trace_cm_sent_dreq(id);
	} else if (ret != -EINVAL) {
		id->end_report.take = take_end;
		cma_report(id, &id->end_report);
	} else if (!ib_send_cm_drep(id->cm_id.ib, NULL, 0)) {
		trace_cm_sent_drep(id);
	}
	return 0;
}

static int ib_qp_attr(struct cma_id *id, struct ib_qp_attr *attr, int *mask)
{
	int ret;

	if (id->cm_id.ib) {
		ret = ib_cm_init_qp_attr(id->cm_id.ib, attr, mask);
	} else {
		ret = cma_ib_port_attr(id, attr, mask);
		attr->qp_access_flags = 0;
		*mask |= IB_QP_ACCESS_FLAGS;
	}
	if (attr->qp_state == IB_QPS_RTR)
		attr->rq_psn = id->seq_num;
	return ret;
}

const struct cma_transport cma_transport_ib = {
	.connect = ib_connect,
	.accept = ib_accept,
	.confirm = ib_confirm,
	.reject = ib_reject,
	.disconnect = ib_disconnect,
	.qp_attr = ib_qp_attr,
};

/* ---- events ---- */

static void fill_reply(struct rdma_cm_event *event, const struct ib_cm_event *ib)
{
	const struct ib_cm_rep_event_param *rep = &ib->param.rep_rcvd;

	event->ece = rep->ece;
	event->param.conn = (struct rdma_conn_param) {
		.private_data = ib->private_data,
		.private_data_len = IB_CM_REP_PRIVATE_DATA_SIZE,
		.responder_resources = rep->responder_resources,
		.initiator_depth = rep->initiator_depth,
		.flow_control = rep->flow_control,
		.rnr_retry_count = rep->rnr_retry_count,
		.srq = rep->srq,
		.qp_num = rep->remote_qpn,
	};
}

static bool on_reply(struct cma_id *id, const struct ib_cm_event *ib, struct rdma_cm_event *event)
{
	struct ib_cm_id *cm_id = id->cm_id.ib;

	/* Changing the QP, or the consumer, may take longer than the peer waits. */
	trace_cm_send_mra(id);
	ib_send_cm_mra(cm_id, CMA_CM_MRA, NULL, 0);
	fill_reply(event, ib);
	if (!id->id.qp) {
		event->event = RDMA_CM_EVENT_CONNECT_RESPONSE;
		return true;
	}
	event->event = RDMA_CM_EVENT_ESTABLISHED;
	event->status = ib_confirm(id);
	if (event->status) {
		event->event = RDMA_CM_EVENT_CONNECT_ERROR;
		cma_qp_to_err(id);
		ib_reject(id, NULL, 0, IB_CM_REJ_CONSUMER_DEFINED);
	}
	return true;
}

static bool on_reject(struct cma_id *id, const struct ib_cm_event *ib,
		      struct rdma_cm_event *event)
{
	cma_qp_to_err(id);
	event->event = RDMA_CM_EVENT_REJECTED;
	event->status = ib->param.rej_rcvd.reason;
	event->param.conn.private_data = ib->private_data;
	event->param.conn.private_data_len = IB_CM_REJ_PRIVATE_DATA_SIZE;
	return true;
}

static bool on_disconnect(struct cma_id *id, const struct ib_cm_event *ib,
			  struct rdma_cm_event *event)
{
	event->event = RDMA_CM_EVENT_DISCONNECTED;
	if (ib->event == IB_CM_DREQ_ERROR)
		event->status = -ETIMEDOUT;
	return cma_step(id, CMA_DISCONNECTED);
}

static bool on_silence(struct cma_id *id, const struct ib_cm_event *ib,
		       struct rdma_cm_event *event)
{
	event->event = RDMA_CM_EVENT_UNREACHABLE;
	event->status = -ETIMEDOUT;
	return true;
}

static bool on_established(struct cma_id *id, const struct ib_cm_event *ib,
			   struct rdma_cm_event *event)
{
	event->event = RDMA_CM_EVENT_ESTABLISHED;
	return true;
}

static bool on_timewait_exit(struct cma_id *id, const struct ib_cm_event *ib,
			     struct rdma_cm_event *event)
{
	event->event = RDMA_CM_EVENT_TIMEWAIT_EXIT;
	return true;
}

/*
 * What an event of ib_cm means, and in which state of the id. Others (MRA, alternate paths) mean
 * nothing to the consumer. A function says whether there is an event to deliver.
 */
static const struct {
	enum rdma_cm_state in;
	bool (*mean)(struct cma_id *id, const struct ib_cm_event *ib, struct rdma_cm_event *event);
} meaning[] = {
	[IB_CM_REQ_ERROR]		= { RDMA_CM_CONNECT, on_silence },
	[IB_CM_REP_ERROR]		= { RDMA_CM_CONNECT, on_silence },
	[IB_CM_REP_RECEIVED]		= { RDMA_CM_CONNECT, on_reply },
	[IB_CM_RTU_RECEIVED]		= { RDMA_CM_CONNECT, on_established },
	[IB_CM_USER_ESTABLISHED]	= { RDMA_CM_CONNECT, on_established },
	[IB_CM_DREQ_ERROR]		= { RDMA_CM_CONNECT, on_disconnect },
	[IB_CM_DREQ_RECEIVED]		= { RDMA_CM_CONNECT, on_disconnect },
	[IB_CM_DREP_RECEIVED]		= { RDMA_CM_CONNECT, on_disconnect },
	[IB_CM_REJ_RECEIVED]		= { RDMA_CM_CONNECT, on_reject },
	[IB_CM_TIMEWAIT_EXIT]		= { RDMA_CM_DISCONNECT, on_timewait_exit },
};

/**
 * cma_ib_event() - handler of an id's connection
 * @cm_id: CM id of ib_cm
 * @ib: its event
 *
 * Context: ib_cm's; one event at a time.
 * Return: 0; else the id is gone, and ib_cm destroys @cm_id.
 */
int cma_ib_event(struct ib_cm_id *cm_id, const struct ib_cm_event *ib)
{
	struct cma_id *id = cm_id->context;
	struct rdma_cm_event event = {};
	int ret;

	if ((unsigned int)ib->event >= ARRAY_SIZE(meaning) || !meaning[ib->event].mean)
		return 0;
	mutex_lock(&id->handler_lock);
	if (cma_state(id) != meaning[ib->event].in || !meaning[ib->event].mean(id, ib, &event)) {
		mutex_unlock(&id->handler_lock);
		return 0;
	}
	ret = cma_deliver(id, &event);
	if (!ret) {
		mutex_unlock(&id->handler_lock);
		return 0;
	}
	id->cm_id.ib = NULL;
	cma_destroy_unlock(id);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(cma_ib_event);

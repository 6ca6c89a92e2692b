// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests for a connection that arrive: each makes an id, unless it came before, its QP is
 * connected already, or nobody listens.
 */
#include <linux/cleanup.h>
#include <rdma/ib_cache.h>

#include "cm.h"
#include "timing.h"
#include "trace.h"

/**
 * struct cm_request - a request for a connection that is being handled
 * @port: where it has arrived
 * @wc: the datagram
 * @msg: the decoded message, completed by LIDs that it could not know
 * @id: made for it
 * @event: for its handler
 */
struct cm_request {
	struct cm_port *port;
	struct ib_mad_recv_wc *wc;
	struct cm_msg msg;
	struct cm_id *id;
	struct cm_event *event;
};

static void refuse(struct cm_request *request, u16 reason, const void *info, u8 info_length)
{
	struct cm_msg answer = {
		.type = CM_MSG_REJ,
		.rej.about = CM_ABOUT_REQ,
		.rej.reason = reason,
		.rej.info = info,
		.rej.info_length = info_length,
	};

	cm_answer(request->port, request->wc, &request->msg, &answer);
}

/* The request came before, and made this id. */
static void came_before(struct cm_request *request, u32 number)
{
	struct cm_id *id = cm_id_find(number);

	cm_count(request->port, CM_COUNT_DUPLICATES, CM_MSG_REQ, 1);
	if (!id)
		return;
	scoped_guard(spinlock_irqsave, &id->lock) {
		struct cm_rule rule = cm_id_rule(id, CM_IN_REQ_AGAIN);

		if (rule.verdict == CM_DUPLICATE)
			cm_repeat(id, &rule, &request->msg);
	}
	cm_id_put(id);
}

/* The request's QP is connected to this id: its peer has forgotten the connection. */
static void stale(struct cm_request *request, u32 number)
{
	struct cm_id *id = cm_id_find(number);

	trace_icm_staleconn_err(request->msg.local_id, request->msg.remote_id);
	refuse(request, IB_CM_REJ_STALE_CONN, NULL, 0);
	if (!id)
		return;
	scoped_guard(spinlock_irqsave, &id->lock)
		cm_happens(id, CM_IN_QP_REUSED, NULL);
	cm_id_put(id);
}

/* A path that leaves the subnet has no LIDs; those of the request's datagram are used. */
static void put_lids(struct cm_path *path, const struct ib_wc *wc)
{
	u16 unknown = be16_to_cpu(IB_LID_PERMISSIVE);

	if (path->subnet_local)
		return;
	if (path->local_lid == unknown) {
		path->local_lid = wc->slid;
		path->sl = wc->sl;
	}
	if (path->remote_lid == unknown)
		path->remote_lid = wc->dlid_path_bits;
}

static void make_recs(struct cm_request *request, struct rdma_ah_attr *back)
{
	struct cm_req *req = &request->msg.req;
	struct sa_path_rec *rec = request->event->path;
	bool roce = back->type == RDMA_AH_ATTR_TYPE_ROCE;

	rec[0].rec_type = SA_PATH_REC_TYPE_IB;
	if (roce) {
		rec[0].rec_type = sa_conv_gid_to_pathrec_type(back->grh.sgid_attr->gid_type);
	} else {
		put_lids(&req->primary, request->wc->wc);
		put_lids(&req->alternate, request->wc->wc);
	}
	rec[1].rec_type = rec[0].rec_type;
	cm_rec_of_path(&req->primary, &rec[0]);
	cm_rec_of_path(&req->alternate, &rec[1]);
	for (int i = 0; i < 2; i++) {
		rec[i].pkey = cpu_to_be16(req->pkey);
		rec[i].mtu = req->mtu;
		rec[i].service_id = cpu_to_be64(req->service_id);
	}
	/* The request has come by the primary path. */
	rec[0].hop_limit = back->grh.hop_limit;
	if (roce) {
		sa_path_set_dmac(&rec[0], back->roce.dmac);
		rec[0].roce.route_resolved = true;
	} else {
		sa_path_set_dlid(&rec[0], request->wc->wc->slid);
	}
}

/* Returns 0, or the reason to refuse the request; -errno if it can be repeated. */
static int find_routes(struct cm_request *request)
{
	bool two = cm_req_has_alternate(&request->msg.req);
	struct sa_path_rec *rec = request->event->path;
	struct cm_id *id = request->id;
	struct cm_routes routes;
	struct rdma_ah_attr back;
	int ret;

	ret = ib_init_ah_attr_from_wc(id->device->ib, request->port->num, request->wc->wc,
				      request->wc->recv_buf.grh, &back);
	if (ret)
		return ret;
	make_recs(request, &back);
	ret = cm_routes_make(id->device, &rec[0],
			     back.ah_flags & IB_AH_GRH ? back.grh.sgid_attr : NULL,
			     be32_to_cpu(IB_QP1), NULL, &routes);
	if (back.type == RDMA_AH_ATTR_TYPE_IB)
		id->data_dlid = request->msg.req.primary.local_lid;
	rdma_destroy_ah_attr(&back);
	if (ret)
		return ret == -ENOMEM || ret == -ENODEV ? ret : IB_CM_REJ_INVALID_GID;
	if (two)
		ret = cm_routes_add_alternate(id->device, &rec[1], be32_to_cpu(IB_QP1), &routes);
	if (ret) {
		cm_routes_free(&routes);
		return ret == -ENOMEM || ret == -ENODEV ? ret : IB_CM_REJ_INVALID_ALT_GID;
	}
	scoped_guard(spinlock_irqsave, &id->lock)
		ret = cm_routes_take(id, &routes);
	cm_routes_free(&routes);
	return ret;
}

static void write_event(struct cm_request *request, struct cm_id *listener)
{
	struct ib_cm_req_event_param *param = &request->event->ib.param.req_rcvd;
	const struct cm_req *req = &request->msg.req;
	struct cm_event *event = request->event;
	struct cm_route *route = request->id->route;

	event->wc = request->wc;
	event->listener = listener;
	event->route = cm_route_get(route);
	event->ib.private_data = (void *)request->msg.private_data;
	*param = (struct ib_cm_req_event_param) {
		.listen_id = listener ? &listener->ib : NULL,
		.bth_pkey = cm_bth_pkey(request->port, request->wc),
		.port = route->port->num,
		.primary_path = &event->path[0],
		.alternate_path = cm_req_has_alternate(req) ? &event->path[1] : NULL,
		.ppath_sgid_attr = route->attr.grh.sgid_attr,
		.remote_ca_guid = cpu_to_be64(req->ca_guid),
		.remote_qkey = req->qkey,
		.remote_qpn = req->qpn,
		.qp_type = request->id->qp_type,
		.starting_psn = req->starting_psn,
		/* What one side initiates is what the other one responds to. */
		.responder_resources = req->initiator_depth,
		.initiator_depth = req->responder_resources,
		.local_cm_response_timeout = req->remote_response_timeout,
		.flow_control = req->flow_control,
		.remote_cm_response_timeout = req->local_response_timeout,
		.retry_count = req->retry_count,
		.rnr_retry_count = req->rnr_retry_count,
		.srq = req->srq,
		.ece.vendor_id = req->vendor_id,
		.ece.attr_mod = request->msg.attr_mod,
	};
}

static void fill_id(struct cm_id *id, const struct cm_msg *msg)
{
	const struct cm_req *req = &msg->req;

	id->ib.remote_id = cpu_to_be32(msg->local_id);
	id->ib.service_id = cpu_to_be64(req->service_id);
	id->tid = msg->tid;
	id->own_timeout = 0;
	id->timeout_ms = cm_reply_ms(req->local_response_timeout);
	id->max_retries = req->max_cm_retries;
	id->remote_guid = req->ca_guid;
	id->remote_qpn = req->qpn;
	id->sq_psn = req->starting_psn;
	id->pkey = cpu_to_be16(req->pkey);
	id->path_mtu = req->mtu;
	id->qp_type = cm_req_qp_type(req);
	id->responder_resources = req->initiator_depth;
	id->initiator_depth = req->responder_resources;
	id->retry_count = req->retry_count;
	id->rnr_retry_count = req->rnr_retry_count;
}

/* The id gets its routes, or the request is refused. */
static bool has_routes(struct cm_request *request)
{
	union ib_gid gid = {};
	int ret = find_routes(request);

	if (ret > 0) {
		rdma_query_gid(request->port->device->ib, request->port->num, 0, &gid);
		refuse(request, ret, &gid, sizeof(gid));
	}
	return !ret;
}

/* The event has the datagram and the listener no more. */
static void take_back(struct cm_event *event)
{
	event->wc = NULL;
	event->listener = NULL;
}

/* Gives the request to a listener: completes and publishes the id, and queues its event. */
static bool deliver(struct cm_request *request, struct cm_id *listener)
{
	struct cm_id *id = request->id;
	int ret;

	if (!has_routes(request))
		return false;
	id->ib.cm_handler = listener->ib.cm_handler;
	id->ib.context = listener->ib.context;
	write_event(request, listener);
	refcount_inc(&id->refs);
	scoped_guard(spinlock_irqsave, &id->lock) {
		ret = cm_id_publish(id);
		if (!ret)
			cm_happens(id, CM_IN_REQ, request->event);
	}
	cm_id_put(id);
	if (!ret)
		return true;
	take_back(request->event);
	return false;
}

/* Binds the request's id to the peer. False if that fails; then the peer has got a REJ. */
static bool bind(struct cm_request *request)
{
	const struct cm_msg *msg = &request->msg;
	struct cm_id *id = request->id;
	u32 other;

	switch (cm_remote_bind(id->remote, msg->req.ca_guid, msg->local_id, msg->req.qpn, &other)) {
	case CM_BIND_SAME_ID:
		came_before(request, other);
		return false;
	case CM_BIND_SAME_QP:
		stale(request, other);
		return false;
	case CM_BIND_FAILED:
		return false;
	case CM_BOUND:
		break;
	}
	return true;
}

/* Becomes the passive side with all that the request's own id would have had. */
static int give_way(struct cm_request *request, struct cm_id *id)
{
	struct cm_id *from = request->id;
	struct cm_rule rule;
	int ret;

	guard(spinlock_irqsave)(&id->lock);
	rule = cm_id_rule(id, CM_IN_REQ_PEER_YIELD);
	if (rule.verdict != CM_PROCEED)
		return -EINVAL;
	ret = cm_routes_move(id, from);
	if (ret)
		return ret;
	swap(id->remote, from->remote);
	id->data_dlid = from->data_dlid;
	id->active = false;
	fill_id(id, &request->msg);
	cm_follow(id, &rule, request->event);
	return 0;
}

/*
 * Both sides call each other, and the peer's request goes on. Returns true if the datagram and the
 * event are in use.
 */
static bool become_passive(struct cm_request *request, struct cm_id *caller)
{
	request->id->remote->local_id = caller->local_id;
	if (!bind(request) || !has_routes(request))
		return false;
	write_event(request, NULL);
	if (!give_way(request, caller))
		return true;
	take_back(request->event);
	return false;
}

/* The same, but this side's request goes on: the peer will answer it. */
static void keep(struct cm_request *request, struct cm_id *caller)
{
	struct cm_rule rule;

	guard(spinlock_irqsave)(&caller->lock);
	rule = cm_id_rule(caller, CM_IN_REQ_PEER_KEEP);
	if (rule.verdict == CM_DUPLICATE)
		cm_count(request->port, CM_COUNT_DUPLICATES, CM_MSG_REQ, 1);
}

static bool meet(struct cm_request *request, struct cm_id *caller)
{
	const struct cm_req *req = &request->msg.req;
	u64 guid = be64_to_cpu(caller->device->ib->node_guid);

	if (!cm_peer_is_active(guid, caller->local_qpn, req->ca_guid, req->qpn))
		return become_passive(request, caller);
	keep(request, caller);
	return false;
}

/* Finds a listener. Returns true if it has got the id, with the datagram and the event. */
static bool handle(struct cm_request *request, const struct cm_ask *ask)
{
	struct cm_id *id = request->id, *listener;

	if (!bind(request))
		return false;
	listener = cm_listen_find(ask);
	if (!listener) {
		trace_icm_no_listener_err(&id->ib);
		refuse(request, IB_CM_REJ_INVALID_SERVICE_ID, NULL, 0);
		return false;
	}
	if (deliver(request, listener))
		return true;
	cm_id_put(listener);
	return false;
}

/* Finds who takes the request. @request loses what it gives away. */
static void look_for(struct cm_request *request)
{
	const struct cm_msg *msg = &request->msg;
	const struct cm_ask ask = {
		.port = request->port, .service_id = request->id->ib.service_id,
		.data = msg->private_data, .len = msg->private_data_len, .pkey = msg->req.pkey,
		.path_bits = request->wc->wc->dlid_path_bits,
	};
	struct cm_id *caller = cm_caller_find(&ask, msg);

	if (caller) {
		if (meet(request, caller)) {
			request->event = NULL;
			request->wc = NULL;
		}
		cm_id_put(caller);
	} else if (handle(request, &ask)) {
		request->event = NULL;
		request->wc = NULL;
		request->id = NULL;
	}
}

/* Allocates what the request needs. If memory is short, the request is dropped. */
static bool prepare(struct cm_request *request)
{
	struct cm_device *device = request->port->device;
	struct cm_id *id = cm_id_new(device, NULL, NULL);

	if (IS_ERR(id))
		return false;
	request->id = id;
	request->event = cm_event_new(device, GFP_KERNEL);
	id->remote = cm_remote_new(device, id->local_id, GFP_KERNEL);
	fill_id(id, &request->msg);
	return request->event && id->remote;
}

/**
 * cm_recv_req() - handle a request for a connection
 * @port: where
 * @msg: its contents
 * @wc: the datagram, which is freed, now or with the event
 */
void cm_recv_req(struct cm_port *port, const struct cm_msg *msg, struct ib_mad_recv_wc *wc)
{
	struct cm_request request = { .port = port, .wc = wc, .msg = *msg };
	u32 known = cm_remote_find(msg->req.ca_guid, msg->local_id);
	u16 reason = cm_req_refusal(&msg->req);

	if (reason)
		refuse(&request, reason, NULL, 0);
	else if (known)
		came_before(&request, known);
	else if (prepare(&request))
		look_for(&request);
	cm_event_free(request.event);
	if (request.id)
		cm_id_drop(request.id);
	if (request.wc)
		port->device->mad->free_recv(request.wc);
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Connections: the consumer's calls from REQ to DREP.
 */
#include <linux/cleanup.h>
#include <linux/slab.h>
#include <rdma/rdma_reject.h>

#include "cm.h"
#include "timing.h"
#include "trace.h"

/* Values with fewer bits in messages than consumers have room for. */
#define BITS_24 0xffffffU

static void put_data(struct cm_msg *msg, const void *data, u8 len)
{
	msg->private_data = data;
	msg->private_data_len = data ? len : 0;
}

/*
 * Checks private data and puts it into @msg. Returns a copy for cm_said_set(), NULL if there is
 * nothing to copy.
 */
static void *take_data(struct cm_msg *msg, enum cm_msg_type type, const void *data, u8 len)
{
	int ret = cm_check_data(data, len, type);

	if (ret)
		return ERR_PTR(ret);
	put_data(msg, data, len);
	if (!msg->private_data_len)
		return NULL;
	return kmemdup(data, len, GFP_ATOMIC) ?: ERR_PTR(-ENOMEM);
}

/* ---- the active side ---- */

static int check_req(const struct ib_cm_req_param *param)
{
	const struct sa_path_rec *path = param->primary_path, *alternate = param->alternate_path;

	if (!path)
		return rdma_refuse(-EINVAL, "REQ: no path");
	if (param->qp_type != IB_QPT_RC && param->qp_type != IB_QPT_UC &&
	    param->qp_type != IB_QPT_XRC_INI)
		return rdma_refuse(-EINVAL, "REQ: QPs of type %d do not connect", param->qp_type);
	if (alternate && (alternate->pkey != path->pkey || alternate->mtu != path->mtu))
		return rdma_refuse(-EINVAL,
				   "REQ: the alternate path has another P_Key or MTU");
	return cm_check_data(param->private_data, param->private_data_len, CM_MSG_REQ);
}

static void write_req(const struct cm_id *id, const struct ib_cm_req_param *param,
		      struct cm_msg *msg)
{
	u8 ack_delay = id->device->ack_delay;
	struct cm_req *req = &msg->req;

	msg->type = CM_MSG_REQ;
	msg->tid = cm_new_tid(id);
	msg->attr_mod = param->ece.attr_mod;
	put_data(msg, param->private_data, param->private_data_len);
	req->service_id = be64_to_cpu(param->service_id);
	req->ca_guid = be64_to_cpu(id->device->ib->node_guid);
	req->vendor_id = param->ece.vendor_id & BITS_24;
	req->qpn = param->qp_num & BITS_24;
	req->starting_psn = param->starting_psn & BITS_24;
	req->pkey = be16_to_cpu(param->primary_path->pkey);
	req->initiator_depth = param->initiator_depth;
	req->remote_response_timeout = param->remote_cm_response_timeout & CM_TIME_MAX;
	req->local_response_timeout = param->local_cm_response_timeout & CM_TIME_MAX;
	req->flow_control = !!param->flow_control;
	req->mtu = param->primary_path->mtu & 0xf;
	req->max_cm_retries = param->max_cm_retries & 0xf;
	cm_req_set_qp_type(req, param->qp_type);
	/* XRC: what follows is for the target's side to say. */
	if (param->qp_type != IB_QPT_XRC_INI) {
		req->responder_resources = param->responder_resources;
		req->retry_count = param->retry_count & 7;
		req->rnr_retry_count = param->rnr_retry_count & 7;
		req->srq = !!param->srq;
	}
	cm_path_of_rec(param->primary_path, &req->primary, ack_delay);
	if (param->primary_path_inbound && !req->primary.subnet_local)
		req->primary.local_lid = be16_to_cpu(param->primary_path_inbound->ib.dlid);
	if (param->alternate_path)
		cm_path_of_rec(param->alternate_path, &req->alternate, ack_delay);
}

static void remember_req(struct cm_id *id, const struct ib_cm_req_param *param,
			 const struct cm_msg *msg)
{
	id->ib.service_id = param->service_id;
	id->ib.remote_id = 0;
	id->tid = msg->tid;
	id->max_retries = param->max_cm_retries;
	id->timeout_ms = cm_request_ms(param->primary_path->packet_life_time,
				       param->remote_cm_response_timeout & CM_TIME_MAX);
	id->local_qpn = msg->req.qpn;
	id->rq_psn = msg->req.starting_psn;
	id->data_dlid = 0;
	if (param->primary_path_outbound)
		id->data_dlid = be16_to_cpu(param->primary_path_outbound->ib.dlid);
	id->pkey = param->primary_path->pkey;
	id->path_mtu = param->primary_path->mtu;
	id->qp_type = param->qp_type;
	id->responder_resources = param->responder_resources;
	id->initiator_depth = param->initiator_depth;
	id->active = true;
	id->response_timeout = msg->req.remote_response_timeout;
	id->retry_count = param->retry_count;
	id->rnr_retry_count = param->rnr_retry_count;
}

/* Takes what @routes and @remote are; they are the id's, or to be freed, afterwards. */
static int send_req(struct cm_id *id, const struct ib_cm_req_param *param, bool peer,
		    struct cm_routes *routes, struct cm_remote **remote)
{
	struct cm_msg msg = {};
	struct cm_rule rule;
	int ret;

	guard(spinlock_irqsave)(&id->lock);
	ret = cm_call_rule(id, CM_IN_CALL_REQ, &rule);
	if (!ret)
		ret = cm_routes_take(id, routes);
	if (ret)
		return ret;
	id->own_timeout = id->ack_timeout;
	write_req(id, param, &msg);
	remember_req(id, param, &msg);
	ret = cm_say(id, &rule, &msg);
	if (ret)
		return ret;
	swap(id->remote, *remote);
	id->peer = peer;
	if (peer)
		cm_caller_add(id, &param->primary_path->dgid);
	cm_follow(id, &rule, NULL);
	return 0;
}

static int request(struct cm_id *id, const struct ib_cm_req_param *param, bool peer)
{
	struct cm_remote *remote;
	struct cm_routes routes;
	int ret = check_req(param);

	if (ret)
		return ret;
	if (READ_ONCE(id->device->gone))
		return -ENODEV;
	ret = cm_routes_make(id->device, param->primary_path, param->ppath_sgid_attr,
			     id->ib.remote_cm_qpn, param->alternate_path, &routes);
	if (ret)
		return ret;
	remote = cm_remote_new(id->device, id->local_id, GFP_KERNEL);
	ret = remote ? send_req(id, param, peer, &routes, &remote) : -ENOMEM;
	cm_remote_free(remote);
	cm_routes_free(&routes);
	return ret;
}

/**
 * ib_send_cm_req() - ask for a connection
 * @cm_id: id that does nothing yet
 * @param: parameters of the request; qp_type is IB_QPT_RC, IB_QPT_UC or IB_QPT_XRC_INI, times are
 *	those of InfiniBand (4.096 us * 2^n)
 *
 * The request is repeated until it is answered, max_cm_retries times; then the event is
 * IB_CM_REQ_ERROR. Its answer is IB_CM_REP_RECEIVED or IB_CM_REJ_RECEIVED.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL for parameters that make no sense, a path that does not start from the id's
 * device, or an id in use; -ENOENT for a P_Key or GID that the port does not have; -ENODEV when the
 * device is gone; -ENOMEM; the MAD layer's error.
 */
int ib_send_cm_req(struct ib_cm_id *cm_id, struct ib_cm_req_param *param)
{
	return request(to_cm_id(cm_id), param, false);
}
EXPORT_SYMBOL(ib_send_cm_req);

/**
 * ib_send_cm_req_peer() - connect to a peer that connects to this side
 * @cm_id: id that does nothing yet
 * @param: as for ib_send_cm_req(); both sides name the same service
 *
 * Both sides call this, in any order, and neither has to listen. Of two requests that meet, the one
 * from the greater CA GUID goes on; within one CA, the one from the greater QP number. The other
 * side's id becomes the passive one: it gets IB_CM_REQ_RECEIVED, without a @listen_id, and answers
 * as after ib_cm_listen(). If the peer has nobody for the service yet, that is no refusal: the
 * request is repeated, until it ends with IB_CM_REQ_ERROR after max_cm_retries. A listener of the
 * service at the peer may answer as well.
 *
 * Context: may sleep.
 * Return: as ib_send_cm_req().
 */
int ib_send_cm_req_peer(struct ib_cm_id *cm_id, struct ib_cm_req_param *param)
{
	return request(to_cm_id(cm_id), param, true);
}
EXPORT_SYMBOL(ib_send_cm_req_peer);

/**
 * ib_send_cm_rtu() - say that the connection is ready to use
 * @cm_id: id that has received a reply
 * @private_data: for the peer's event, or NULL
 * @private_data_len: bytes of it, up to IB_CM_RTU_PRIVATE_DATA_SIZE
 *
 * Context: any.
 * Return: 0; -EINVAL for another state or too much data; -ENOMEM; -ENODEV when the device is gone;
 * the MAD layer's error.
 */
int ib_send_cm_rtu(struct ib_cm_id *cm_id, const void *private_data, u8 private_data_len)
{
	void *copy __free(kfree) = NULL;
	struct cm_id *id = to_cm_id(cm_id);
	struct cm_msg msg = {};
	struct cm_rule rule;
	int ret;

	copy = take_data(&msg, CM_MSG_RTU, private_data, private_data_len);
	if (IS_ERR(copy))
		return PTR_ERR(copy);
	guard(spinlock_irqsave)(&id->lock);
	ret = cm_call_rule(id, CM_IN_CALL_RTU, &rule);
	if (ret) {
		trace_icm_send_cm_rtu_err(cm_id);
		return ret;
	}
	ret = cm_say(id, &rule, &msg);
	if (ret)
		return ret;
	cm_said_set(id, no_free_ptr(copy), private_data_len);
	cm_follow(id, &rule, NULL);
	return 0;
}
EXPORT_SYMBOL(ib_send_cm_rtu);

/* ---- the passive side ---- */

static void write_rep(const struct cm_id *id, const struct ib_cm_rep_param *param,
		      struct cm_msg *msg)
{
	struct cm_rep *rep = &msg->rep;

	msg->type = CM_MSG_REP;
	msg->attr_mod = param->ece.attr_mod;
	put_data(msg, param->private_data, param->private_data_len);
	rep->ca_guid = be64_to_cpu(id->device->ib->node_guid);
	rep->vendor_id = param->ece.vendor_id & BITS_24;
	rep->starting_psn = param->starting_psn & BITS_24;
	rep->responder_resources = param->responder_resources;
	rep->target_ack_delay = id->device->ack_delay;
	rep->failover_accepted = param->failover_accepted & 3;
	rep->rnr_retry_count = param->rnr_retry_count & 7;
	/* A QP that is an XRC target has its number in the place of the end-to-end context. */
	if (id->qp_type == IB_QPT_XRC_TGT) {
		rep->srq = 1;
		rep->eecn = param->qp_num & BITS_24;
	} else {
		rep->initiator_depth = param->initiator_depth;
		rep->flow_control = !!param->flow_control;
		rep->srq = !!param->srq;
		rep->qpn = param->qp_num & BITS_24;
	}
}

/**
 * struct receives - receives that are posted before a REP leaves
 * @qp: where
 * @wr: the receives
 * @bad: receives the one that could not be posted
 */
struct receives {
	struct ib_qp *qp;
	const struct ib_recv_wr *wr;
	const struct ib_recv_wr **bad;
};

static int send_rep(struct cm_id *id, const struct ib_cm_rep_param *param,
		    const struct receives *receives)
{
	struct cm_msg msg = {};
	struct cm_rule rule;
	int ret = cm_check_data(param->private_data, param->private_data_len, CM_MSG_REP);

	if (ret)
		return ret;
	guard(spinlock_irqsave)(&id->lock);
	ret = cm_call_rule(id, CM_IN_CALL_REP, &rule);
	if (ret) {
		trace_icm_send_rep_err(id->ib.local_id, id->ib.state);
		return ret;
	}
	/* The message names the device, which is there as long as the route. */
	if (!id->route)
		return -ENODEV;
	if (receives)
		ret = ib_post_recv(receives->qp, receives->wr, receives->bad);
	if (ret)
		return ret;
	write_rep(id, param, &msg);
	ret = cm_say(id, &rule, &msg);
	if (ret)
		return ret;
	id->initiator_depth = param->initiator_depth;
	id->responder_resources = param->responder_resources;
	id->rq_psn = msg.rep.starting_psn;
	id->local_qpn = param->qp_num & BITS_24;
	cm_follow(id, &rule, NULL);
	return 0;
}

/**
 * ib_send_cm_rep() - accept a connection
 * @cm_id: id of a request
 * @param: own side of the connection
 *
 * The reply is repeated as often as the request says, until the peer has answered; then the event
 * is IB_CM_REP_ERROR. The answer is IB_CM_RTU_RECEIVED, or IB_CM_REJ_RECEIVED.
 *
 * Context: any.
 * Return: as ib_send_cm_rtu().
 */
int ib_send_cm_rep(struct ib_cm_id *cm_id, struct ib_cm_rep_param *param)
{
	return send_rep(to_cm_id(cm_id), param, NULL);
}
EXPORT_SYMBOL(ib_send_cm_rep);

/**
 * ib_send_cm_rep_recv() - accept a connection whose QP can receive already
 * @cm_id: id of a request
 * @param: own side of the connection
 * @qp: its QP, with a receive queue of its own, in INIT, RTR or RTS
 * @recv_wr: receives that are posted before the REP leaves, so that the peer's first message finds
 *	them
 * @bad_recv_wr: receives the first one that could not be posted; or NULL
 *
 * Nothing is posted if the connection cannot be accepted in its state. Receives stay posted if a
 * later one cannot be, or the REP cannot be sent.
 *
 * Context: any.
 * Return: as ib_send_cm_rep(); -EINVAL also for another QP than that of @param, or one with an SRQ;
 * ib_post_recv()'s error.
 */
int ib_send_cm_rep_recv(struct ib_cm_id *cm_id, struct ib_cm_rep_param *param, struct ib_qp *qp,
			const struct ib_recv_wr *recv_wr, const struct ib_recv_wr **bad_recv_wr)
{
	const struct receives receives = { .qp = qp, .wr = recv_wr, .bad = bad_recv_wr };

	if (qp->qp_num != param->qp_num)
		return rdma_refuse(-EINVAL, "REP: it is about QP %#x, the receives about %#x",
				   param->qp_num, qp->qp_num);
	if (qp->srq)
		return rdma_refuse(-EINVAL, "REP: QP %#x receives from an SRQ", qp->qp_num);
	return send_rep(to_cm_id(cm_id), param, recv_wr ? &receives : NULL);
}
EXPORT_SYMBOL(ib_send_cm_rep_recv);

/* ---- either side ---- */

/**
 * ib_send_cm_mra() - let the peer wait longer
 * @cm_id: id that has received a REQ, REP or LAP
 * @service_timeout: how long, from now, 4.096 us * 2^n, n of 5 bits; with IB_CM_MRA_FLAG_DELAY
 *	the peer is told only when it asks again
 * @private_data: for the peer's event, or NULL
 * @private_data_len: bytes of it, up to IB_CM_MRA_PRIVATE_DATA_SIZE
 *
 * Context: any.
 * Return: as ib_send_cm_rtu().
 */
int ib_send_cm_mra(struct ib_cm_id *cm_id, u8 service_timeout, const void *private_data,
		   u8 private_data_len)
{
	void *copy __free(kfree) = NULL;
	struct cm_id *id = to_cm_id(cm_id);
	struct cm_msg msg = {};
	struct cm_rule rule;
	int ret;

	copy = take_data(&msg, CM_MSG_MRA, private_data, private_data_len);
	if (IS_ERR(copy))
		return PTR_ERR(copy);
	guard(spinlock_irqsave)(&id->lock);
	ret = cm_call_rule(id, CM_IN_CALL_MRA, &rule);
	if (ret) {
		trace_icm_send_mra_unknown_err(cm_id);
		return ret;
	}
	msg.mra.about = rule.about;
	msg.mra.service_timeout = service_timeout & CM_TIME_MAX;
	if (!(service_timeout & IB_CM_MRA_FLAG_DELAY))
		ret = cm_say(id, &rule, &msg);
	if (ret)
		return ret;
	id->said.service_timeout = service_timeout & CM_TIME_MAX;
	cm_said_set(id, no_free_ptr(copy), private_data_len);
	cm_follow(id, &rule, NULL);
	return 0;
}
EXPORT_SYMBOL(ib_send_cm_mra);

/**
 * ib_send_cm_rej() - refuse a connection, or break its making off
 * @cm_id: id of a connection that is being made
 * @reason: why
 * @ari: additional information that the reason asks for, or NULL
 * @ari_length: bytes of it, up to IB_CM_REJ_ARI_LENGTH
 * @private_data: for the peer's event, or NULL
 * @private_data_len: bytes of it, up to IB_CM_REJ_PRIVATE_DATA_SIZE
 *
 * Context: any.
 * Return: 0; -EINVAL for another state or too much data; else the id has done with the connection,
 * though the peer could not be told: -ENODEV when the device is gone; the MAD layer's error.
 */
int ib_send_cm_rej(struct ib_cm_id *cm_id, enum ib_cm_rej_reason reason, void *ari, u8 ari_length,
		   const void *private_data, u8 private_data_len)
{
	struct cm_id *id = to_cm_id(cm_id);
	struct cm_msg msg = {};
	struct cm_rule rule;
	int ret = cm_check_data(private_data, private_data_len, CM_MSG_REJ);

	if (ret)
		return ret;
	if (ari && ari_length > IB_CM_REJ_ARI_LENGTH)
		return rdma_refuse(-EINVAL, "REJ: %u bytes of information, there is room for %u",
				   ari_length, IB_CM_REJ_ARI_LENGTH);
	guard(spinlock_irqsave)(&id->lock);
	ret = cm_call_rule(id, CM_IN_CALL_REJ, &rule);
	if (ret) {
		trace_icm_send_unknown_rej_err(cm_id);
		return ret;
	}
	msg.rej.reason = reason;
	msg.rej.info = ari;
	msg.rej.info_length = ari ? ari_length : 0;
	put_data(&msg, private_data, private_data_len);
	ret = cm_say(id, &rule, &msg);
	cm_follow(id, &rule, NULL);
	return ret;
}
EXPORT_SYMBOL(ib_send_cm_rej);

/**
 * ib_send_cm_dreq() - end a connection
 * @cm_id: id of a connection
 * @private_data: for the peer's event, or NULL
 * @private_data_len: bytes of it, up to IB_CM_DREQ_PRIVATE_DATA_SIZE
 *
 * The request is repeated until it is answered (IB_CM_DREP_RECEIVED) or no time is left
 * (IB_CM_DREQ_ERROR); IB_CM_TIMEWAIT_EXIT follows.
 *
 * Context: any.
 * Return: 0; -EINVAL for another state or too much data; else the connection has ended, though the
 * peer could not be told: -ENOMEM; -ENODEV when the device is gone; the MAD layer's error.
 */
int ib_send_cm_dreq(struct ib_cm_id *cm_id, const void *private_data, u8 private_data_len)
{
	struct cm_id *id = to_cm_id(cm_id);
	struct cm_msg msg = {};
	struct cm_rule rule;
	int ret = cm_check_data(private_data, private_data_len, CM_MSG_DREQ);

	if (ret)
		return ret;
	guard(spinlock_irqsave)(&id->lock);
	ret = cm_call_rule(id, CM_IN_CALL_DREQ, &rule);
	if (ret) {
		trace_icm_dreq_skipped(cm_id);
		return ret;
	}
	put_data(&msg, private_data, private_data_len);
	ret = cm_say(id, &rule, &msg);
	if (ret) {
		/* The peer gets one message, if possible, and this side does not wait. */
		cm_pending_cancel(id);
		cm_send_last(id, &msg);
		rule = cm_id_rule(id, CM_IN_DREQ_UNSENT);
	}
	cm_follow(id, &rule, NULL);
	return ret;
}
EXPORT_SYMBOL(ib_send_cm_dreq);

/**
 * ib_send_cm_drep() - agree that a connection ends
 * @cm_id: id that has received a DREQ
 * @private_data: for the peer's event, or NULL
 * @private_data_len: bytes of it, up to IB_CM_DREP_PRIVATE_DATA_SIZE
 *
 * IB_CM_TIMEWAIT_EXIT follows.
 *
 * Context: any.
 * Return: 0; -EINVAL for another state or too much data, -ENOMEM if there is no memory to keep the
 * data; else the connection has ended, though the peer could not be told: -ENODEV when the device
 * is gone; the MAD layer's error.
 */
int ib_send_cm_drep(struct ib_cm_id *cm_id, const void *private_data, u8 private_data_len)
{
	void *copy __free(kfree) = NULL;
	struct cm_id *id = to_cm_id(cm_id);
	struct cm_msg msg = {};
	struct cm_rule rule;
	int ret;

	copy = take_data(&msg, CM_MSG_DREP, private_data, private_data_len);
	if (IS_ERR(copy))
		return PTR_ERR(copy);
	guard(spinlock_irqsave)(&id->lock);
	ret = cm_call_rule(id, CM_IN_CALL_DREP, &rule);
	if (ret) {
		trace_icm_send_drep_err(cm_id);
		return ret;
	}
	ret = cm_say(id, &rule, &msg);
	cm_said_set(id, no_free_ptr(copy), private_data_len);
	cm_follow(id, &rule, NULL);
	return ret;
}
EXPORT_SYMBOL(ib_send_cm_drep);

/* The QP has received something, or has moved to its alternate path; no message says so. */
static int notify(struct cm_id *id, enum cm_input input, struct cm_event *event)
{
	struct cm_rule rule;
	int ret;

	guard(spinlock_irqsave)(&id->lock);
	ret = id->device->gone ? -ENODEV : cm_call_rule(id, input, &rule);
	if (ret) {
		if (input == CM_IN_CALL_ESTABLISHED)
			trace_icm_establish_err(&id->ib);
		cm_event_free(event);
		return ret;
	}
	cm_follow(id, &rule, event);
	return 0;
}

/**
 * ib_cm_notify() - tell the manager what has happened to a connection's QP
 * @cm_id: id of the connection
 * @event: IB_EVENT_COMM_EST: the peer sends, so that its RTU is not needed any more
 *	(IB_CM_USER_ESTABLISHED follows); IB_EVENT_PATH_MIG: the alternate path is in use
 *
 * Context: any.
 * Return: 0; -EISCONN if the manager knows of the connection already; -EINVAL for another state or
 * event; -ENOMEM; -ENODEV when the device is gone.
 */
int ib_cm_notify(struct ib_cm_id *cm_id, enum ib_event_type event)
{
	struct cm_id *id = to_cm_id(cm_id);
	struct cm_event *established;

	switch (event) {
	case IB_EVENT_COMM_EST:
		established = cm_event_new(id->device, GFP_ATOMIC);
		if (!established)
			return -ENOMEM;
		return notify(id, CM_IN_CALL_ESTABLISHED, established);
	case IB_EVENT_PATH_MIG:
		return notify(id, CM_IN_CALL_MIGRATED, NULL);
	default:
		return rdma_refuse(-EINVAL, "event %d says nothing of a connection", event);
	}
}
EXPORT_SYMBOL(ib_cm_notify);

/**
 * ibcm_reject_msg() - describe a reason of a REJ in words
 * @reason: the reason
 *
 * Context: any.
 * Return: a few words in English, for any number.
 */
const char *__attribute_const__ ibcm_reject_msg(int reason)
{
	return cm_rej_reason_name(reason);
}
EXPORT_SYMBOL(ibcm_reject_msg);

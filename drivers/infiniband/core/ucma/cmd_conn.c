// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands: connections.
 */
#include <rdma/ib_cm.h>
#include <rdma/ib_marshall.h>

#include "ucma.h"

/* Connection requests of a listening id that may be unread; the sysctl net.rdma_ucm.max_backlog. */
unsigned int ucma_max_backlog = 1024;

/* A program gives the Q_Key only with addresses of InfiniBand; with others it is ignored. */
static struct rdma_conn_param conn_param(const struct rdma_cm_id *cm,
					 const struct rdma_ucm_conn_param *req)
{
	return (struct rdma_conn_param) {
		.private_data = req->private_data,
		.private_data_len = req->private_data_len,
		.responder_resources = req->responder_resources,
		.initiator_depth = req->initiator_depth,
		.flow_control = req->flow_control,
		.retry_count = req->retry_count,
		.rnr_retry_count = req->rnr_retry_count,
		.srq = req->srq,
		.qp_num = req->qp_num & 0xffffff,
		.qkey = cm->route.addr.src_addr.ss_family == AF_IB ? req->qkey : 0,
	};
}

/* ---- CONNECT, ACCEPT, REJECT, DISCONNECT ---- */

/**
 * ucma_check_connect() - are there parameters?
 * @call: the request
 *
 * Return: 0 or -EINVAL.
 */
int ucma_check_connect(struct ucma_call *call)
{
	if (!call->req.connect.conn_param.valid)
		return rdma_refuse(-EINVAL, "conn_param is not valid");
	return 0;
}

/**
 * ucma_connect() - CONNECT
 * @call: the request; old programs give no ECE
 *
 * Return: 0; -ENOMEM; the connection manager's error.
 */
int ucma_connect(struct ucma_call *call)
{
	struct rdma_ucm_connect *req = &call->req.connect;
	struct rdma_conn_param param = conn_param(call->id->cm, &req->conn_param);
	int ret = ucma_reserve(call->id, UCMA_ANSWER, UCMA_CONNECT_EVENTS);

	if (ret)
		return ret;
	ret = ucma_cm->connect_ece(call->id->cm, &param, &req->ece);
	if (ret)
		ucma_unreserve(call->id, UCMA_ANSWER, UCMA_CONNECT_EVENTS);
	return ret;
}

/* Sets @uid before the first event after accepting, so that the program recognises its id. */
static int accept_with(struct ucma_id *id, struct rdma_ucm_accept *req,
		       struct rdma_conn_param *param)
{
	struct rdma_cm_id *cm = id->cm;
	int ret;

	ucma_cm->lock_handler(cm);
	ret = ucma_cm->accept_ece(cm, param, &req->ece);
	if (!ret && param) {
		id->uid = req->uid;
		id->named = true;
	}
	ucma_cm->unlock_handler(cm);
	return ret;
}

/**
 * ucma_accept() - ACCEPT: a connection request, or, without parameters, the answer to one
 * @call: the request; old programs give no ECE
 *
 * Return: 0; -ENOMEM; the connection manager's error.
 */
int ucma_accept(struct ucma_call *call)
{
	struct rdma_ucm_accept *req = &call->req.accept;
	struct rdma_conn_param param = conn_param(call->id->cm, &req->conn_param);
	int ret = ucma_reserve(call->id, UCMA_ANSWER, UCMA_ACCEPT_EVENTS);

	if (ret)
		return ret;
	ret = accept_with(call->id, req, req->conn_param.valid ? &param : NULL);
	if (ret)
		ucma_unreserve(call->id, UCMA_ANSWER, UCMA_ACCEPT_EVENTS);
	return ret;
}

/**
 * ucma_check_reject() - is the reason one that programs may give?
 * @call: the request
 *
 * Return: 0 or -EINVAL.
 */
int ucma_check_reject(struct ucma_call *call)
{
	struct rdma_ucm_reject *req = &call->req.reject;

	if (!req->reason)
		req->reason = IB_CM_REJ_CONSUMER_DEFINED;
	if (req->reason == IB_CM_REJ_CONSUMER_DEFINED ||
	    req->reason == IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED)
		return 0;
	return rdma_refuse(-EINVAL, "reason %u is neither %u nor %u", req->reason,
			   IB_CM_REJ_CONSUMER_DEFINED, IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED);
}

/**
 * ucma_reject() - REJECT
 * @call: the request
 *
 * Return: 0 or the connection manager's error.
 */
int ucma_reject(struct ucma_call *call)
{
	struct rdma_ucm_reject *req = &call->req.reject;

	return ucma_cm->reject(call->id->cm, req->private_data, req->private_data_len,
			       req->reason);
}

/**
 * ucma_disconnect() - DISCONNECT
 * @call: the request
 *
 * Return: 0 or the connection manager's error.
 */
int ucma_disconnect(struct ucma_call *call)
{
	return ucma_cm->disconnect(call->id->cm);
}

/* ---- LISTEN ---- */

/**
 * ucma_listen() - LISTEN
 * @call: the request; the backlog is at most net.rdma_ucm.max_backlog, which 0 stands for
 *
 * Return: 0 or the connection manager's error.
 */
int ucma_listen(struct ucma_call *call)
{
	unsigned int most = READ_ONCE(ucma_max_backlog);
	u32 backlog = call->req.listen.backlog;

	if (!backlog || backlog > most)
		backlog = most;
	scoped_guard(spinlock, &call->id->room_lock)
		call->id->backlog = backlog;
	return ucma_cm->listen(call->id->cm, backlog);
}

/* ---- INIT_QP_ATTR, NOTIFY ---- */

/**
 * ucma_check_init_qp_attr() - is the state one of QPs?
 * @call: the request
 *
 * Return: 0 or -EINVAL.
 */
int ucma_check_init_qp_attr(struct ucma_call *call)
{
	if (call->req.init_qp_attr.qp_state > IB_QPS_ERR)
		return rdma_refuse(-EINVAL, "qp_state %u > %u", call->req.init_qp_attr.qp_state,
				   IB_QPS_ERR);
	return 0;
}

/**
 * ucma_init_qp_attr() - INIT_QP_ATTR: what the id's QP needs for a state
 * @call: the request
 *
 * Return: 0 or the connection manager's error.
 */
int ucma_init_qp_attr(struct ucma_call *call)
{
	struct ib_qp_attr attr = { .qp_state = call->req.init_qp_attr.qp_state };
	struct ib_uverbs_qp_attr *resp = &call->resp.qp_attr;
	struct rdma_cm_id *cm = call->id->cm;
	int mask = 0, ret;

	ret = ucma_cm->init_qp_attr(cm, &attr, &mask);
	if (ret)
		return ret;
	ib_copy_qp_attr_to_user(cm->device, resp, &attr);
	resp->qp_attr_mask = mask;
	call->resp_len = sizeof(*resp);
	return 0;
}

/**
 * ucma_notify() - NOTIFY: an event of the QP that concerns its connection
 * @call: the request
 *
 * Return: 0 or the connection manager's error.
 */
int ucma_notify(struct ucma_call *call)
{
	return ucma_cm->notify(call->id->cm, call->req.notify.event);
}

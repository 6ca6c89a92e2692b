// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Datagram services: which QP of a peer has a service?
 */
#include <linux/cleanup.h>
#include <rdma/rdma_reject.h>

#include "cm.h"
#include "trace.h"

static void refuse(struct cm_port *port, const struct cm_msg *msg, struct ib_mad_recv_wc *wc)
{
	struct cm_msg answer = {
		.type = CM_MSG_SIDR_REP,
		.sidr_rep.service_id = msg->sidr_req.service_id,
		.sidr_rep.status = IB_SIDR_UNSUPPORTED,
	};

	cm_answer(port, wc, msg, &answer);
}

/* The id, with its listener and its way back; or NULL. */
static struct cm_id *make_id(struct cm_port *port, const struct cm_msg *msg,
			     struct ib_mad_recv_wc *wc, const struct cm_id *listener)
{
	struct cm_id *id = cm_id_new(port->device, listener->ib.cm_handler, listener->ib.context);
	struct cm_routes routes = {};
	int ret;

	if (IS_ERR(id))
		return NULL;
	id->ib.service_id = cpu_to_be64(msg->sidr_req.service_id);
	id->ib.remote_id = cpu_to_be32(msg->local_id);
	id->tid = msg->tid;
	routes.primary = cm_route_back(port, wc);
	ret = PTR_ERR_OR_ZERO(routes.primary);
	if (!ret)
		ret = cm_routes_add_spare(&routes);
	if (!ret) {
		scoped_guard(spinlock_irqsave, &id->lock)
			ret = cm_routes_take(id, &routes);
	}
	cm_routes_free(&routes);
	if (!ret)
		return id;
	cm_id_drop(id);
	return NULL;
}

static void write_event(struct cm_event *event, struct cm_id *id, struct cm_id *listener,
			struct cm_port *port, const struct cm_msg *msg, struct ib_mad_recv_wc *wc)
{
	event->wc = wc;
	event->listener = listener;
	event->route = cm_route_get(id->route);
	event->ib.private_data = (void *)msg->private_data;
	event->ib.param.sidr_req_rcvd = (struct ib_cm_sidr_req_event_param) {
		.listen_id = &listener->ib,
		.service_id = id->ib.service_id,
		.sgid_attr = id->route->attr.grh.sgid_attr,
		.bth_pkey = cm_bth_pkey(port, wc),
		.port = port->num,
		.pkey = msg->sidr_req.pkey,
	};
}

/* Returns true if the datagram and the listener belong to an event now. */
static bool ask(struct cm_port *port, const struct cm_msg *msg, struct ib_mad_recv_wc *wc,
		struct cm_id *listener)
{
	struct cm_event *event = cm_event_new(port->device, GFP_KERNEL);
	struct cm_id *id = event ? make_id(port, msg, wc, listener) : NULL;
	int ret;

	if (!id) {
		cm_event_free(event);
		return false;
	}
	ret = cm_sidr_enter(id, msg, wc);
	if (ret == -EEXIST)
		cm_count(port, CM_COUNT_DUPLICATES, CM_MSG_SIDR_REQ, 1);
	if (!ret) {
		write_event(event, id, listener, port, msg, wc);
		refcount_inc(&id->refs);
		scoped_guard(spinlock_irqsave, &id->lock) {
			ret = cm_id_publish(id);
			if (!ret)
				cm_happens(id, CM_IN_SIDR_REQ, event);
		}
		cm_id_put(id);
		if (!ret)
			return true;
		event->wc = NULL;
		event->listener = NULL;
	}
	cm_event_free(event);
	cm_id_drop(id);
	return false;
}

/**
 * cm_recv_sidr_req() - handle a request for the QP of a service
 * @port: where that has arrived
 * @msg: its contents
 * @wc: the datagram, which is freed, now or with the event
 */
void cm_recv_sidr_req(struct cm_port *port, const struct cm_msg *msg, struct ib_mad_recv_wc *wc)
{
	const struct cm_ask question = {
		.port = port, .service_id = cpu_to_be64(msg->sidr_req.service_id),
		.data = msg->private_data, .len = msg->private_data_len,
		.pkey = msg->sidr_req.pkey, .path_bits = wc->wc->dlid_path_bits,
	};
	struct cm_id *listener = cm_listen_find(&question);

	if (!listener) {
		refuse(port, msg, wc);
	} else {
		if (ask(port, msg, wc, listener))
			return;
		cm_id_put(listener);
	}
	port->device->mad->free_recv(wc);
}

/**
 * ib_send_cm_sidr_req() - ask for the QP of a service
 * @cm_id: id that does nothing yet
 * @param: the peer and the question; timeout_ms is how long an answer is waited for, in
 *	milliseconds, max_cm_retries how often it is asked for again
 *
 * The answer is IB_CM_SIDR_REP_RECEIVED; without one the event is IB_CM_SIDR_REQ_ERROR.
 *
 * Context: may sleep.
 * Return: as ib_send_cm_req().
 */
int ib_send_cm_sidr_req(struct ib_cm_id *cm_id, struct ib_cm_sidr_req_param *param)
{
	struct cm_id *id = to_cm_id(cm_id);
	struct cm_routes routes;
	struct cm_msg msg = {};
	struct cm_rule rule;
	int ret;

	if (!param->path)
		return rdma_refuse(-EINVAL, "SIDR_REQ: no path");
	ret = cm_check_data(param->private_data, param->private_data_len, CM_MSG_SIDR_REQ);
	if (ret)
		return ret;
	if (READ_ONCE(id->device->gone))
		return -ENODEV;
	ret = cm_routes_make(id->device, param->path, param->sgid_attr, cm_id->remote_cm_qpn, NULL,
			     &routes);
	if (ret)
		return ret;
	scoped_guard(spinlock_irqsave, &id->lock) {
		ret = cm_call_rule(id, CM_IN_CALL_SIDR_REQ, &rule);
		if (!ret)
			ret = cm_routes_take(id, &routes);
		if (ret)
			break;
		id->ib.service_id = param->service_id;
		id->ib.remote_id = 0;
		id->timeout_ms = min_t(unsigned long, param->timeout_ms, INT_MAX);
		id->max_retries = param->max_cm_retries;
		id->tid = cm_new_tid(id);
		msg.private_data = param->private_data;
		msg.private_data_len = param->private_data ? param->private_data_len : 0;
		msg.sidr_req.service_id = be64_to_cpu(param->service_id);
		msg.sidr_req.pkey = be16_to_cpu(param->path->pkey);
		ret = cm_say(id, &rule, &msg);
		if (!ret)
			cm_follow(id, &rule, NULL);
	}
	cm_routes_free(&routes);
	return ret;
}
EXPORT_SYMBOL(ib_send_cm_sidr_req);

/**
 * ib_send_cm_sidr_rep() - say which QP has the service
 * @cm_id: id of a question (IB_CM_SIDR_REQ_RECEIVED)
 * @param: the answer
 *
 * Context: any.
 * Return: 0; -EINVAL for another state or too much data; else the question is still there: -ENODEV
 * when the device is gone; the MAD layer's error.
 */
int ib_send_cm_sidr_rep(struct ib_cm_id *cm_id, struct ib_cm_sidr_rep_param *param)
{
	struct cm_id *id = to_cm_id(cm_id);
	struct cm_msg msg = {
		.attr_mod = param->ece.attr_mod,
		.private_data = param->private_data,
		.private_data_len = param->private_data ? param->private_data_len : 0,
		.sidr_rep.status = param->status,
		.sidr_rep.qpn = param->qp_num & 0xffffff,
		.sidr_rep.qkey = param->qkey,
		.sidr_rep.vendor_id = param->ece.vendor_id & 0xffffff,
		.sidr_rep.info = param->info,
		.sidr_rep.info_length = param->info ? param->info_length : 0,
	};
	struct cm_rule rule;
	int ret = cm_check_data(param->private_data, param->private_data_len, CM_MSG_SIDR_REP);

	if (ret)
		return ret;
	if (param->info && param->info_length > IB_CM_SIDR_REP_INFO_LENGTH)
		return rdma_refuse(-EINVAL,
				   "SIDR_REP: %u bytes of information, there is room for %u",
				   param->info_length, IB_CM_SIDR_REP_INFO_LENGTH);
	guard(spinlock_irqsave)(&id->lock);
	ret = cm_call_rule(id, CM_IN_CALL_SIDR_REP, &rule);
	/* A rule has a status for the end of an id; the consumer says its own, 0 too. */
	rule.code = param->status;
	if (!ret)
		ret = cm_say(id, &rule, &msg);
	if (ret)
		return ret;
	cm_sidr_forget(id);
	cm_follow(id, &rule, NULL);
	return 0;
}
EXPORT_SYMBOL(ib_send_cm_sidr_rep);

/* ---- services that are elsewhere ---- */

/**
 * ib_send_cm_sidr_redirect() - say where to ask for the service
 * @cm_id: id of a question (IB_CM_SIDR_REQ_RECEIVED)
 * @where: where to ask; only the redirect part is used
 * @private_data: for the peer's event, or NULL
 * @private_data_len: bytes of it, up to IB_CM_SIDR_REP_PRIVATE_DATA_SIZE
 *
 * Context: any.
 * Return: as ib_send_cm_sidr_rep().
 */
int ib_send_cm_sidr_redirect(struct ib_cm_id *cm_id, const struct ib_class_port_info *where,
			     const void *private_data, u8 private_data_len)
{
	struct ib_cm_sidr_rep_param param = {
		.status = IB_SIDR_REDIRECT,
		.info = where,
		.info_length = sizeof(*where),
		.private_data = private_data,
		.private_data_len = private_data_len,
	};

	static_assert(sizeof(*where) == IB_CM_SIDR_REP_INFO_LENGTH);
	return ib_send_cm_sidr_rep(cm_id, &param);
}
EXPORT_SYMBOL(ib_send_cm_sidr_redirect);

/* Changes the path to the peer that has answered to lead where the answer redirects. */
static int redirect(struct sa_path_rec *path, const struct ib_class_port_info *where)
{
	u32 labels = be32_to_cpu(where->redirect_tcslfl);

	if (sa_path_is_roce(path) || !where->redirect_lid)
		return rdma_refuse(-EHOSTUNREACH, "SIDR_REP: it redirects to no LID");
	if (be32_to_cpu(where->redirect_qkey) != IB_QP1_QKEY)
		return rdma_refuse(-EHOSTUNREACH, "SIDR_REP: it redirects to Q_Key %#x",
				   be32_to_cpu(where->redirect_qkey));
	memcpy(&path->dgid, where->redirect_gid, sizeof(path->dgid));
	sa_path_set_dlid(path, be16_to_cpu(where->redirect_lid));
	path->pkey = where->redirect_pkey;
	path->traffic_class = labels >> 24;
	path->sl = labels >> 20 & 0xf;
	path->flow_label = cpu_to_be32(labels & 0xfffff);
	return 0;
}

/**
 * ib_cm_sidr_follow() - ask where an answer says
 * @cm_id: id of the question, which has been answered
 * @event: the answer: IB_CM_SIDR_REP_RECEIVED with the status IB_SIDR_REDIRECT
 * @param: the question. Of its path what the answer does not name counts.
 *
 * How often one is sent on is for the caller to limit.
 *
 * Context: the id's handler, or wherever @event still is; may sleep.
 * Return: as ib_send_cm_sidr_req(); -EINVAL also for another answer; -EHOSTUNREACH if it names no
 * LID, or another Q_Key than that of managers.
 */
int ib_cm_sidr_follow(struct ib_cm_id *cm_id, const struct ib_cm_event *event,
		      const struct ib_cm_sidr_req_param *param)
{
	const struct ib_cm_sidr_rep_event_param *rep = &event->param.sidr_rep_rcvd;
	const struct ib_class_port_info *where = rep->info;
	struct ib_cm_sidr_req_param again = *param;
	struct sa_path_rec path;
	int ret;

	if (event->event != IB_CM_SIDR_REP_RECEIVED || rep->status != IB_SIDR_REDIRECT ||
	    rep->info_len < offsetof(struct ib_class_port_info, trap_gid))
		return rdma_refuse(-EINVAL, "SIDR_REQ: the answer redirects nowhere");
	if (!param->path)
		return rdma_refuse(-EINVAL, "SIDR_REQ: no path");
	path = *param->path;
	ret = redirect(&path, where);
	if (ret)
		return ret;
	again.path = &path;
	cm_id->remote_cm_qpn = be32_to_cpu(where->redirect_qp) & 0xffffff;
	return ib_send_cm_sidr_req(cm_id, &again);
}
EXPORT_SYMBOL(ib_cm_sidr_follow);

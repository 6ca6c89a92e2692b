// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Messages that have arrived: whose they are, what they change, and which event they make.
 */
#include <linux/cleanup.h>
#include <linux/unaligned.h>

#include "cm.h"
#include "timing.h"
#include "trace.h"

/* The sender of a REJ for a time-out may not know this id, and names its own adapter. */
static u32 rejected_id(const struct cm_msg *msg)
{
	if (msg->rej.reason == IB_CM_REJ_TIMEOUT && !msg->remote_id)
		return cm_remote_find(get_unaligned_be64(msg->rej.info), msg->local_id);
	return msg->remote_id;
}

/*
 * The id that a message is for; a peer that is known must be its sender. The first answers to a REQ
 * tell the peer's id, and a REJ may come from one that has none.
 */
static struct cm_id *find(const struct cm_msg *msg)
{
	struct cm_id *id = cm_id_find(msg->type == CM_MSG_REJ ? rejected_id(msg) : msg->remote_id);
	u32 remote_id;

	if (!id)
		return NULL;
	scoped_guard(spinlock_irqsave, &id->lock)
		remote_id = be32_to_cpu(id->ib.remote_id);
	if (msg->type == CM_MSG_SIDR_REP || !remote_id || remote_id == msg->local_id ||
	    (msg->type == CM_MSG_REJ && msg->rej.about == CM_ABOUT_REQ && !msg->local_id))
		return id;
	cm_id_put(id);
	return NULL;
}

/* ---- what an event says ---- */

static void write_event(struct cm_event *event, const struct cm_id *id, const struct cm_msg *msg)
{
	struct ib_cm_event *ib = &event->ib;

	ib->private_data = (void *)msg->private_data;
	switch (msg->type) {
	case CM_MSG_REP:
		ib->param.rep_rcvd = (struct ib_cm_rep_event_param) {
			.remote_ca_guid = cpu_to_be64(msg->rep.ca_guid),
			.remote_qkey = msg->rep.qkey,
			.remote_qpn = cm_rep_qpn(&msg->rep, id->qp_type),
			.starting_psn = msg->rep.starting_psn,
			.responder_resources = msg->rep.initiator_depth,
			.initiator_depth = msg->rep.responder_resources,
			.target_ack_delay = msg->rep.target_ack_delay,
			.failover_accepted = msg->rep.failover_accepted,
			.flow_control = msg->rep.flow_control,
			.rnr_retry_count = msg->rep.rnr_retry_count,
			.srq = msg->rep.srq,
			.ece.vendor_id = msg->rep.vendor_id,
			.ece.attr_mod = msg->attr_mod,
		};
		break;
	case CM_MSG_REJ:
		ib->param.rej_rcvd.reason = msg->rej.reason;
		ib->param.rej_rcvd.ari = (void *)msg->rej.info;
		ib->param.rej_rcvd.ari_length = msg->rej.info_length;
		break;
	case CM_MSG_MRA:
		ib->param.mra_rcvd.service_timeout = msg->mra.service_timeout;
		break;
	case CM_MSG_APR:
		ib->param.apr_rcvd.ap_status = msg->apr.status;
		ib->param.apr_rcvd.apr_info = (void *)msg->apr.info;
		ib->param.apr_rcvd.info_len = msg->apr.info_length;
		break;
	case CM_MSG_SIDR_REP:
		ib->param.sidr_rep_rcvd = (struct ib_cm_sidr_rep_event_param) {
			.status = msg->sidr_rep.status,
			.qkey = msg->sidr_rep.qkey,
			.qpn = msg->sidr_rep.qpn,
			.info = (void *)msg->sidr_rep.info,
			.info_len = msg->sidr_rep.info_length,
		};
		if (!id->route)
			break;
		event->route = cm_route_get(id->route);
		ib->param.sidr_rep_rcvd.sgid_attr = id->route->attr.grh.sgid_attr;
		break;
	default:
		break;
	}
}

/* ---- what they change ---- */

/* Is the peer free? If another id has it, @other takes which. */
static bool bind(struct cm_id *id, const struct cm_msg *msg, enum cm_input *input, u32 *other)
{
	u32 qpn = cm_rep_qpn(&msg->rep, id->qp_type);

	switch (cm_remote_bind(id->remote, msg->rep.ca_guid, msg->local_id, qpn, other)) {
	case CM_BOUND:
		return true;
	case CM_BIND_SAME_QP:
		trace_icm_staleconn_err(msg->local_id, msg->remote_id);
		*input = CM_IN_REP_STALE;
		return true;
	default:
		trace_icm_insert_failed_err(msg->remote_id);
		*other = 0;
		return false;
	}
}

static void take_rep(struct cm_id *id, const struct cm_msg *msg)
{
	const struct cm_rep *rep = &msg->rep;

	id->ib.remote_id = cpu_to_be32(msg->local_id);
	id->remote_guid = rep->ca_guid;
	id->remote_qpn = cm_rep_qpn(rep, id->qp_type);
	id->initiator_depth = rep->responder_resources;
	id->responder_resources = rep->initiator_depth;
	id->sq_psn = rep->starting_psn;
	id->rnr_retry_count = rep->rnr_retry_count;
	id->ack_timeout = cm_ack_timeout(rep->target_ack_delay, id->ack_timeout - 1);
	if (id->alt)
		id->alt_ack_timeout = cm_ack_timeout(rep->target_ack_delay,
						     id->alt_ack_timeout - 1);
}

/* Waits for what an MRA announces. False if it is too late. */
static bool extend(struct cm_id *id, const struct cm_msg *msg)
{
	u32 ms = cm_mra_ms(msg->mra.service_timeout, id->ack_timeout);

	return id->pending && !id->device->mad->modify(id->pending, min_t(u32, ms, INT_MAX));
}

/* Returns false if the message is not for the connection that the id has. */
static bool take(struct cm_id *id, const struct cm_msg *msg, const struct cm_rule *rule)
{
	switch (msg->type) {
	case CM_MSG_REP:
		if (rule->todo & CM_DO_BIND)
			take_rep(id, msg);
		return true;
	case CM_MSG_DREQ:
		if (msg->dreq.remote_qpn != id->local_qpn)
			return false;
		id->tid = msg->tid;
		return true;
	case CM_MSG_MRA:
		return !(rule->todo & CM_DO_EXTEND) || extend(id, msg);
	default:
		return true;
	}
}

static void trace_refused(const struct cm_id *id, const struct cm_msg *msg)
{
	switch (msg->type) {
	case CM_MSG_REP:
		trace_icm_rep_unknown_err(msg->local_id, msg->remote_id, id->ib.state);
		break;
	case CM_MSG_DREQ:
		trace_icm_dreq_unknown_err(&id->ib);
		break;
	case CM_MSG_REJ:
		trace_icm_rej_unknown_err(&id->ib);
		break;
	case CM_MSG_MRA:
		trace_icm_mra_unknown_err(&id->ib);
		break;
	default:
		break;
	}
}

/* An id of ib_send_cm_req_peer() goes on if its peer has no id for the service yet. */
static enum cm_input input_of(const struct cm_id *id, const struct cm_msg *msg)
{
	if (id->peer && msg->type == CM_MSG_REJ && msg->rej.about == CM_ABOUT_REQ &&
	    msg->rej.reason == IB_CM_REJ_INVALID_SERVICE_ID)
		return CM_IN_REJ_PEER_EARLY;
	return cm_proto_input(msg);
}

/*
 * The id's lock is held. Takes the event over if it is needed. If another id has the QP that the
 * message names, @other takes its number.
 */
static void process(struct cm_port *port, struct cm_id *id, const struct cm_msg *msg,
		    struct cm_event **event, u32 *other)
{
	enum cm_input input = input_of(id, msg);
	struct cm_rule rule = cm_id_rule(id, input);
	struct cm_msg answer = {};

	if (rule.verdict == CM_PROCEED && rule.todo & CM_DO_BIND) {
		if (!id->remote || !bind(id, msg, &input, other))
			return;
		rule = cm_id_rule(id, input);
	}
	if (rule.verdict == CM_DUPLICATE) {
		if (msg->type == CM_MSG_DREQ && msg->dreq.remote_qpn != id->local_qpn)
			return;
		cm_count(port, CM_COUNT_DUPLICATES, msg->type, 1);
		cm_repeat(id, &rule, msg);
		return;
	}
	if (rule.verdict == CM_REFUSE || !take(id, msg, &rule)) {
		trace_refused(id, msg);
		return;
	}
	/* A REJ of a REP is for its sender, which is no peer of the id. */
	answer.remote_id = msg->local_id;
	cm_say(id, &rule, &answer);
	if (rule.event != CM_NO_EVENT)
		write_event(*event, id, msg);
	cm_follow(id, &rule, *event);
	*event = NULL;
}

/* The QP that an id is connected to has been named by another peer. */
static void reused(u32 number)
{
	struct cm_id *id = cm_id_find(number);

	if (!id)
		return;
	scoped_guard(spinlock_irqsave, &id->lock)
		cm_happens(id, CM_IN_QP_REUSED, NULL);
	cm_id_put(id);
}

/* Messages for an id that is there. Without memory it is as if they had been lost. */
static void recv_known(struct cm_port *port, const struct cm_msg *msg, struct ib_mad_recv_wc *wc)
{
	struct cm_id *id = find(msg);
	struct cm_event *event;
	u32 other = 0;

	if (!id) {
		cm_recv_orphan(port, msg, wc);
		goto free;
	}
	event = cm_event_new(id->device, GFP_KERNEL);
	if (!event)
		goto put;
	event->wc = wc;
	scoped_guard(spinlock_irqsave, &id->lock)
		process(port, id, msg, &event, &other);
	cm_event_free(event);
	if (other)
		reused(other);
	cm_id_put(id);
	return;

put:
	cm_id_put(id);
free:
	port->device->mad->free_recv(wc);
}

/**
 * cm_recv_needs_route() - will a message be answered by a route that has to be made for it?
 * @msg: the message
 *
 * Return: false if an id has the route already, or there is no answer.
 */
bool cm_recv_needs_route(const struct cm_msg *msg)
{
	struct cm_id *id;

	if (msg->type == CM_MSG_REQ || msg->type == CM_MSG_SIDR_REQ)
		return true;
	if (cm_proto_orphan(msg->type).send == CM_SEND_NOTHING)
		return false;
	id = find(msg);
	if (id)
		cm_id_put(id);
	return !id;
}

/**
 * cm_recv() - handle a message
 * @port: where it has arrived
 * @msg: its contents
 * @wc: the datagram, which is freed, now or later
 *
 * Context: may sleep, and waits for the sender's link address if that is not known.
 */
void cm_recv(struct cm_port *port, const struct cm_msg *msg, struct ib_mad_recv_wc *wc)
{
	switch (msg->type) {
	case CM_MSG_REQ:
		cm_recv_req(port, msg, wc);
		break;
	case CM_MSG_SIDR_REQ:
		cm_recv_sidr_req(port, msg, wc);
		break;
	case CM_MSG_LAP:
		cm_recv_lap(port, msg, wc);
		break;
	default:
		recv_known(port, msg, wc);
		break;
	}
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the protocol's rules say is done here.
 */
#include <linux/cleanup.h>
#include <linux/slab.h>
#include <rdma/rdma_reject.h>

#include "cm.h"
#include "trace.h"

/**
 * cm_id_rule() - find the rule for an input to an id
 * @id: id, with its lock held
 * @input: the input
 *
 * Return: the rule.
 */
struct cm_rule cm_id_rule(const struct cm_id *id, enum cm_input input)
{
	lockdep_assert_held(&id->lock);
	return cm_proto_rule(id->ib.state, id->ib.lap_state, input);
}

/**
 * cm_call_rule() - may the consumer make this call?
 * @id: id, with its lock held
 * @input: the call
 * @rule: receives what is to be done
 *
 * Return: 0, or the call's error.
 */
int cm_call_rule(const struct cm_id *id, enum cm_input input, struct cm_rule *rule)
{
	*rule = cm_id_rule(id, input);
	if (rule->verdict == CM_PROCEED)
		return 0;
	return rdma_refuse(rule->error ?: -EINVAL, "%s: the id's state is %s",
			   cm_input_name(input), cm_state_name(id->ib.state));
}

/*
 * The alternate path becomes the path; it is the alternate path still.  Its datagram comes with it,
 * so that the last message does not leave by a path that is dead.
 */
static void migrate(struct cm_id *id)
{
	struct cm_route *old = id->route;

	if (!id->alt)
		return;
	id->route = cm_route_get(id->alt);
	id->ack_timeout = id->alt_ack_timeout;
	cm_route_put_later(old);
	if (!id->alt_spare)
		return;
	if (id->spare)
		cm_buf_free(id->spare);
	id->spare = id->alt_spare;
	id->alt_spare = NULL;
}

/**
 * cm_follow() - carry out a rule, but for its message
 * @id: id, with its lock held
 * @rule: the rule
 * @event: the event for the consumer, if the rule wants one; NULL if there can be none. It is the
 *	id's, or gone, afterwards.
 */
void cm_follow(struct cm_id *id, const struct cm_rule *rule, struct cm_event *event)
{
	lockdep_assert_held(&id->lock);
	/* A message that is waited for has replaced the one before it already. */
	if (rule->todo & CM_DO_CANCEL && !(rule->todo & CM_DO_AWAIT))
		cm_pending_cancel(id);
	if (rule->todo & CM_DO_UNBIND)
		cm_remote_unbind(id->remote);
	if (rule->todo & CM_DO_TIMEWAIT)
		cm_timewait_begin(id);
	if (rule->todo & CM_DO_MIGRATE)
		migrate(id);
	if (id->calls && rule->next != IB_CM_REQ_SENT && rule->next != IB_CM_MRA_REQ_RCVD)
		cm_caller_end(id);
	id->ib.state = rule->next;
	id->ib.lap_state = rule->next_lap;
	if (!event)
		return;
	if (rule->event == CM_NO_EVENT) {
		cm_event_free(event);
		return;
	}
	event->ib.event = rule->event;
	cm_event_queue(id, event);
}

/* Fills in the fields of a message that the rule and the id determine. */
static void fill(struct cm_id *id, const struct cm_rule *rule, struct cm_msg *msg, __be64 *guid)
{
	msg->type = rule->send;
	switch (msg->type) {
	case CM_MSG_REJ:
		msg->rej.about = rule->about;
		if (!msg->rej.reason)
			msg->rej.reason = rule->code;
		if (msg->rej.reason != IB_CM_REJ_TIMEOUT || msg->rej.info_length)
			break;
		/* The peer's id is unknown, so the peer finds this one by the adapter. */
		*guid = id->device->ib->node_guid;
		msg->rej.info = (const u8 *)guid;
		msg->rej.info_length = sizeof(*guid);
		break;
	case CM_MSG_DREQ:
		msg->tid = id->route ? cm_new_tid(id) : 0;
		msg->dreq.remote_qpn = id->remote_qpn;
		break;
	case CM_MSG_SIDR_REP:
		msg->sidr_rep.service_id = be64_to_cpu(id->ib.service_id);
		if (!msg->sidr_rep.status)
			msg->sidr_rep.status = rule->code;
		break;
	default:
		break;
	}
}

/**
 * cm_say() - send a rule's message
 * @id: id, with its lock held
 * @rule: the rule
 * @msg: further fields from the caller
 *
 * Return: 0, also if the rule has none; or an error.
 */
int cm_say(struct cm_id *id, const struct cm_rule *rule, struct cm_msg *msg)
{
	__be64 guid;

	if (rule->send == CM_SEND_NOTHING)
		return 0;
	/* The device's GUID is as much out of reach then as the peer. */
	if (!id->route)
		return -ENODEV;
	fill(id, rule, msg, &guid);
	/* The peer may connect its QP again, or another of that number, as soon as it has this. */
	if (rule->todo & (CM_DO_UNBIND | CM_DO_TIMEWAIT))
		cm_remote_free_qp(id->remote);
	if (rule->todo & CM_DO_AWAIT)
		return cm_send_awaited(id, msg);
	switch (msg->type) {
	case CM_MSG_REJ:
	case CM_MSG_DREQ:
	case CM_MSG_DREP:
	case CM_MSG_SIDR_REP:
		return cm_send_last(id, msg);
	default:
		return cm_send(id, msg);
	}
}

/**
 * cm_repeat() - answer a message that came before as it was answered then
 * @id: id, with its lock held
 * @rule: the rule, with what to send
 * @to: the message
 */
void cm_repeat(struct cm_id *id, const struct cm_rule *rule, const struct cm_msg *to)
{
	struct cm_msg msg = { .tid = to->tid, .remote_id = to->local_id };
	int ret;

	if (rule->send == CM_SEND_NOTHING || !id->route)
		return;
	if (rule->todo & CM_DO_REPEAT) {
		msg.private_data = id->said.data;
		msg.private_data_len = id->said.len;
	}
	if (rule->send == CM_MSG_MRA) {
		msg.mra.about = rule->about;
		msg.mra.service_timeout = id->said.service_timeout;
	} else if (rule->send == CM_MSG_APR) {
		msg.apr.status = rule->code;
	}
	cm_trace_repeat(&id->ib, rule->send);
	/* A REP is under way already, with much that only the consumer knew. */
	ret = rule->send == CM_MSG_REP ? cm_send_again(id) : cm_say(id, rule, &msg);
	if (!ret)
		cm_count(id->route->port, CM_COUNT_RETRIES, rule->send, 1);
}

/**
 * cm_happens() - something happens to an id that is no call and no message for it
 * @id: id, with its lock held
 * @input: what
 * @event: for the consumer if the rule says so; NULL if it never does
 */
void cm_happens(struct cm_id *id, enum cm_input input, struct cm_event *event)
{
	struct cm_rule rule = cm_id_rule(id, input);
	struct cm_msg msg = {};

	if (rule.verdict != CM_PROCEED) {
		cm_event_free(event);
		return;
	}
	if (cm_say(id, &rule, &msg) && rule.send == CM_MSG_DREQ)
		/* There is no memory for the DREQ: this side ends the connection alone. */
		rule = cm_id_rule(id, CM_IN_DREQ_UNSENT);
	cm_follow(id, &rule, event);
}

/**
 * cm_said_set() - remember private data for duplicates
 * @id: id, with its lock held
 * @data: memory that is the id's from now on, or NULL
 * @len: bytes of it
 */
void cm_said_set(struct cm_id *id, void *data, u8 len)
{
	kfree(id->said.data);
	id->said.data = data;
	id->said.len = data ? len : 0;
}

/**
 * cm_recv_orphan() - answer a message for an id that is not there
 * @port: where it has arrived
 * @msg: its contents
 * @wc: the datagram
 */
void cm_recv_orphan(struct cm_port *port, const struct cm_msg *msg, struct ib_mad_recv_wc *wc)
{
	struct cm_rule rule = cm_proto_orphan(msg->type);
	struct cm_msg answer = { .type = rule.send };

	if (msg->type == CM_MSG_DREQ)
		cm_count(port, CM_COUNT_DUPLICATES, CM_MSG_DREQ, 1);
	if (msg->type == CM_MSG_REP)
		trace_icm_remote_no_priv_err(msg->remote_id);
	else
		trace_icm_no_priv_err(msg->local_id, msg->remote_id);
	if (rule.send == CM_SEND_NOTHING)
		return;
	if (rule.send == CM_MSG_REJ) {
		answer.rej.about = rule.about;
		answer.rej.reason = rule.code;
	} else if (rule.send == CM_MSG_APR) {
		answer.apr.status = rule.code;
	}
	cm_answer(port, wc, msg, &answer);
}

/**
 * cm_check_data() - does private data fit into a message?
 * @data: the data, or NULL
 * @len: bytes of it
 * @type: the message
 *
 * Return: 0 or -EINVAL.
 */
int cm_check_data(const void *data, u8 len, enum cm_msg_type type)
{
	if (!data || len <= cm_msg_private_data_size(type))
		return 0;
	return rdma_refuse(-EINVAL, "%s: %u bytes of private data, there is room for %u",
			   cm_msg_name(type), len, cm_msg_private_data_size(type));
}

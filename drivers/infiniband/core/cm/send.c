// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Messages on their way out: those of an id, with or without an answer that is waited for, and
 * answers to messages that are no id's.
 */
#include <linux/cleanup.h>

#include "cm.h"
#include "trace.h"

/**
 * cm_buf_new() - make a datagram
 * @route: where it goes
 * @gfp: how memory may be allocated
 *
 * Return: the datagram, with a reference of @route, for cm_buf_post() or cm_buf_free(); -ENOMEM.
 */
struct ib_mad_send_buf *cm_buf_new(struct cm_route *route, gfp_t gfp)
{
	struct cm_port *port = route->port;
	struct ib_mad_send_buf *buf;

	buf = port->device->mad->create(port->agent, route->remote_qpn, route->pkey_index, 0,
					IB_MGMT_MAD_HDR, IB_MGMT_MAD_DATA, gfp,
					IB_MGMT_BASE_VERSION);
	if (IS_ERR(buf))
		return buf;
	buf->ah = route->ah;
	buf->context[0] = cm_route_get(route);
	buf->context[1] = NULL;
	return buf;
}

/**
 * cm_buf_free() - free a datagram
 * @buf: datagram that is not on its way
 *
 * Context: any.
 */
void cm_buf_free(struct ib_mad_send_buf *buf)
{
	struct cm_route *route = buf->context[0];
	struct cm_event *failure = buf->context[1];

	route->port->device->mad->free(buf);
	cm_event_free(failure);
	cm_route_put_later(route);
}

/**
 * cm_buf_post() - send a datagram
 * @buf: datagram
 * @msg: its contents
 *
 * Context: any.
 * Return: 0: cm_sent() frees it; else the codec's or the MAD layer's error, and it is the caller's.
 */
int cm_buf_post(struct ib_mad_send_buf *buf, const struct cm_msg *msg)
{
	struct cm_route *route = buf->context[0];
	int ret = cm_msg_pack(msg, buf->mad);

	return ret ?: route->port->device->mad->post(buf, NULL);
}

/**
 * cm_new_tid() - transaction for a request of an id
 * @id: id with a route
 *
 * Return: the transaction id in host order.
 */
u64 cm_new_tid(const struct cm_id *id)
{
	return (u64)id->route->port->agent->hi_tid << 32 | id->local_id;
}

static void address(const struct cm_id *id, struct cm_msg *msg)
{
	msg->local_id = id->local_id;
	if (!msg->remote_id)
		msg->remote_id = be32_to_cpu(id->ib.remote_id);
	if (!msg->tid)
		msg->tid = id->tid;
	cm_trace_send(&id->ib, msg);
}

/* A datagram for the peer of an id whose lock the caller holds. */
static struct ib_mad_send_buf *buf_of(struct cm_id *id)
{
	lockdep_assert_held(&id->lock);
	return id->route ? cm_buf_new(id->route, GFP_ATOMIC) : ERR_PTR(-ENODEV);
}

/**
 * cm_send() - send a message that nothing is waited for after
 * @id: id
 * @msg: the message; ids are filled in, and peer and transaction are those of @id if it has none
 *
 * Context: the id's lock is held.
 * Return: 0; -ENODEV when the device is gone; -ENOMEM; the MAD layer's error.
 */
int cm_send(struct cm_id *id, struct cm_msg *msg)
{
	struct ib_mad_send_buf *buf;
	int ret;

	buf = buf_of(id);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	address(id, msg);
	ret = cm_buf_post(buf, msg);
	if (ret)
		cm_buf_free(buf);
	return ret;
}

/**
 * cm_send_last() - send a message that says the end, if only it can be done
 * @id: id
 * @msg: as for cm_send()
 *
 * Context: the id's lock is held.
 * Return: 0; -ENODEV when the device is gone; the MAD layer's error.
 */
int cm_send_last(struct cm_id *id, struct cm_msg *msg)
{
	int ret = cm_send(id, msg);
	struct ib_mad_send_buf *buf = id->spare;

	if (ret != -ENOMEM || !buf)
		return ret;
	id->spare = NULL;
	/* cm_send() had no datagram to write the ids into. */
	address(id, msg);
	ret = cm_buf_post(buf, msg);
	if (ret)
		cm_buf_free(buf);
	return ret;
}

/**
 * cm_send_again() - send the message that waits for an answer once more, now
 * @id: id
 *
 * Context: the id's lock is held.
 * Return: 0; -EINVAL if there is none; else as cm_send().
 */
int cm_send_again(struct cm_id *id)
{
	struct ib_mad_send_buf *buf;
	int ret;

	lockdep_assert_held(&id->lock);
	if (!id->route)
		return -ENODEV;
	if (!id->pending)
		return -EINVAL;
	buf = cm_buf_new(id->route, GFP_ATOMIC);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	memcpy(buf->mad, id->pending->mad, CM_MAD_SIZE);
	ret = id->device->mad->post(buf, NULL);
	if (ret)
		cm_buf_free(buf);
	return ret;
}

/**
 * cm_send_awaited() - send a message again and again until its answer comes, or no time is left
 * @id: id; it has no other such message then
 * @msg: as for cm_send()
 *
 * If no answer comes, CM_IN_SEND_FAILED happens to the id. The event for it is made here.
 *
 * Context: the id's lock is held.
 * Return: as cm_send().
 */
int cm_send_awaited(struct cm_id *id, struct cm_msg *msg)
{
	struct ib_mad_send_buf *buf;
	struct cm_event *failure;
	int ret;

	buf = buf_of(id);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	failure = cm_event_new(id->device, GFP_ATOMIC);
	ret = -ENOMEM;
	if (!failure)
		goto free;
	failure->local_id = id->local_id;
	buf->context[1] = failure;
	buf->timeout_ms = clamp_t(u32, id->timeout_ms, 1, INT_MAX);
	buf->retries = id->max_retries;
	address(id, msg);
	ret = cm_buf_post(buf, msg);
	if (ret)
		goto free;
	cm_pending_cancel(id);
	id->pending = buf;
	return 0;

free:
	cm_buf_free(buf);
	return ret;
}

/**
 * cm_pending_cancel() - wait for no answer any more
 * @id: id
 *
 * Context: the id's lock is held.
 */
void cm_pending_cancel(struct cm_id *id)
{
	lockdep_assert_held(&id->lock);
	if (!id->pending)
		return;
	id->device->mad->modify(id->pending, 0);
	id->pending = NULL;
}

/**
 * cm_answer() - answer a message that belongs to no id
 * @port: port at which it has arrived
 * @wc: the datagram
 * @to: its contents
 * @answer: the answer; ids and transaction are filled in
 *
 * If there is no memory, there is no answer, and the peer asks again.
 *
 * Context: may sleep.
 */
void cm_answer(struct cm_port *port, struct ib_mad_recv_wc *wc, const struct cm_msg *to,
	       struct cm_msg *answer)
{
	struct cm_route *route = cm_route_back(port, wc);
	struct ib_mad_send_buf *buf;

	if (IS_ERR(route))
		return;
	buf = cm_buf_new(route, GFP_KERNEL);
	cm_route_put(route);
	if (IS_ERR(buf))
		return;
	answer->tid = to->tid;
	answer->local_id = to->remote_id;
	answer->remote_id = to->local_id;
	if (answer->type == CM_MSG_REJ)
		trace_icm_issue_rej(to->local_id, to->remote_id);
	else if (answer->type == CM_MSG_DREP)
		trace_icm_issue_drep(to->local_id, to->remote_id);
	if (cm_buf_post(buf, answer))
		cm_buf_free(buf);
}

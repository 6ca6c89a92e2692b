// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What ends by itself: messages under way, and TIMEWAIT.
 */
#include <linux/cleanup.h>
#include <linux/slab.h>

#include "cm.h"
#include "trace.h"

static void ended(struct ib_mad_send_buf *buf, enum ib_wc_status status)
{
	struct cm_event *failure = buf->context[1];
	struct cm_id *id = cm_id_find(failure->local_id);

	if (!id)
		return;
	scoped_guard(spinlock_irqsave, &id->lock) {
		if (id->pending != buf)
			break;
		id->pending = NULL;
		if (status == IB_WC_SUCCESS)
			break;
		trace_icm_mad_send_err(id->ib.state, status);
		buf->context[1] = NULL;
		failure->ib.param.send_status = status;
		cm_happens(id, CM_IN_SEND_FAILED, failure);
	}
	cm_id_put(id);
}

/**
 * cm_sent() - handle the completion of a datagram that was sent
 * @agent: the port's agent
 * @wc: how
 */
void cm_sent(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	struct ib_mad_send_buf *buf = wc->send_buf;
	const struct ib_mad_hdr *hdr = buf->mad;
	struct cm_port *port = agent->context;
	enum cm_msg_type type = cm_msg_type_of(hdr->attr_id);

	cm_count(port, CM_COUNT_SENT, type, 1 + buf->retries);
	cm_count(port, CM_COUNT_RETRIES, type, buf->retries);
	if (buf->context[1])
		ended(buf, wc->status);
	cm_buf_free(buf);
}

static void timewait_over(struct work_struct *work)
{
	struct cm_remote *remote = container_of(to_delayed_work(work), struct cm_remote, work);
	struct cm_id *id = cm_id_find(remote->local_id);

	cm_timewait_done(remote);
	if (id) {
		scoped_guard(spinlock_irqsave, &id->lock) {
			if (id->waiting != remote)
				break;
			id->waiting = NULL;
			cm_happens(id, CM_IN_TIMEWAIT_OVER, remote->event);
			remote->event = NULL;
		}
		cm_id_put(id);
	}
	cm_remote_free(remote);
}

/**
 * cm_remote_new() - make what an id will know of its peer
 * @device: device of the id
 * @local_id: number of the id
 * @gfp: how memory may be allocated
 *
 * Return: it, bound to no peer; or NULL.
 */
struct cm_remote *cm_remote_new(struct cm_device *device, u32 local_id, gfp_t gfp)
{
	struct cm_remote *remote = kzalloc(sizeof(*remote), gfp);

	if (!remote)
		return NULL;
	remote->event = cm_event_new(device, gfp);
	if (!remote->event) {
		kfree(remote);
		return NULL;
	}
	remote->local_id = local_id;
	INIT_DELAYED_WORK(&remote->work, timewait_over);
	return remote;
}

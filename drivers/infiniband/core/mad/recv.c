// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Handling of a MAD that arrives: is it valid, does its route end here, does the driver answer it,
 * which agent gets it?
 *
 * First a new buffer is posted in place of the MAD's. If there is no memory for one, the MAD is
 * dropped and its buffer is posted again.
 */
#include <linux/cleanup.h>
#include <linux/slab.h>

#include "access.h"
#include "mad_priv.h"
#include "smi.h"
#include "trace.h"

/* Allocations for a MAD that has arrived fail rather than wait long for memory. */
#define GFP_ARRIVED (GFP_KERNEL | __GFP_NORETRY | __GFP_NOWARN)

static bool is_sound(const struct mad_recv *recv)
{
	const struct ib_mad_hdr *hdr = recv_hdr(recv);
	u32 len = recv->wc.byte_len;

	if (len < sizeof(recv->grh) + mad_size(recv->qp->port, hdr->base_version))
		return false;
	if (hdr->base_version != IB_MGMT_BASE_VERSION &&
	    !(recv->qp->port->opa && hdr->base_version == OPA_MGMT_BASE_VERSION))
		return false;
	if (mad_class_is_smp(hdr->mgmt_class))
		return !recv->qp->index;
	/* All messages of the CM are sent by the method Send. */
	if (hdr->mgmt_class == IB_MGMT_CLASS_CM &&
	    hdr->attr_id != IB_MGMT_CLASSPORTINFO_ATTR_ID && hdr->method != IB_MGMT_METHOD_SEND)
		return false;
	return recv->qp->index;
}

/* A switch forwards packets for other nodes. Returns whether the packet is for this node. */
static bool route(struct mad_recv *recv)
{
	struct mad_port *port = recv->qp->port;
	struct ib_device *device = port->device;
	struct smi_node node = {
		.is_switch = rdma_cap_ib_switch(device), .ports = device->phys_port_cnt,
	};
	u8 out_port;

	if (recv->local || recv_hdr(recv)->mgmt_class != IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
		return true;
	trace_ib_mad_handle_ib_smi((struct ib_smp *)recv->mad);
	switch (smi_route_received((struct ib_smp *)recv->mad, &node, recv->wc.port_num ?:
				   port->port_num, &out_port)) {
	case SMI_HERE:
		return true;
	case SMI_OUT:
		mad_forward(recv, out_port);
		return false;
	default:
		mad_count_drop(port, MAD_DROP_MISROUTED, 1);
		return false;
	}
}

/* Offers a MAD to the driver. Returns whether it is still to be given to an agent. */
static bool ask_driver(struct mad_recv *recv)
{
	struct mad_port *port = recv->qp->port;
	struct ib_device *device = port->device;
	u16 pkey_index = recv->wc.pkey_index;
	size_t size = recv->size;
	struct ib_mad *out;
	int result;

	if (port->service || !device->ops.process_mad)
		return true;
	out = kzalloc(recv->size, GFP_ARRIVED);
	if (!out) {
		mad_count_drop(port, MAD_DROP_NO_MEMORY, 1);
		return false;
	}
	result = device->ops.process_mad(device, 0, port->port_num, &recv->wc, &recv->grh,
					 (struct ib_mad *)recv->mad, out, &size, &pkey_index);
	/* A MAD that the driver failed to process goes on as one that it did not take. */
	if (!(result & IB_MAD_RESULT_SUCCESS))
		result = 0;
	if ((result & IB_MAD_RESULT_REPLY) && !(result & IB_MAD_RESULT_CONSUMED))
		mad_reply(port, recv, out, size, pkey_index);
	kfree(out);
	return !(result & (IB_MAD_RESULT_REPLY | IB_MAD_RESULT_CONSUMED));
}

/*
 * A segment for an agent without RMPP of the core, whether it does RMPP itself or has not mentioned
 * RMPP at all, cannot be assigned to a request here.
 */
static bool is_users_segment(const struct mad_agent *agent, const struct mad_recv *recv)
{
	return !ib_mad_kernel_rmpp_agent(&agent->agent) &&
	       ib_is_mad_class_rmpp(recv_hdr(recv)->mgmt_class) &&
	       ib_get_rmpp_flags(recv_rmpp(recv)) & IB_MGMT_RMPP_FLAG_ACTIVE;
}

static void give_response(struct mad_agent *agent, struct mad_recv *recv)
{
	struct mad_port *port = agent->port;
	struct mad_send *send;

	scoped_guard(spinlock_irqsave, &port->lock) {
		send = mad_send_find(agent, recv, mad_send_waits);
		if (send)
			mad_send_answered(send);
	}
	if (!send && !is_users_segment(agent, recv)) {
		mad_count_drop(port, MAD_DROP_UNAWAITED, 1);
		ib_free_recv_mad(&recv->rwc);
		return;
	}
	trace_ib_mad_recv_done_agent(agent);
	agent->agent.recv_handler(&agent->agent, send ? &send->buf : NULL, &recv->rwc);
	if (!send)
		return;
	scoped_guard(spinlock_irqsave, &port->lock)
		mad_send_put(send);
	mad_run_done(port);
}

static void give(struct mad_agent *agent, struct mad_recv *recv)
{
	if (!agent->agent.recv_handler) {
		mad_recv_drop(recv, MAD_DROP_UNCLAIMED);
		return;
	}
	if (mad_access_check(agent, recv->wc.pkey_index)) {
		mad_recv_drop(recv, MAD_DROP_REFUSED);
		return;
	}
	if (ib_mad_kernel_rmpp_agent(&agent->agent)) {
		recv = mad_reassemble(agent, recv);
		if (!recv)
			return;
	}
	if (ib_response_mad(recv_hdr(recv))) {
		give_response(agent, recv);
		return;
	}
	trace_ib_mad_recv_done_agent(agent);
	agent->agent.recv_handler(&agent->agent, NULL, &recv->rwc);
}

/* Handles a MAD, which is consumed. */
static void arrived(struct mad_recv *recv)
{
	struct mad_agent *agent;

	trace_ib_mad_recv_done_handler(recv);
	if (!is_sound(recv)) {
		mad_recv_drop(recv, MAD_DROP_MALFORMED);
		return;
	}
	recv->rwc.mad_seg_size = mad_size(recv->qp->port, recv_hdr(recv)->base_version);
	recv->rwc.mad_len = recv->rwc.mad_seg_size;
	if (!route(recv) || !ask_driver(recv)) {
		mad_recv_free(recv);
		return;
	}
	agent = mad_agent_find(recv->qp, (struct ib_mad *)recv->mad);
	if (agent) {
		give(agent, recv);
		mad_agent_put(agent);
	} else if (ib_response_mad(recv_hdr(recv))) {
		mad_recv_drop(recv, MAD_DROP_UNAWAITED);
	} else if (mad_reply_unsupported(recv)) {
		mad_recv_free(recv);
	} else {
		mad_recv_drop(recv, MAD_DROP_UNCLAIMED);
	}
}

static int post_new(struct mad_qp *qp, gfp_t gfp)
{
	struct mad_recv *recv = mad_recv_alloc(qp->port, gfp);
	int ret = -ENOMEM;

	if (recv) {
		recv->cqe.done = mad_recv_done;
		ret = mad_queue_recv(qp, recv);
	}
	if (ret)
		mad_recv_free(recv);
	return ret;
}

/* Called with the port's lock held. */
static void miss(struct mad_qp *qp)
{
	lockdep_assert_held(&qp->port->lock);
	qp->missing++;
	wake_up(&qp->idle);
}

static bool works(const struct mad_qp *qp)
{
	return qp->port->open && !qp->stalled;
}

/*
 * A receive that was taken from the missing ones is posted, or is missing again. Only the recovery
 * posts to a QP that does not work.
 */
static int refill(struct mad_qp *qp, gfp_t gfp, bool recovering)
{
	struct mad_port *port = qp->port;
	int ret;

	/*
	 * No more than the queue holds: receives that a failing QP flushes are left to the next
	 * attempt.
	 */
	for (unsigned int left = qp->wanted; left; left--) {
		scoped_guard(spinlock_irqsave, &port->lock) {
			if (!qp->missing || !(recovering || works(qp)))
				return 0;
			qp->missing--;
		}
		ret = post_new(qp, gfp);
		if (!ret)
			continue;
		guard(spinlock_irqsave)(&port->lock);
		miss(qp);
		return ret;
	}
	return 0;
}

/**
 * mad_recv_refill() - post the missing receives
 * @qp: QP
 *
 * Context: may sleep.
 * Return: 0, or the error for which some are still missing.
 */
int mad_recv_refill(struct mad_qp *qp)
{
	return refill(qp, GFP_KERNEL, true);
}

/**
 * mad_recv_give_up() - free receives that will not complete
 * @qp: their QP, which does not use them any more
 * @posted: struct mad_recv of mad_queue_recv(), without other users
 *
 * Context: may sleep.
 */
void mad_recv_give_up(struct mad_qp *qp, struct list_head *posted)
{
	struct mad_recv *recv, *next;

	list_for_each_entry_safe(recv, next, posted, entry) {
		mad_queue_received(recv);
		mad_recv_free(recv);
		guard(spinlock_irqsave)(&qp->port->lock);
		miss(qp);
	}
}

/**
 * mad_recv_done() - handle the completion of a receive
 * @cq: the port's CQ
 * @wc: completion
 *
 * Context: may sleep; one caller at a time for a port.
 */
void mad_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct mad_recv *recv = container_of(wc->wr_cqe, struct mad_recv, cqe);
	struct mad_qp *qp = recv->qp;
	struct mad_port *port = qp->port;

	mad_queue_received(recv);
	if (wc->status != IB_WC_SUCCESS) {
		mad_recv_free(recv);
		guard(spinlock_irqsave)(&port->lock);
		miss(qp);
		if (works(qp)) {
			qp->stalled = true;
			queue_work(port->wq, &qp->recover);
		}
		return;
	}
	if (post_new(qp, GFP_ARRIVED)) {
		mad_count_drop(port, MAD_DROP_NO_MEMORY, 1);
		if (mad_queue_recv(qp, recv)) {
			mad_recv_free(recv);
			guard(spinlock_irqsave)(&port->lock);
			miss(qp);
			if (works(qp) && qp->missing == qp->wanted)
				mad_timer_arm(port, &qp->recover_timer, RECOVER_MS);
		}
		return;
	}
	/* There is memory again. */
	if (READ_ONCE(qp->missing))
		refill(qp, GFP_ARRIVED, false);
	recv->wc = *wc;
	recv->wc.wr_cqe = NULL;
	/* Devices report the P_Key index only for receives of QP1. */
	if (port->service)
		recv->wc.pkey_index = port->pkey_index;
	arrived(recv);
}

static struct mad_send *next_looped(struct mad_port *port)
{
	struct mad_send *send;

	guard(spinlock_irqsave)(&port->lock);
	send = list_first_entry_or_null(&port->loop, struct mad_send, queue);
	if (send)
		list_del_init(&send->queue);
	return send;
}

/* Makes a received MAD of a packet that does not go to the wire. */
static struct mad_recv *looped(struct mad_send *send)
{
	const struct ib_smp *smp = (struct ib_smp *)send->mad;
	struct mad_port *port = send->agent->port;
	struct mad_recv *recv = mad_recv_alloc(port, GFP_ARRIVED);

	if (!recv)
		return NULL;
	memcpy(recv->mad, send->mad, send->size);
	recv->local = true;
	recv->qp = send->agent->qp;
	recv->wc = (struct ib_wc) {
		.status = IB_WC_SUCCESS,
		.opcode = IB_WC_RECV,
		.byte_len = sizeof(recv->grh) + send->size,
		.qp = recv->qp->qp,
		.src_qp = IB_QP0,
		.pkey_index = send->wr.pkey_index,
		.slid = be16_to_cpu(smp->dr_slid),
		.port_num = send->wr.port_num,
	};
	return recv;
}

/**
 * mad_loop_work() - receive MADs whose directed route is empty, which are sent to this port itself
 * @work: the port's loop_work
 *
 * This is a work item because a sender may be unable to sleep, and the driver may sleep to process
 * the MAD.
 */
void mad_loop_work(struct work_struct *work)
{
	struct mad_port *port = container_of(work, struct mad_port, loop_work);
	struct mad_send *send;
	struct mad_recv *recv;

	while ((send = next_looped(port))) {
		recv = looped(send);
		scoped_guard(spinlock_irqsave, &port->lock)
			mad_send_left(send);
		if (recv)
			arrived(recv);
		else
			mad_count_drop(port, MAD_DROP_NO_MEMORY, 1);
		mad_run_done(port);
	}
}

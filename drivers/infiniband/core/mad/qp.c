// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The QPs of a port: they are created, started, recovered when they fail, and ended.
 */
#include <linux/cleanup.h>
#include <linux/moduleparam.h>
#include <rdma/ib_cache.h>

#include "../verbs/verbs.h"
#include "access.h"
#include "mad_priv.h"

#define MIN_QUEUE 16
#define MAX_SENDQ 4096
#define MAX_RECVQ 4096
/* Time to wait for the receives of a QP in the error state. */
#define FLUSH_TIME (5 * HZ)

static unsigned int sendq_size = 128;
static unsigned int recvq_size = 512;

module_param_named(send_queue_size, sendq_size, uint, 0444);
MODULE_PARM_DESC(send_queue_size, "Size of send queue in number of work requests");
module_param_named(recv_queue_size, recvq_size, uint, 0444);
MODULE_PARM_DESC(recv_queue_size, "Size of receive queue in number of work requests");

static int modify(struct mad_qp *qp, enum ib_qp_state state)
{
	struct mad_port *port = qp->port;
	struct ib_qp_attr attr = { .qp_state = state };
	int mask = IB_QP_STATE;
	u16 pkey_index;

	if (state == IB_QPS_INIT && port->service) {
		mask |= IB_QP_PKEY_INDEX | IB_QP_QKEY | IB_QP_PORT;
		attr.qkey = port->qkey;
		attr.pkey_index = port->pkey_index;
		attr.port_num = port->port_num;
	} else if (state == IB_QPS_INIT) {
		mask |= IB_QP_PKEY_INDEX | IB_QP_QKEY;
		attr.qkey = qp->index ? IB_QP1_QKEY : 0;
		if (!ib_find_cached_pkey(port->device, port->port_num, IB_DEFAULT_PKEY_FULL,
					 &pkey_index))
			attr.pkey_index = pkey_index;
	} else if (state == IB_QPS_RTS) {
		mask |= IB_QP_SQ_PSN;
	}
	return ib_modify_qp(qp->qp, &attr, mask);
}

/* Moves a QP from RESET to RTS. */
static int start(struct mad_qp *qp)
{
	int ret = modify(qp, IB_QPS_INIT);

	if (ret)
		return ret;
	qp->started = true;
	ret = modify(qp, IB_QPS_RTR);
	if (!ret)
		ret = modify(qp, IB_QPS_RTS);
	return ret;
}

/* A send that fails stops the send queue of a UD QP (SQE), and nothing else. */
static int restart_sends(struct mad_qp *qp)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTS, .cur_qp_state = IB_QPS_SQE };

	return ib_modify_qp(qp->qp, &attr, IB_QP_STATE | IB_QP_CUR_STATE);
}

static bool sends_are_done(struct mad_qp *qp)
{
	guard(spinlock_irqsave)(&qp->port->lock);
	return qp->free == qp->room;
}

static bool receives_are_back(struct mad_qp *qp)
{
	guard(spinlock_irqsave)(&qp->port->lock);
	return qp->missing == qp->wanted;
}

/*
 * Returns when all posted work requests have completed, which their counters tell: a last work
 * request, as ib_drain_qp() posts, would not be the last while received MADs are replaced. Some
 * drivers do not complete receives.
 */
static int drain(struct mad_qp *qp)
{
	struct mad_port *port = qp->port;
	int ret = modify(qp, IB_QPS_ERR);

	if (!ret) {
		if (wait_event_timeout(qp->idle, sends_are_done(qp), mad_patience) &&
		    wait_event_timeout(qp->idle, receives_are_back(qp), FLUSH_TIME))
			return 0;
		ret = -ETIMEDOUT;
	}
	if (!qp->told)
		ibdev_err(port->device, "port %u: QP%u cannot be drained: %d\n", port->port_num,
			  qp->num, ret);
	return ret;
}

/* A QP that fails is recovered again and again: the log says when that begins and when it ends. */
static void tell(struct mad_qp *qp, int ret)
{
	struct mad_port *port = qp->port;

	if (ret && !qp->told)
		ibdev_err(port->device, "port %u: QP%u does not work any more: %d\n",
			  port->port_num, qp->num, ret);
	else if (!ret && qp->told)
		ibdev_info(port->device, "port %u: QP%u works again\n", port->port_num, qp->num);
	qp->told = ret;
}

/* What the QP holds is freed when it has been reset or destroyed. */
static void give_up(struct mad_qp *qp)
{
	guard(mutex)(&qp->posting);
	guard(spinlock_irqsave)(&qp->port->lock);
	qp->given_up = true;
}

/*
 * Takes back everything that was posted to a QP, which may not have been drained. What has
 * completed before is handled first, since the CQ may still have it.
 */
static int reset(struct mad_qp *qp)
{
	LIST_HEAD(posted);
	int ret;

	scoped_guard(mutex, &qp->posting) {
		ret = modify(qp, IB_QPS_RESET);
		if (ret)
			return ret;
		qp->started = false;
		guard(spinlock_irqsave)(&qp->port->lock);
		qp->given_up = false;
		list_splice_init(&qp->posted, &posted);
	}
	ib_cq_flush(qp->port->cq);
	mad_recv_give_up(qp, &posted);
	mad_sends_give_up(qp);
	return 0;
}

/*
 * A QP has failed. Sends that were only flushed wait meanwhile, and flushed receives are missing.
 * If the QP cannot be recovered, sends fail until a later attempt succeeds.
 */
static void recover(struct work_struct *work)
{
	struct mad_qp *qp = container_of(work, struct mad_qp, recover);
	struct mad_port *port = qp->port;
	int ret;

	scoped_guard(spinlock_irqsave, &port->lock)
		mad_timer_stop(port, &qp->recover_timer);
	ret = qp->given_up ? -EINVAL : restart_sends(qp);
	if (ret) {
		if (qp->started)
			drain(qp);
		ret = reset(qp);
		if (!ret)
			ret = start(qp);
		if (ret)
			give_up(qp);
	}
	if (!ret)
		ret = mad_recv_refill(qp);
	tell(qp, ret);
	scoped_guard(spinlock_irqsave, &port->lock) {
		qp->stalled = false;
		/* No completion will show whether the QP works or fails. */
		if (port->open && (qp->given_up || qp->missing == qp->wanted))
			mad_timer_arm(port, &qp->recover_timer, RECOVER_MS);
		mad_send_push(qp);
	}
	mad_run_done(port);
}

static void recover_again(struct mad_port *port, struct mad_timer *timer)
{
	struct mad_qp *qp = container_of(timer, struct mad_qp, recover_timer);

	if (!port->open || qp->stalled)
		return;
	qp->stalled = true;
	queue_work(port->wq, &qp->recover);
}

static void qp_event(struct ib_event *event, void *context)
{
	struct mad_qp *qp = context;
	struct mad_port *port = qp->port;

	guard(spinlock_irqsave)(&port->lock);
	if (event->event != IB_EVENT_QP_FATAL || !port->open || qp->stalled)
		return;
	qp->stalled = true;
	queue_work(port->wq, &qp->recover);
}

static int make(struct mad_qp *qp)
{
	struct mad_port *port = qp->port;
	struct ib_qp_init_attr attr = {
		.send_cq = port->cq,
		.recv_cq = port->cq,
		.sq_sig_type = IB_SIGNAL_ALL_WR,
		.cap = {
			.max_send_wr = sendq_size,
			.max_recv_wr = recvq_size,
			.max_send_sge = 2,
			.max_recv_sge = 1,
		},
		.qp_type = port->service ? IB_QPT_UD : qp->index ? IB_QPT_GSI : IB_QPT_SMI,
		.port_num = port->port_num,
		.event_handler = qp_event,
		.qp_context = qp,
	};
	struct ib_qp *made = ib_create_qp(port->pd, &attr);

	if (IS_ERR(made))
		return PTR_ERR(made);
	qp->qp = made;
	qp->num = made->qp_num;
	qp->room = sendq_size;
	qp->free = sendq_size;
	qp->wanted = recvq_size;
	qp->missing = recvq_size;
	qp->recover_timer.expired = recover_again;
	INIT_WORK(&qp->recover, recover);
	return 0;
}

/* Undoes mad_qps_open(), as far as it got. No more MADs are posted. */
static void end(struct mad_port *port)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(port->qp); i++) {
		struct mad_qp *qp = &port->qp[i];

		if (!qp->qp)
			continue;
		cancel_work_sync(&qp->recover);
		if (qp->started && drain(qp))
			give_up(qp);
		ib_destroy_qp(qp->qp);
		qp->qp = NULL;
	}
	if (port->cq)
		ib_free_cq(port->cq);
	for (unsigned int i = 0; i < ARRAY_SIZE(port->qp); i++) {
		mad_recv_give_up(&port->qp[i], &port->qp[i].posted);
		mad_sends_give_up(&port->qp[i]);
	}
	flush_work(&port->loop_work);
	cancel_delayed_work_sync(&port->timer_work);
	flush_work(&port->done_work);
	if (port->pd)
		ib_dealloc_pd(port->pd);
	port->cq = NULL;
	port->pd = NULL;
	if (port->wq)
		destroy_workqueue(port->wq);
	port->wq = NULL;
}

/**
 * mad_qps_open() - create the QPs of a port, with their PD, CQ and work queue
 * @port: closed port
 *
 * Context: may sleep.
 * Return: 0, to be followed by mad_qps_start(), and ended with mad_qps_close(); -ENOMEM; the
 * driver's error.
 */
int mad_qps_open(struct mad_port *port)
{
	struct ib_device *device = port->device;
	bool smi = !port->service && rdma_cap_ib_smi(device, port->port_num);
	int cqes, ret = 0;

	sendq_size = clamp(sendq_size, MIN_QUEUE, MAX_SENDQ);
	recvq_size = clamp(recvq_size, MIN_QUEUE, MAX_RECVQ);
	cqes = (sendq_size + recvq_size) * (smi ? 2 : 1);

	INIT_DELAYED_WORK(&port->timer_work, mad_timer_work);
	INIT_WORK(&port->done_work, mad_done_work);
	INIT_WORK(&port->loop_work, mad_loop_work);
	port->wq = alloc_workqueue("ib_mad%u", WQ_UNBOUND | WQ_MEM_RECLAIM, 0, port->port_num);
	if (!port->wq)
		return -ENOMEM;
	port->pd = ib_alloc_pd(device, 0);
	if (IS_ERR(port->pd)) {
		ret = PTR_ERR(port->pd);
		port->pd = NULL;
		goto end;
	}
	port->cq = ib_alloc_cq(device, port, cqes, 0, IB_POLL_UNBOUND_WORKQUEUE);
	if (IS_ERR(port->cq)) {
		ret = PTR_ERR(port->cq);
		port->cq = NULL;
		goto end;
	}
	scoped_guard(spinlock_irqsave, &port->lock)
		port->open = true;
	if (smi)
		ret = make(&port->qp[0]);
	if (!ret)
		ret = make(&port->qp[1]);
	if (!ret)
		return 0;
end:
	scoped_guard(spinlock_irqsave, &port->lock)
		port->open = false;
	end(port);
	return ret;
}

/**
 * mad_qps_start() - start the QPs, so that MADs arrive
 * @port: port with the core's own agents
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM; the driver's error.
 */
int mad_qps_start(struct mad_port *port)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < ARRAY_SIZE(port->qp); i++)
		if (port->qp[i].qp)
			ret = start(&port->qp[i]) ?: mad_recv_refill(&port->qp[i]);
	return ret;
}

/**
 * mad_qps_close() - end all activity of a port
 * @port: port that cannot be found any more; it is closed for agents that still have it
 *
 * Context: may sleep, until all handlers have returned.
 */
void mad_qps_close(struct mad_port *port)
{
	struct mad_agent *agent;
	struct mad_send *send, *next;

	scoped_guard(spinlock_irqsave, &port->lock) {
		port->open = false;
		list_for_each_entry(agent, &port->agents, entry)
			list_for_each_entry_safe(send, next, &agent->sends, entry)
				mad_send_cancel(send);
	}
	mad_run_done(port);
	mad_access_forget_port(port);
	end(port);
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * MADs that are sent: from the agent to the QP or to the local loop, and their handling when they
 * have been sent or have timed out.
 */
#include <kunit/static_stub.h>
#include <linux/cleanup.h>
#include <rdma/rdma_reject.h>

#include "access.h"
#include "mad_priv.h"
#include "smi.h"
#include "trace.h"

/* Largest number of milliseconds after which segments without an acknowledgment are sent again. */
#define ACK_TIMEOUT_MS 2000
/* Number of retransmissions of segments without progress, unless the agent asks for more. */
#define RMPP_RESENDS 5

static unsigned int ack_timeout(const struct mad_send *send)
{
	return min(send->timeout_ms ?: ACK_TIMEOUT_MS, ACK_TIMEOUT_MS);
}

static void rest(struct mad_send *send)
{
	if (send->unacked)
		mad_timer_arm(send->agent->port, &send->timer, ack_timeout(send));
	else if (send->waits)
		mad_timer_arm(send->agent->port, &send->timer, send->timeout_ms);
}

/* If the queue refuses it, the reference for waiting keeps it. */
static int dispatch(struct mad_send *send)
{
	struct mad_port *port = send->agent->port;
	int ret = 0;

	send->at_qp = true;
	mad_send_get(send);
	if (send->local) {
		list_add_tail(&send->queue, &port->loop);
		queue_work(port->wq, &port->loop_work);
	} else {
		ret = mad_queue_send(send);
	}
	if (ret)
		mad_send_left_qp(send);
	return ret;
}

/* Sends the next segment if the window allows. */
static bool send_segment(struct mad_send *send)
{
	u32 num = rmpp_tx_next(&send->tx);

	if (!num)
		return false;
	mad_timer_stop(send->agent->port, &send->timer);
	mad_send_load(send, num);
	if (dispatch(send))
		rest(send);
	return true;
}

/**
 * mad_send_acked() - continue after an acknowledgment
 * @send: message with unacknowledged segments
 * @event: the effect of the acknowledgment on the sender
 *
 * Context: the port's lock is held.
 */
void mad_send_acked(struct mad_send *send, enum rmpp_tx_event event)
{
	if (event == RMPP_TX_PROGRESS)
		send->resends = max(send->max_retries, RMPP_RESENDS);
	if (event == RMPP_TX_DONE) {
		mad_timer_stop(send->agent->port, &send->timer);
		send->unacked = false;
		if (!send->at_qp)
			rest(send);
		mad_send_put(send);
		return;
	}
	if (!send->at_qp && !send_segment(send) && event == RMPP_TX_PROGRESS)
		rest(send);
}

/* A response or acknowledgment has not arrived in time. */
static void send_expired(struct mad_port *port, struct mad_timer *timer)
{
	struct mad_send *send = container_of(timer, struct mad_send, timer);

	if (send->unacked ? !send->resends : send->retries_left <= 0) {
		mad_send_give_up(send, IB_WC_RESP_TIMEOUT_ERR, 0);
		return;
	}
	if (send->unacked) {
		send->resends--;
	} else {
		send->retries_left--;
		send->buf.retries++;
	}
	if (send->tx.segs) {
		rmpp_tx_again(&send->tx);
		if (!send_segment(send))
			rest(send);
	} else if (dispatch(send)) {
		rest(send);
	}
}

/**
 * mad_send_left() - handle a MAD that has been sent by the QP or by the local loop
 * @send: the MAD, or a segment of it
 *
 * Context: the port's lock is held; mad_run_done() follows.
 */
void mad_send_left(struct mad_send *send)
{
	mad_send_get(send);
	mad_send_left_qp(send);
	if (send->status == IB_WC_SUCCESS && !(send->unacked && send_segment(send)))
		rest(send);
	mad_send_put(send);
}

/* Ends a MAD that is in no queue any more. */
static void left_for_good(struct mad_send *send, enum ib_wc_status status, u32 vendor_err)
{
	mad_send_get(send);
	mad_send_left_qp(send);
	mad_send_give_up(send, status, vendor_err);
	mad_send_put(send);
}

/**
 * mad_send_push() - post queued MADs
 * @qp: QP
 *
 * Context: the port's lock is held; mad_run_done() follows.
 */
void mad_send_push(struct mad_qp *qp)
{
	struct mad_send *send;

	while ((send = mad_queue_push(qp)))
		left_for_good(send, IB_WC_GENERAL_ERR, 0);
}

/* How often a MAD may be flushed without another send that has failed. */
#define FLUSHES 3

static bool send_again(struct mad_send *send, enum ib_wc_status status)
{
	struct mad_qp *qp = send->agent->qp;

	if (status != IB_WC_WR_FLUSH_ERR || !qp->port->open || send->status != IB_WC_SUCCESS)
		return false;
	/* A send that has failed is not repeated, so the number of repetitions is limited. */
	if (send->blamed != qp->blamed)
		send->flushed = 0;
	send->blamed = qp->blamed;
	if (send->flushed++ >= FLUSHES)
		return false;
	trace_ib_mad_send_done_resend(send);
	return !mad_queue_send(send);
}

/* A send that fails stops the queue. The sends after it are flushed, and are posted again. */
static void failed(struct mad_send *send, const struct ib_wc *wc)
{
	struct mad_qp *qp = send->agent->qp;

	if (send_again(send, wc->status))
		return;
	trace_ib_mad_error_handler(send);
	qp->blamed += wc->status != IB_WC_WR_FLUSH_ERR;
	if (wc->status != IB_WC_WR_FLUSH_ERR && qp->port->open && !qp->stalled) {
		qp->stalled = true;
		queue_work(qp->port->wq, &qp->recover);
	}
	left_for_good(send, wc->status, wc->vendor_err);
}

/**
 * mad_sends_give_up() - treat sends that will not complete as if they had been flushed
 * @qp: QP that does not use them any more, and to which nothing is posted meanwhile
 *
 * Those that may be sent again are queued until the QP is recovered.
 *
 * Context: may sleep.
 */
void mad_sends_give_up(struct mad_qp *qp)
{
	const struct ib_wc flushed = { .status = IB_WC_WR_FLUSH_ERR };
	struct mad_port *port = qp->port;
	struct mad_send *send, *next;
	struct mad_agent *agent;

	scoped_guard(spinlock_irqsave, &port->lock) {
		list_for_each_entry(agent, &port->agents, entry) {
			if (agent->qp != qp)
				continue;
			list_for_each_entry_safe(send, next, &agent->sends, entry) {
				if (!send->posted)
					continue;
				mad_queue_sent(send);
				failed(send, &flushed);
			}
		}
	}
	mad_run_done(port);
}

static void send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct mad_send *send = container_of(wc->wr_cqe, struct mad_send, cqe);
	struct mad_qp *qp = send->agent->qp;
	struct mad_port *port = qp->port;

	scoped_guard(spinlock_irqsave, &port->lock) {
		mad_queue_sent(send);
		trace_ib_mad_send_done_handler(send, wc);
		if (wc->status == IB_WC_SUCCESS)
			mad_send_left(send);
		else
			failed(send, wc);
		mad_send_push(qp);
	}
	mad_run_done(port);
}

/* Routes a packet with a directed route. A packet for this node goes to the local loop. */
static int route(struct mad_send *send)
{
	struct mad_port *port = send->agent->port;
	struct ib_device *device = port->device;
	struct ib_smp *smp = (struct ib_smp *)send->mad;
	struct smi_node node = {
		.is_switch = rdma_cap_ib_switch(device), .ports = device->phys_port_cnt,
	};

	/* The core's own answer to this port itself has no other destination. */
	send->local = send->internal && !send->buf.ah;
	if (send->local || send->forwarded || send->agent->qp->index ||
	    send_hdr(send)->mgmt_class != IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
		return 0;
	trace_ib_mad_handle_out_ib_smi(smp);
	switch (smi_route_sent(smp, &node, send->wr.port_num)) {
	case SMI_HERE:
		send->local = true;
		return 0;
	case SMI_OUT:
		if (node.is_switch)
			send->wr.port_num = smi_out_port(smp);
		return 0;
	default:
		return rdma_refuse(-EINVAL, "the path does not begin at port %u",
				   port->port_num);
	}
}

static int check(struct mad_send *send)
{
	struct ib_mad_agent *agent = &send->agent->agent;
	bool rmpp_class = ib_is_mad_class_rmpp(send_hdr(send)->mgmt_class);

	if (send->internal)
		return 0;
	if (!agent->send_handler || (send->buf.timeout_ms && !agent->recv_handler))
		return rdma_refuse(-EINVAL, "the agent has no handler for what will follow");
	if (agent->rmpp_version && !rmpp_class)
		return rdma_refuse(-EINVAL, "class 0x%02x has no RMPP, which the agent uses",
				   send_hdr(send)->mgmt_class);
	return 0;
}

/* A negative number means no limit. */
static int at_most(int said)
{
	return said < 0 ? INT_MAX : said;
}

static void begin(struct mad_send *send)
{
	struct ib_mad_send_buf *buf = &send->buf;

	send->cqe.done = send_done;
	send->timer.expired = send_expired;
	send->tid = send_hdr(send)->tid;
	send->timeout_ms = at_most(buf->timeout_ms);
	send->max_retries = at_most(buf->retries);
	send->retries_left = send->max_retries;
	send->resends = max(send->max_retries, RMPP_RESENDS);
	buf->retries = 0;
	send->flushed = 0;
	send->tx = (struct rmpp_tx){};
	mad_send_begin(send);
	send->waits = send->timeout_ms;
	if (send->waits)
		mad_send_get(send);
	send->unacked = is_message(send) &&
			ib_get_rmpp_flags(send_rmpp(send)) & IB_MGMT_RMPP_FLAG_ACTIVE;
	if (!send->unacked)
		return;
	mad_send_get(send);
	rmpp_tx_init(&send->tx, send->buf.seg_count);
	/*
	 * Filling in the data has left @segment at the last one, possibly millions from the first.
	 */
	send->segment = list_first_entry(&send->segs, struct mad_segment, entry);
	mad_send_load(send, rmpp_tx_next(&send->tx));
}

/**
 * mad_send_post() - send a MAD
 * @send: MAD that is not pending
 *
 * Context: any.
 * Return: 0, and the MAD will end; or the error of ib_post_send_mad().
 */
int mad_send_post(struct mad_send *send)
{
	struct mad_agent *agent = send->agent;
	struct mad_port *port = agent->port;
	int ret = check(send);

	if (!ret)
		ret = mad_access_check(agent, send->wr.pkey_index);
	if (ret)
		return ret;
	scoped_guard(spinlock_irqsave, &port->lock) {
		if (!port->open || agent->closed)
			return -ENODEV;
		if (WARN_ON_ONCE(send->refs))
			return -EINVAL;
		ret = route(send);
		if (ret)
			return ret;
		begin(send);
		ret = dispatch(send);
		if (ret) {
			mad_send_undo(send);
			return ret;
		}
		/* The reference of this function is not the last one. */
		mad_send_put(send);
	}
	return 0;
}

/**
 * ib_post_send_mad() - send MADs
 * @send_buf: the first of a list linked by ->next
 * @bad_send_buf: receives the one that was refused, with those after it; may be NULL
 *
 * The send handler is called for each MAD that was accepted: with IB_WC_SUCCESS when it has been
 * sent and, if @send_buf->timeout_ms is not 0, the receive handler has been called with its
 * response; with IB_WC_RESP_TIMEOUT_ERR if there was no response; with IB_WC_WR_FLUSH_ERR if it was
 * cancelled or the device is removed; with IB_WC_REM_ABORT_ERR if the peer has aborted a long
 * message; else with the error that has kept it from being sent. Then the buffer may be posted
 * again.
 *
 * A negative time, and a negative number of retries, are without limit in practice.
 *
 * Context: any; the handlers are called in a context that may sleep, never from here.
 * Return: 0; -EINVAL for agents without the handlers, a directed route that does not begin at this
 * port, or a class without RMPP if the agent uses RMPP; -EACCES or another error of a security
 * module; -ENODEV if the device has been removed; -ENOMEM; the error of the driver's post_send().
 */
int ib_post_send_mad(struct ib_mad_send_buf *send_buf, struct ib_mad_send_buf **bad_send_buf)
{
	struct ib_mad_send_buf *next;
	int ret;

	KUNIT_STATIC_STUB_REDIRECT(ib_post_send_mad, send_buf, bad_send_buf);
	for (; send_buf; send_buf = next) {
		/* The buffer may be freed as soon as it is posted. */
		next = send_buf->next;
		ret = mad_send_post(to_mad_send(send_buf));
		if (!ret)
			continue;
		if (bad_send_buf)
			*bad_send_buf = send_buf;
		return ret;
	}
	return 0;
}
EXPORT_SYMBOL(ib_post_send_mad);

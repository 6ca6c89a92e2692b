// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Pending MADs: their time-outs, the matching of responses, and their completion.
 */
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/jiffies.h>
#include <rdma/ib_cache.h>

#include "mad_priv.h"
#include "trace.h"

/* ---- timers ---- */

static void schedule_timers(struct mad_port *port)
{
	struct timerqueue_node *first = timerqueue_getnext(&port->timers);
	s64 ns;

	if (!first)
		return;
	ns = max_t(s64, 0, ktime_to_ns(ktime_sub(first->expires, ktime_get())));
	/* A work item that runs too early would find nothing to do, so it runs late. */
	mod_delayed_work(port->wq, &port->timer_work, ns ? nsecs_to_jiffies64(ns) + 1 : 0);
}

/**
 * mad_timer_stop() - stop a timer
 * @port: port
 * @timer: timer, armed or not
 *
 * Context: the port's lock is held.
 */
void mad_timer_stop(struct mad_port *port, struct mad_timer *timer)
{
	lockdep_assert_held(&port->lock);
	if (!RB_EMPTY_NODE(&timer->node.node))
		timerqueue_del(&port->timers, &timer->node);
}

/**
 * mad_timer_arm() - arm a timer
 * @port: port
 * @timer: timer; if it is armed already, its time changes
 * @ms: milliseconds from now
 *
 * Context: the port's lock is held.
 */
void mad_timer_arm(struct mad_port *port, struct mad_timer *timer, unsigned int ms)
{
	mad_timer_stop(port, timer);
	timer->node.expires = ktime_add_ms(ktime_get(), ms);
	if (timerqueue_add(&port->timers, &timer->node))
		schedule_timers(port);
}

/**
 * mad_timer_work() - run expired timers
 * @work: the port's timer_work
 */
void mad_timer_work(struct work_struct *work)
{
	struct mad_port *port = container_of(to_delayed_work(work), struct mad_port, timer_work);
	struct timerqueue_node *node;
	ktime_t now = ktime_get();

	scoped_guard(spinlock_irqsave, &port->lock) {
		while ((node = timerqueue_getnext(&port->timers))) {
			struct mad_timer *timer = container_of(node, struct mad_timer, node);

			if (ktime_after(node->expires, now))
				break;
			mad_timer_stop(port, timer);
			timer->expired(port, timer);
		}
		schedule_timers(port);
	}
	mad_run_done(port);
}

/* ---- pending MADs by agent and TID ---- */

/*
 * A program chooses half of each TID and may have many MADs pending, so they are kept in a tree:
 * what it chooses does not make a search longer, which runs with interrupts disabled.
 */
struct mad_key {
	const struct mad_agent *agent;
	__be64 tid;
};

static int compare_key(const void *key, const struct rb_node *node)
{
	const struct mad_send *send = rb_entry(node, struct mad_send, node);
	const struct mad_key *wanted = key;
	u64 one = be64_to_cpu(wanted->tid), other = be64_to_cpu(send->tid);

	if (wanted->agent != send->agent)
		return wanted->agent < send->agent ? -1 : 1;
	return one < other ? -1 : one > other;
}

static bool is_less(struct rb_node *node, const struct rb_node *other)
{
	const struct mad_send *send = rb_entry(node, struct mad_send, node);
	struct mad_key key = { send->agent, send->tid };

	return compare_key(&key, other) < 0;
}

/* ---- life ---- */

/**
 * mad_send_begin() - make a MAD pending
 * @send: MAD, with a reference of the caller, which has set its TID
 *
 * Context: the port's lock is held.
 */
void mad_send_begin(struct mad_send *send)
{
	struct mad_agent *agent = send->agent;

	lockdep_assert_held(&agent->port->lock);
	send->refs = 1;
	send->status = IB_WC_SUCCESS;
	send->vendor_err = 0;
	list_add_tail(&send->entry, &agent->sends);
	rb_add(&send->node, &agent->port->requests, is_less);
}

/**
 * mad_send_undo() - undo mad_send_begin(), without a completion for the agent
 * @send: MAD
 *
 * Context: the port's lock is held, ever since mad_send_begin().
 */
void mad_send_undo(struct mad_send *send)
{
	lockdep_assert_held(&send->agent->port->lock);
	mad_timer_stop(send->agent->port, &send->timer);
	list_del_init(&send->entry);
	rb_erase(&send->node, &send->agent->port->requests);
	send->refs = 0;
}

/**
 * mad_send_get() - take a reference
 * @send: pending MAD
 *
 * Context: the port's lock is held.
 */
void mad_send_get(struct mad_send *send)
{
	lockdep_assert_held(&send->agent->port->lock);
	send->refs++;
}

/**
 * mad_send_put() - drop a reference
 * @send: pending MAD; with the last reference it ends, and the caller ensures that mad_run_done()
 *	  is called
 *
 * Context: the port's lock is held.
 */
void mad_send_put(struct mad_send *send)
{
	lockdep_assert_held(&send->agent->port->lock);
	if (send->refs > 1) {
		send->refs--;
		return;
	}
	mad_send_undo(send);
	list_add_tail(&send->queue, &send->agent->port->done);
}

/**
 * mad_send_left_qp() - handle that a MAD is in no queue any more
 * @send: MAD that was in a queue
 *
 * Context: the port's lock is held.
 */
void mad_send_left_qp(struct mad_send *send)
{
	send->at_qp = false;
	mad_send_put(send);
}

/**
 * mad_send_give_up() - end waiting for a response and acknowledgments
 * @send: pending MAD
 * @status: status with which it ends, unless it has one already
 * @vendor_err: error code of the device or the peer
 *
 * Context: the port's lock is held.
 */
void mad_send_give_up(struct mad_send *send, enum ib_wc_status status, u32 vendor_err)
{
	bool waits = send->waits, unacked = send->unacked;

	if (send->status == IB_WC_SUCCESS) {
		send->status = status;
		send->vendor_err = vendor_err;
	}
	mad_timer_stop(send->agent->port, &send->timer);
	send->waits = false;
	send->unacked = false;
	mad_send_get(send);
	if (waits)
		mad_send_put(send);
	if (unacked)
		mad_send_put(send);
	mad_send_put(send);
}

/**
 * mad_send_cancel() - cancel a MAD
 * @send: pending MAD; it ends with IB_WC_WR_FLUSH_ERR, as soon as it is not in the QP's queue any
 *	more
 *
 * Context: the port's lock is held.
 */
void mad_send_cancel(struct mad_send *send)
{
	mad_send_get(send);
	mad_send_give_up(send, IB_WC_WR_FLUSH_ERR, 0);
	if (send->at_qp && mad_queue_withdraw(send))
		mad_send_left_qp(send);
	mad_send_put(send);
}

/**
 * mad_send_answered() - handle that the response to a MAD has arrived
 * @send: MAD that waits; the reference for waiting is now the caller's
 *
 * Context: the port's lock is held.
 */
void mad_send_answered(struct mad_send *send)
{
	lockdep_assert_held(&send->agent->port->lock);
	mad_timer_stop(send->agent->port, &send->timer);
	send->waits = false;
	/* The response is an acknowledgment too: all segments have arrived. */
	if (send->unacked) {
		send->unacked = false;
		mad_send_put(send);
	}
	if (send->at_qp && mad_queue_withdraw(send))
		mad_send_left_qp(send);
}

/* ---- matching ---- */

static bool same_gid(const union ib_gid *one, const union ib_gid *other)
{
	return !memcmp(one, other, sizeof(*one));
}

/**
 * mad_recv_gids() - get the GIDs of sender and receiver of a MAD
 * @port: port at which it has arrived
 * @recv: the MAD, which has a GRH, or an IP header in its place
 * @sgid: receives the sender's GID
 * @dgid: receives the receiver's GID
 *
 * Context: any.
 * Return: whether the GIDs are known.
 */
bool mad_recv_gids(struct mad_port *port, const struct mad_recv *recv, union ib_gid *sgid,
		   union ib_gid *dgid)
{
	const union rdma_network_hdr *hdr = (const union rdma_network_hdr *)&recv->grh;
	enum rdma_network_type type = RDMA_NETWORK_IB;

	if (rdma_cap_eth_ah(port->device, port->port_num))
		type = ib_get_rdma_header_version(hdr) == 4 ? RDMA_NETWORK_IPV4 :
							      RDMA_NETWORK_IPV6;
	return !ib_get_gids_from_rdma_hdr(hdr, type, sgid, dgid);
}

/*
 * A response may come from another address than the request was sent to, for instance of a manager
 * that has moved, but it is sent to the address from which the request came. Other packets that
 * belong to a MAD come from the address to which it was sent. Drivers can report the destination of
 * an address handle without sleeping.
 */
static bool address_fits(const struct mad_send *send, const struct mad_recv *recv)
{
	struct mad_port *port = send->agent->port;
	bool response = !ib_response_mad((const struct ib_mad_hdr *)send->mad) &&
			ib_response_mad(recv_hdr(recv));
	const struct ib_global_route *grh;
	union ib_gid sgid, dgid, own;
	struct rdma_ah_attr attr;
	u8 lmc;

	if (recv->local || send->local || !send->buf.ah ||
	    recv_hdr(recv)->mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
		return true;
	if (rdma_query_ah(send->buf.ah, &attr))
		return true;
	if (!!(rdma_ah_get_ah_flags(&attr) & IB_AH_GRH) != !!(recv->wc.wc_flags & IB_WC_GRH))
		return false;
	if (!(rdma_ah_get_ah_flags(&attr) & IB_AH_GRH)) {
		if (!response)
			return rdma_ah_get_dlid(&attr) == recv->wc.slid;
		return !ib_get_cached_lmc(port->device, port->port_num, &lmc) &&
		       !((rdma_ah_get_path_bits(&attr) ^ recv->wc.dlid_path_bits) &
			 (BIT(lmc) - 1));
	}
	grh = rdma_ah_read_grh(&attr);
	if (!mad_recv_gids(port, recv, &sgid, &dgid))
		return false;
	if (!response)
		return same_gid(&grh->dgid, &sgid);
	return !rdma_query_gid(port->device, port->port_num, grh->sgid_index, &own) &&
	       same_gid(&own, &dgid);
}

/**
 * mad_send_find() - find the pending MAD to which a received one belongs
 * @agent: the agent of both
 * @recv: the MAD that has arrived
 * @fits: a further condition on the pending MAD
 *
 * Context: the port's lock is held.
 * Return: the MAD, or NULL.
 */
struct mad_send *mad_send_find(struct mad_agent *agent, const struct mad_recv *recv,
			       bool (*fits)(const struct mad_send *send))
{
	const struct ib_mad_hdr *hdr = recv_hdr(recv);
	struct mad_key key = { agent, hdr->tid };
	struct mad_send *send;
	struct rb_node *node;

	lockdep_assert_held(&agent->port->lock);
	rb_for_each(node, &key, &agent->port->requests, compare_key) {
		send = rb_entry(node, struct mad_send, node);
		if (send->status == IB_WC_SUCCESS && fits(send) &&
		    send_hdr(send)->mgmt_class == hdr->mgmt_class && address_fits(send, recv))
			return send;
	}
	return NULL;
}
EXPORT_SYMBOL_IF_KUNIT(mad_send_find);

/* For mad_send_find(): is it a request without a response? */
bool mad_send_waits(const struct mad_send *send)
{
	return send->waits;
}

/* ---- completion ---- */

static struct mad_send *next_done(struct mad_port *port)
{
	struct mad_send *send;

	guard(spinlock_irqsave)(&port->lock);
	send = list_first_entry_or_null(&port->done, struct mad_send, queue);
	if (send)
		list_del_init(&send->queue);
	return send;
}

/* The handler frees the buffer with its reference to the agent, which must outlive the handler. */
static void call_handler(struct mad_send *send)
{
	struct mad_agent *agent = send->agent;
	struct ib_mad_send_wc wc = {
		.send_buf = &send->buf, .status = send->status, .vendor_err = send->vendor_err,
	};

	if (!send->internal) {
		refcount_inc(&agent->refs);
		trace_ib_mad_send_done_agent(agent);
		agent->agent.send_handler(&agent->agent, &wc);
		mad_agent_put(agent);
		return;
	}
	if (send->buf.ah)
		rdma_destroy_ah(send->buf.ah, RDMA_DESTROY_AH_SLEEPABLE);
	mad_send_free(send);
}

/**
 * mad_run_done() - report MADs that have ended to their agents
 * @port: port
 *
 * Context: may sleep; no lock is held.
 */
void mad_run_done(struct mad_port *port)
{
	struct mad_send *send;

	while ((send = next_done(port)))
		call_handler(send);
}

/**
 * mad_done_work() - run mad_run_done() as a work item
 * @work: the port's done_work
 */
void mad_done_work(struct work_struct *work)
{
	mad_run_done(container_of(work, struct mad_port, done_work));
}

/**
 * ib_modify_mad() - change the time-out of a MAD, or cancel it
 * @send_buf: MAD that was posted, and whose send handler has not been called yet
 * @timeout_ms: milliseconds from now, and for each retry; 0 cancels the MAD, and its send handler
 *	is called with IB_WC_WR_FLUSH_ERR, later
 *
 * Context: any.
 * Return: 0; -EINVAL if the MAD has ended already.
 */
int ib_modify_mad(struct ib_mad_send_buf *send_buf, u32 timeout_ms)
{
	struct mad_send *send = to_mad_send(send_buf);
	struct mad_port *port = send->agent->port;

	guard(spinlock_irqsave)(&port->lock);
	if (!send->refs || send->status != IB_WC_SUCCESS)
		return -EINVAL;
	send_buf->timeout_ms = timeout_ms;
	if (!timeout_ms) {
		mad_send_cancel(send);
		queue_work(port->wq, &port->done_work);
		return 0;
	}
	send->timeout_ms = timeout_ms;
	if (send->waits && !send->unacked && !send->at_qp)
		mad_timer_arm(port, &send->timer, timeout_ms);
	return 0;
}
EXPORT_SYMBOL(ib_modify_mad);

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Connections by which peers send to an interface. All of them receive into one shared queue. A
 * QP that ends must first complete the receives that it has taken: it is brought into the error
 * state; its last-WQE event says that it takes no more; and when a send that is posted after that
 * has completed, all completions of the QP have been seen.
 */
#include <kunit/visibility.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "cm.h"
#include "ud.h"

/* How long the device may take to flush a connection. */
#define FLUSH_TIME	(2 * HZ)

static void drained(struct ib_cq *cq, struct ib_wc *wc)
{
	complete(&container_of(wc->wr_cqe, struct ipoib_peer, drain)->drained);
}

/* Context: the interface's lock is held. */
static void end_locked(struct ipoib_peer *peer)
{
	struct ipoib_cm *cm = peer->cm;

	if (peer->ending)
		return;
	peer->ending = true;
	cm->ending++;
	list_move_tail(&peer->entry, &cm->ended);
	queue_work(cm->ipoib->wq, &cm->reap);
}

static void end(struct ipoib_peer *peer)
{
	guard(spinlock_irqsave)(&peer->cm->ipoib->lock);
	end_locked(peer);
}

static void hear_qp(struct ib_event *event, void *context)
{
	struct ipoib_peer *peer = context;

	if (event->event == IB_EVENT_QP_LAST_WQE_REACHED)
		complete(&peer->last);
}

/* ---- a peer connects ---- */

static int create_qp(struct ipoib_peer *peer)
{
	struct ipoib_dev *ipoib = peer->cm->ipoib;
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC,
		.event_handler = hear_qp,
		.qp_context = peer,
		.sq_sig_type = IB_SIGNAL_ALL_WR,
		/* One queue for both, so that the last request ends behind all receives. */
		.send_cq = ipoib->rx_cq.cq,
		.recv_cq = ipoib->rx_cq.cq,
		.srq = peer->cm->srq,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
	};

	peer->qp = ib_create_qp(ipoib->pd, &init);
	return PTR_ERR_OR_ZERO(peer->qp);
}

static int change_state(struct ipoib_peer *peer, enum ib_qp_state state, u32 psn)
{
	struct ib_qp_attr attr = { .qp_state = state };
	int mask, ret;

	ret = ib_cm_init_qp_attr(peer->id, &attr, &mask);
	if (ret)
		return ret;
	if (state == IB_QPS_RTR)
		attr.rq_psn = psn;
	return ib_modify_qp(peer->qp, &attr, mask);
}

/* It sends nothing, but the send that drains it needs a QP that has been in RTS. */
static int bring_up(struct ipoib_peer *peer, u32 psn)
{
	return change_state(peer, IB_QPS_INIT, psn) ?: change_state(peer, IB_QPS_RTR, psn) ?:
	       change_state(peer, IB_QPS_RTS, psn);
}

static int reply(struct ipoib_peer *peer, const struct ib_cm_req_event_param *req, u32 psn)
{
	struct ipoib_dev *ipoib = peer->cm->ipoib;
	struct ipoib_cm_private own = {
		.qpn = cpu_to_be32(ipoib->qp->qp_num),
		.mtu = cpu_to_be32(peer->cm->mtu + IPOIB_ENCAP_LEN),
	};
	struct ib_cm_rep_param rep = {
		.qp_num = peer->qp->qp_num,
		.starting_psn = psn,
		.private_data = &own,
		.private_data_len = sizeof(own),
		.rnr_retry_count = req->rnr_retry_count,
		.srq = 1,
	};

	return ib_send_cm_rep(peer->id, &rep);
}

static struct ipoib_peer *oldest(struct ipoib_cm *cm)
{
	struct ipoib_peer *peer, *best = NULL;

	list_for_each_entry(peer, &cm->peers, entry)
		if (!best || time_before(READ_ONCE(peer->used), READ_ONCE(best->used)))
			best = peer;
	return best;
}

/**
 * ipoib_peer_enter() - add a peer to the list
 * @peer: the peer
 *
 * If there are too many, the one by whose connection nothing has come for longest has to go, so
 * that nobody can keep others away by connecting. Those that are ending are limited, too.
 *
 * Context: any.
 * Return: whether it may connect.
 */
VISIBLE_IF_KUNIT bool ipoib_peer_enter(struct ipoib_peer *peer)
{
	struct ipoib_cm *cm = peer->cm;

	guard(spinlock_irqsave)(&cm->ipoib->lock);
	if (cm->closing || cm->count >= IPOIB_MAX_PEERS + IPOIB_MAX_ENDING)
		return false;
	if (cm->count - cm->ending >= IPOIB_MAX_PEERS)
		end_locked(oldest(cm));
	cm->count++;
	list_add_tail(&peer->entry, &cm->peers);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_peer_enter);

static struct ipoib_peer *create(struct ipoib_cm *cm, struct ib_cm_id *id)
{
	struct ipoib_peer *peer = kzalloc(sizeof(*peer), GFP_KERNEL);

	if (!peer)
		return NULL;
	peer->cm = cm;
	peer->id = id;
	peer->used = jiffies;
	peer->drain.done = drained;
	init_completion(&peer->last);
	init_completion(&peer->drained);
	if (!create_qp(peer))
		return peer;
	kfree(peer);
	return NULL;
}

/* If this does not return 0, the connection manager destroys the id, and the peer is gone. */
static int take(struct ipoib_cm *cm, struct ib_cm_id *id, const struct ib_cm_event *event)
{
	u32 psn = get_random_u32() & 0xffffff;
	struct ipoib_peer *peer;
	int ret;

	ret = ipoib_cm_fill(cm);
	if (ret)
		return ret;
	peer = create(cm, id);
	if (!peer)
		return -ENOMEM;
	id->context = peer;
	ret = bring_up(peer, psn);
	if (!ret && !ipoib_peer_enter(peer))
		ret = -ENOSPC;
	if (ret) {
		ib_send_cm_rej(id, IB_CM_REJ_NO_QP, NULL, 0, NULL, 0);
		ib_destroy_qp(peer->qp);
		kfree(peer);
		return ret;
	}
	if (reply(peer, &event->param.req_rcvd, psn))
		end(peer);
	return 0;
}

static int handle_event(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	switch (event->event) {
	case IB_CM_REQ_RECEIVED:
		return take(id->context, id, event);
	case IB_CM_DREQ_RECEIVED:
		ib_send_cm_drep(id, NULL, 0);
		fallthrough;
	case IB_CM_REJ_RECEIVED:
	case IB_CM_REP_ERROR:
	case IB_CM_TIMEWAIT_EXIT:
		end(id->context);
		return 0;
	default:
		return 0;
	}
}

/* ---- a connection ends ---- */

static void flush(struct ipoib_peer *peer)
{
	struct ib_send_wr wr = { .wr_cqe = &peer->drain, .opcode = IB_WR_SEND,
				 .send_flags = IB_SEND_SIGNALED };
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	if (ib_modify_qp(peer->qp, &attr, IB_QP_STATE))
		return;
	wait_for_completion_timeout(&peer->last, FLUSH_TIME);
	if (!ib_post_send(peer->qp, &wr, NULL) &&
	    !wait_for_completion_timeout(&peer->drained, FLUSH_TIME))
		netdev_warn(peer->cm->ipoib->netdev, "the QP of a peer does not end\n");
}

static struct ipoib_peer *next(struct ipoib_cm *cm)
{
	struct ipoib_peer *peer;

	guard(spinlock_irq)(&cm->ipoib->lock);
	peer = list_first_entry_or_null(&cm->ended, struct ipoib_peer, entry);
	if (peer) {
		list_del(&peer->entry);
		cm->count--;
		cm->ending--;
	}
	return peer;
}

static void reap(struct work_struct *work)
{
	struct ipoib_cm *cm = container_of(work, struct ipoib_cm, reap);
	struct ipoib_peer *peer;

	while ((peer = next(cm))) {
		ib_destroy_cm_id(peer->id);
		flush(peer);
		ib_destroy_qp(peer->qp);
		kfree(peer);
	}
}

/* End the connections by which nothing has come since a time, in jiffies, or all. */
static void end_many(struct ipoib_cm *cm, unsigned long since, bool all)
{
	struct ipoib_peer *peer, *after;

	guard(spinlock_irqsave)(&cm->ipoib->lock);
	list_for_each_entry_safe(peer, after, &cm->peers, entry)
		if (all || time_before(READ_ONCE(peer->used), since))
			end_locked(peer);
}

/**
 * ipoib_peer_age() - give connections up by which nothing comes
 * @cm: interface's connections
 * @idle: for how long, in jiffies
 *
 * Context: any.
 */
void ipoib_peer_age(struct ipoib_cm *cm, unsigned long idle)
{
	end_many(cm, jiffies - idle, false);
}

/**
 * ipoib_peer_init() - begin without connections
 * @cm: interface's connections
 *
 * Context: any.
 */
void ipoib_peer_init(struct ipoib_cm *cm)
{
	INIT_LIST_HEAD(&cm->peers);
	INIT_LIST_HEAD(&cm->ended);
	INIT_WORK(&cm->reap, reap);
}

/**
 * ipoib_peer_listen() - have peers connect
 * @cm: interface's connections
 *
 * Context: RTNL is held.
 * Return: 0 or what the connection manager answers.
 */
int ipoib_peer_listen(struct ipoib_cm *cm)
{
	struct ipoib_dev *ipoib = cm->ipoib;
	int ret;

	cm->closing = false;
	cm->listen = ib_create_cm_id(ipoib->ca, handle_event, cm);
	if (IS_ERR(cm->listen)) {
		ret = PTR_ERR(cm->listen);
		cm->listen = NULL;
		return ret;
	}
	ret = ib_cm_listen(cm->listen, ipoib_cm_service(ipoib->qp->qp_num));
	if (!ret)
		return 0;
	ib_destroy_cm_id(cm->listen);
	cm->listen = NULL;
	return ret;
}

/**
 * ipoib_peer_stop() - end all connections, and wait until they are gone
 * @cm: interface's connections
 *
 * Context: RTNL is held.
 */
void ipoib_peer_stop(struct ipoib_cm *cm)
{
	if (!cm->listen)
		return;
	ib_destroy_cm_id(cm->listen);
	cm->listen = NULL;
	/* A request that came before may still be served. */
	scoped_guard(spinlock_irq, &cm->ipoib->lock)
		cm->closing = true;
	end_many(cm, 0, true);
	flush_work(&cm->reap);
}

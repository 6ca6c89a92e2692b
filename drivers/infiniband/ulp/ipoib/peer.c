// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Connections by which peers send to an interface. All of them receive into one shared queue, if
 * the device has one. A QP that ends must first complete the receives that it has taken: it is
 * brought into the error state; its last-WQE event says that it takes no more, or the last of its
 * own receives has come back; and when a send that is posted after that has completed, all
 * completions of the QP have been seen.
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

/**
 * ipoib_peer_dry() - a QP has none of its own receives any more: its connection ends
 * @peer: the connection
 *
 * Context: NAPI poll.
 */
VISIBLE_IF_KUNIT void ipoib_peer_dry(struct ipoib_peer *peer)
{
	/* Until the lock is released nobody can free a peer that was not ending before. */
	guard(spinlock_irqsave)(&peer->cm->ipoib->lock);
	/* A device that dies may flush a QP whose peer has not entered yet. */
	if (!list_empty(&peer->entry))
		end_locked(peer);
	complete(&peer->last);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_peer_dry);

/* ---- a peer connects ---- */

static int create_qp(struct ipoib_peer *peer)
{
	struct ipoib_cm *cm = peer->cm;
	struct ipoib_dev *ipoib = cm->ipoib;
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC,
		.event_handler = hear_qp,
		.qp_context = peer,
		.sq_sig_type = IB_SIGNAL_ALL_WR,
		/* One queue for both, so that the last request ends behind all receives. */
		.send_cq = ipoib->rx_cq.cq,
		.recv_cq = ipoib->rx_cq.cq,
		.srq = cm->srq,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
	};

	if (!cm->srq) {
		init.cap.max_recv_wr = ipoib_recvq_size;
		init.cap.max_recv_sge = cm->pages;
	}
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
	int ret = change_state(peer, IB_QPS_INIT, psn);

	if (!ret && !peer->cm->srq)
		ret = ipoib_cm_fill_peer(peer);
	return ret ?: change_state(peer, IB_QPS_RTR, psn) ?: change_state(peer, IB_QPS_RTS, psn);
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
		.srq = !!peer->cm->srq,
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

/*
 * May one more peer connect? If there are too many, the one by whose connection nothing has come
 * for longest has to go, so that nobody can keep others away by connecting. Connections that are
 * ending are limited, too: as long as there are that many, a new one is refused, and may ask
 * again. The interface's lock is held.
 */
static bool room(struct ipoib_cm *cm)
{
	if (cm->closing)
		return false;
	if (cm->count - cm->ending >= cm->max_peers && !list_empty(&cm->peers) &&
	    cm->ending < max(cm->extra_peers, 1U))
		end_locked(oldest(cm));
	return cm->count < cm->max_peers + cm->extra_peers;
}

static bool has_room(struct ipoib_cm *cm)
{
	guard(spinlock_irqsave)(&cm->ipoib->lock);
	return room(cm);
}

/**
 * ipoib_peer_enter() - add a peer to the list
 * @peer: the peer
 *
 * Context: any.
 * Return: whether it may connect.
 */
VISIBLE_IF_KUNIT bool ipoib_peer_enter(struct ipoib_peer *peer)
{
	struct ipoib_cm *cm = peer->cm;

	guard(spinlock_irqsave)(&cm->ipoib->lock);
	if (!room(cm))
		return false;
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
	peer->dry = ipoib_peer_dry;
	peer->drain.done = drained;
	INIT_LIST_HEAD(&peer->entry);
	init_completion(&peer->last);
	init_completion(&peer->drained);
	if (!create_qp(peer))
		return peer;
	kfree(peer);
	return NULL;
}

/* @seen: all of its completions have been polled; otherwise NAPI may still be looking at one. */
static void destroy(struct ipoib_peer *peer, bool seen)
{
	ib_destroy_qp(peer->qp);
	if (!seen)
		synchronize_net();
	ipoib_cm_empty_peer(peer);
	kfree(peer);
}

/* If this does not return 0, the connection manager destroys the id, and the peer is gone. */
static int take(struct ipoib_cm *cm, struct ib_cm_id *id, const struct ib_cm_event *event)
{
	u32 psn = get_random_u32() & 0xffffff;
	struct ipoib_peer *peer;
	int ret;

	/* Before there is memory for it */
	if (!has_room(cm)) {
		ib_send_cm_rej(id, IB_CM_REJ_NO_QP, NULL, 0, NULL, 0);
		return -ENOSPC;
	}
	ret = cm->srq ? ipoib_cm_fill(cm) : 0;
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
		destroy(peer, false);
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

/* Have the QP's requests end. Returns whether all completions have been seen. */
static bool flush(struct ipoib_peer *peer)
{
	struct ib_send_wr wr = { .wr_cqe = &peer->drain, .opcode = IB_WR_SEND,
				 .send_flags = IB_SEND_SIGNALED };
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	bool last;

	if (ib_modify_qp(peer->qp, &attr, IB_QP_STATE))
		return false;
	last = wait_for_completion_timeout(&peer->last, FLUSH_TIME);
	if (ib_post_send(peer->qp, &wr, NULL))
		return false;
	if (wait_for_completion_timeout(&peer->drained, FLUSH_TIME))
		return last;
	netdev_warn(peer->cm->ipoib->netdev, "the QP of a peer does not end\n");
	return false;
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
		destroy(peer, flush(peer));
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

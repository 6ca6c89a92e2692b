// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Connections by which an interface sends. A sender that finds none creates one, and its packets
 * wait; the connections' work establishes it, and destroys it after an error, when nobody has used
 * it for some time, or when the interface goes down.
 */
#include <kunit/static_stub.h>
#include <kunit/visibility.h>
#include <linux/slab.h>

#include "cm.h"
#include "path.h"
#include "ud.h"

/* Buckets of the table, as a logarithm. */
#define CONN_BITS	7

/* How long the device may take to flush a QP. */
#define FLUSH_TIME	(5 * HZ)

/* Time-outs of the connection manager's messages, 4.3 s, and how often they are repeated. */
#define CM_TIMEOUT	20
#define CM_RETRIES	15

static struct ipoib_conn *conn_of(struct ipoib_node *node)
{
	return container_of(node, struct ipoib_conn, node);
}

static struct ipoib_conn *find(struct ipoib_cm *cm, const u8 *addr)
{
	struct ipoib_node *node = ipoib_table_find(&cm->conns, addr);

	return node ? conn_of(node) : NULL;
}

/* Context: the interface's lock is held. */
static void kill(struct ipoib_conn *conn)
{
	struct ipoib_cm *cm = conn->cm;

	if (conn->state == IPOIB_CONN_DEAD)
		return;
	WRITE_ONCE(conn->state, IPOIB_CONN_DEAD);
	ipoib_table_del(&cm->conns, &conn->node);
	ipoib_drop_queue(cm->ipoib, &conn->queue);
	list_move_tail(&conn->entry, &cm->todo);
	queue_work(cm->ipoib->wq, &cm->work);
}

static void kill_locked(struct ipoib_conn *conn)
{
	guard(spinlock_irqsave)(&conn->cm->ipoib->lock);
	kill(conn);
}

/* ---- establishing ---- */

static void sent(struct ib_cq *cq, struct ib_wc *wc)
{
	struct ipoib_cq *queue = cq->cq_context;
	struct ipoib_dev *ipoib = container_of(queue, struct ipoib_dev, tx_cq);
	struct ipoib_conn *conn = wc->qp->qp_context;

	if (wc->status != IB_WC_SUCCESS && wc->status != IB_WC_WR_FLUSH_ERR) {
		ipoib_dbg(ipoib, "a connection failed: %s\n", ib_wc_status_msg(wc->status));
		kill_locked(conn);
	}
	ipoib_tx_finish(ipoib, &conn->ring, container_of(wc->wr_cqe, struct ipoib_tx_buf, cqe), wc);
}

/**
 * ipoib_conn_create_qp() - make a connection's QP
 * @conn: the connection; its @qp is set, if there is one
 *
 * Context: may sleep.
 * Return: 0 or what the device answers.
 */
VISIBLE_IF_KUNIT int ipoib_conn_create_qp(struct ipoib_conn *conn)
{
	struct ipoib_dev *ipoib = conn->cm->ipoib;
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC,
		.qp_context = conn,
		.sq_sig_type = IB_SIGNAL_ALL_WR,
		.send_cq = ipoib->tx_cq.cq,
		.recv_cq = ipoib->rx_cq.cq,
		/* Nothing is received by it. */
		.cap = { .max_send_wr = ipoib_sendq_size, .max_send_sge = ipoib->max_sge },
	};
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = ipoib->port,
		.pkey_index = ipoib->pkey_index,
	};

	KUNIT_STATIC_STUB_REDIRECT(ipoib_conn_create_qp, conn);
	conn->qp = ib_create_qp(ipoib->pd, &init);
	if (IS_ERR(conn->qp)) {
		int ret = PTR_ERR(conn->qp);

		conn->qp = NULL;
		return ret;
	}
	return ib_modify_qp(conn->qp, &attr, IB_QP_STATE | IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX |
			    IB_QP_PORT);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_conn_create_qp);

static int change_state(struct ipoib_conn *conn, enum ib_qp_state state)
{
	struct ib_qp_attr attr = { .qp_state = state };
	int mask, ret;

	ret = ib_cm_init_qp_attr(conn->id, &attr, &mask);
	return ret ?: ib_modify_qp(conn->qp, &attr, mask);
}

static int replied(struct ipoib_conn *conn, const struct ib_cm_event *event)
{
	const struct ipoib_cm_private *peer = event->private_data;
	struct ipoib_dev *ipoib = conn->cm->ipoib;
	u32 mtu = be32_to_cpu(peer->mtu);
	struct sk_buff_head ready;
	int ret;

	if (mtu <= IPOIB_ENCAP_LEN)
		return -EINVAL;
	ret = change_state(conn, IB_QPS_RTR) ?: change_state(conn, IB_QPS_RTS);
	if (ret)
		return ret;
	__skb_queue_head_init(&ready);
	scoped_guard(spinlock_irqsave, &ipoib->lock) {
		if (conn->state != IPOIB_CONN_ASKED)
			return -ECANCELED;
		conn->mtu = mtu;
		/* A sender that sees this state may use the QP. */
		smp_store_release(&conn->state, IPOIB_CONN_UP);
		skb_queue_splice_init(&conn->queue, &ready);
	}
	ipoib_resend(ipoib, &ready);
	return ib_send_cm_rtu(conn->id, NULL, 0);
}

/* The id is destroyed by the work. */
static int handle_event(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	struct ipoib_conn *conn = id->context;

	switch (event->event) {
	case IB_CM_REP_RECEIVED:
		if (!replied(conn, event))
			return 0;
		ib_send_cm_rej(id, IB_CM_REJ_CONSUMER_DEFINED, NULL, 0, NULL, 0);
		break;
	case IB_CM_DREQ_RECEIVED:
		ib_send_cm_drep(id, NULL, 0);
		break;
	case IB_CM_REQ_ERROR:
	case IB_CM_REJ_RECEIVED:
	case IB_CM_TIMEWAIT_EXIT:
		break;
	default:
		return 0;
	}
	ipoib_dbg(conn->cm->ipoib, "a connection ends by event %d\n", event->event);
	kill_locked(conn);
	return 0;
}

static int request(struct ipoib_conn *conn)
{
	struct ipoib_dev *ipoib = conn->cm->ipoib;
	struct ipoib_cm_private own = {
		.qpn = cpu_to_be32(ipoib->qp->qp_num),
		.mtu = cpu_to_be32(conn->cm->mtu + IPOIB_ENCAP_LEN),
	};
	/* RFC 4755 wants no retries: a slow receiver loses packets, as with datagrams. */
	struct ib_cm_req_param req = {
		.primary_path = &conn->path,
		.service_id = ipoib_cm_service(ipoib_addr_qpn(conn->node.key)),
		.qp_num = conn->qp->qp_num,
		.qp_type = IB_QPT_RC,
		.private_data = &own,
		.private_data_len = sizeof(own),
		.responder_resources = 4,
		.remote_cm_response_timeout = CM_TIMEOUT,
		.local_cm_response_timeout = CM_TIMEOUT,
		.max_cm_retries = CM_RETRIES,
	};

	return ib_send_cm_req(conn->id, &req);
}

static int establish(struct ipoib_conn *conn)
{
	struct ipoib_dev *ipoib = conn->cm->ipoib;
	int ret = ipoib_tx_ring_init(&conn->ring);

	if (ret)
		return ret;
	ret = ipoib_conn_create_qp(conn);
	if (ret)
		return ret;
	conn->id = ib_create_cm_id(ipoib->ca, handle_event, conn);
	if (IS_ERR(conn->id)) {
		ret = PTR_ERR(conn->id);
		conn->id = NULL;
		return ret;
	}
	return request(conn);
}

static bool all_sent(struct ipoib_conn *conn)
{
	return READ_ONCE(conn->ring.tail) == READ_ONCE(conn->ring.head);
}

static void destroy(struct ipoib_conn *conn)
{
	struct ipoib_dev *ipoib = conn->cm->ipoib;
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	if (conn->id)
		ib_destroy_cm_id(conn->id);
	if (conn->qp) {
		ib_modify_qp(conn->qp, &attr, IB_QP_STATE);
		ipoib_cq_await_sends(ipoib);
		if (!wait_event_timeout(ipoib->idle, all_sent(conn), FLUSH_TIME))
			netdev_warn(ipoib->netdev, "the device does not flush a connection\n");
		ib_destroy_qp(conn->qp);
	}
	if (conn->ring.bufs)
		ipoib_tx_ring_drain(ipoib, &conn->ring);
	kvfree(conn->ring.bufs);
	kfree_rcu(conn, rcu);
}

/**
 * ipoib_conn_wait_for_senders() - wait until nobody uses connections that are in no table any more
 *
 * A sender that found one before has posted its packet then.
 *
 * Context: may sleep.
 */
VISIBLE_IF_KUNIT void ipoib_conn_wait_for_senders(void)
{
	KUNIT_STATIC_STUB_REDIRECT(ipoib_conn_wait_for_senders);
	synchronize_net();
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_conn_wait_for_senders);

static void take_dead(struct ipoib_cm *cm, struct list_head *dead)
{
	struct ipoib_conn *conn, *after;

	guard(spinlock_irq)(&cm->ipoib->lock);
	list_for_each_entry_safe(conn, after, &cm->todo, entry)
		if (conn->state == IPOIB_CONN_DEAD)
			list_move_tail(&conn->entry, dead);
}

/* There may be many: one wait serves all of them. */
static void destroy_dead(struct ipoib_cm *cm)
{
	struct ipoib_conn *conn, *after;
	LIST_HEAD(dead);

	take_dead(cm, &dead);
	if (list_empty(&dead))
		return;
	ipoib_conn_wait_for_senders();
	list_for_each_entry_safe(conn, after, &dead, entry)
		destroy(conn);
}

/* The next one that is to be established; one that has died meanwhile brings the work again. */
static struct ipoib_conn *next(struct ipoib_cm *cm)
{
	struct ipoib_conn *conn;

	guard(spinlock_irq)(&cm->ipoib->lock);
	conn = list_first_entry_or_null(&cm->todo, struct ipoib_conn, entry);
	if (!conn || conn->state == IPOIB_CONN_DEAD)
		return NULL;
	list_del_init(&conn->entry);
	WRITE_ONCE(conn->state, IPOIB_CONN_ASKED);
	return conn;
}

static void work_on_conns(struct work_struct *work)
{
	struct ipoib_cm *cm = container_of(work, struct ipoib_cm, work);
	struct ipoib_conn *conn;

	destroy_dead(cm);
	while ((conn = next(cm)))
		if (establish(conn))
			kill_locked(conn);
}

/* ---- sending ---- */

static void older(struct ipoib_node *node, void *context)
{
	struct ipoib_conn **best = context, *conn = conn_of(node);

	if (!*best || time_before(conn->used, (*best)->used))
		*best = conn;
}

/* Context: the interface's lock is held. */
static struct ipoib_conn *create(struct ipoib_cm *cm, const u8 *addr)
{
	struct ipoib_conn *conn, *oldest = NULL;

	if (cm->conns.count >= cm->conns.limit) {
		ipoib_table_each(&cm->conns, older, &oldest);
		kill(oldest);
	}
	conn = kzalloc(sizeof(*conn), GFP_ATOMIC);
	if (!conn)
		return NULL;
	conn->cm = cm;
	conn->used = jiffies;
	__skb_queue_head_init(&conn->queue);
	if (ipoib_table_add(&cm->conns, &conn->node, addr)) {
		kfree(conn);
		return NULL;
	}
	list_add_tail(&conn->entry, &cm->todo);
	queue_work(cm->ipoib->wq, &cm->work);
	return conn;
}

static void send(struct ipoib_conn *conn, struct sk_buff *skb)
{
	struct ipoib_dev *ipoib = conn->cm->ipoib;
	struct ipoib_tx_buf *buf = &conn->ring.bufs[conn->ring.head & (ipoib_sendq_size - 1)];
	struct ib_send_wr wr = {
		.wr_cqe = &buf->cqe,
		.sg_list = ipoib->sge,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};
	unsigned int num_sge;

	WRITE_ONCE(conn->used, jiffies);
	skb_pull(skb, IPOIB_ADDR_LEN);
	if (skb->len > conn->mtu) {
		ipoib_too_long(ipoib, skb, conn->mtu - IPOIB_ENCAP_LEN);
		return;
	}
	if (!ipoib_tx_prepare(ipoib, buf, skb, &num_sge))
		return;
	skb_dst_drop(skb);
	buf->cqe.done = sent;
	wr.num_sge = num_sge;
	ipoib_tx_posted(ipoib, &conn->ring, skb);
	if (ib_post_send(conn->qp, &wr, NULL)) {
		ipoib_tx_undo(ipoib, &conn->ring, buf);
		kill_locked(conn);
	}
}

/* Have the packet wait for its connection, which is begun if there is none. */
static void want(struct ipoib_cm *cm, struct sk_buff *skb, const u8 *addr,
		 const struct sa_path_rec *path)
{
	struct ipoib_dev *ipoib = cm->ipoib;
	struct ipoib_conn *conn;

	scoped_guard(spinlock_irqsave, &ipoib->lock) {
		conn = find(cm, addr);
		if (!conn) {
			conn = create(cm, addr);
			if (conn)
				conn->path = *path;
		}
		if (conn && conn->state != IPOIB_CONN_UP) {
			ipoib_enqueue(ipoib, &conn->queue, skb, IPOIB_CONN_QUEUE);
			return;
		}
	}
	/* It has come up since the caller looked: nothing takes packets from its queue any more. */
	if (conn)
		send(conn, skb);
	else
		ipoib_drop(ipoib, skb);
}

/**
 * ipoib_cm_send() - send a packet by a connection
 * @ipoib: interface in connected mode
 * @skb: packet, from the address in front of it on
 * @addr: address of the receiver, who takes connections
 *
 * Context: transmit queue's lock.
 */
void ipoib_cm_send(struct ipoib_dev *ipoib, struct sk_buff *skb, const u8 *addr)
{
	struct ipoib_cm *cm = ipoib->cm;
	struct ipoib_conn *conn = find(cm, addr);
	struct sa_path_rec path;

	/* Pairs with the release in replied(). */
	if (conn && smp_load_acquire(&conn->state) == IPOIB_CONN_UP) {
		send(conn, skb);
		return;
	}
	if (!ipoib_path_ah(ipoib, ipoib_addr_gid(addr), skb))
		return;
	if (ipoib_path_rec(ipoib, ipoib_addr_gid(addr), &path))
		want(cm, skb, addr, &path);
	else
		ipoib_drop(ipoib, skb);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_cm_send);

/* ---- connections end ---- */

static void kill_any(struct ipoib_node *node, void *context)
{
	kill(conn_of(node));
}

/* Give a connection up that was not used since a time, in jiffies. */
static void kill_idle(struct ipoib_node *node, void *context)
{
	struct ipoib_conn *conn = conn_of(node);
	unsigned long *since = context;

	if (conn->state == IPOIB_CONN_UP && time_before(conn->used, *since))
		kill(conn);
}

/* Give a connection up that its peer has not answered yet. */
static void kill_asked(struct ipoib_node *node, void *context)
{
	struct ipoib_conn *conn = conn_of(node);

	if (conn->state != IPOIB_CONN_UP)
		kill(conn);
}

/**
 * ipoib_conn_renew() - give connections up that are not established yet
 * @ipoib: interface
 *
 * The connection manager repeats their requests for more than a minute, by the path that was known
 * when they began.
 *
 * Context: any.
 */
void ipoib_conn_renew(struct ipoib_dev *ipoib)
{
	guard(spinlock_irqsave)(&ipoib->lock);
	ipoib_table_each(&ipoib->cm->conns, kill_asked, NULL);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_conn_renew);

/**
 * ipoib_conn_flush() - give all connections up
 * @ipoib: interface
 *
 * Context: any.
 */
void ipoib_conn_flush(struct ipoib_dev *ipoib)
{
	guard(spinlock_irqsave)(&ipoib->lock);
	ipoib_table_each(&ipoib->cm->conns, kill_any, NULL);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_conn_flush);

/**
 * ipoib_conn_age() - give connections up that nobody uses
 * @cm: interface's connections
 * @idle: how long they have not been used, in jiffies
 *
 * Context: any.
 */
void ipoib_conn_age(struct ipoib_cm *cm, unsigned long idle)
{
	unsigned long since = jiffies - idle;

	guard(spinlock_irqsave)(&cm->ipoib->lock);
	ipoib_table_each(&cm->conns, kill_idle, &since);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_conn_age);

/**
 * ipoib_conn_init() - begin without connections
 * @cm: interface's connections
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int ipoib_conn_init(struct ipoib_cm *cm)
{
	INIT_LIST_HEAD(&cm->todo);
	INIT_WORK(&cm->work, work_on_conns);
	return ipoib_table_init(&cm->conns, CONN_BITS, IPOIB_ADDR_LEN, IPOIB_MAX_CONNS);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_conn_init);

/**
 * ipoib_conn_stop() - give all connections up, and wait until they are gone
 * @cm: connections of an interface that does not send any more
 *
 * Context: may sleep.
 */
void ipoib_conn_stop(struct ipoib_cm *cm)
{
	ipoib_conn_flush(cm->ipoib);
	flush_work(&cm->work);
}

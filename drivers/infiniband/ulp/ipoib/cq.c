// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion queues that NAPI polls. Each completion names its handler, ib_cqe.done.
 *
 * Receives cause an event once their queue has been polled until it was empty. Sends cause none
 * while an interface sends little: what arrives, the next sends or a timer has their queue polled
 * soon enough, and who asks and waits for the answer is interrupted once and not twice. They do
 * cause events, until none is under way any more, when somebody waits for them: the stack, as all
 * places are taken; a socket whose buffer is half full; who destroys a QP; and the timer, if it has
 * found one that was not sent.
 */
#include <kunit/visibility.h>

#include "ud.h"

/* So many sends under way have their queue polled. */
#define REAP_BATCH	16

/* How long completions of sends may lie, in jiffies */
#define REAP_TIME	1

/*
 * Ends when it gets less than it asks for.  If that was flushed, it asks once more: a device that
 * has failed waits until its consumers have found nothing, or have armed.
 */
static int take(struct ipoib_cq *queue, int budget)
{
	int done = 0, asked, got;
	bool flushed;

	do {
		asked = min(IPOIB_POLL_BATCH, budget - done);
		got = max(ib_poll_cq(queue->cq, asked, queue->wc), 0);
		for (int i = 0; i < got; i++)
			queue->wc[i].wr_cqe->done(queue->cq, &queue->wc[i]);
		done += got;
		flushed = got && queue->wc[got - 1].status;
	} while ((got == asked || flushed) && done < budget);
	return done;
}

static void arm(struct ipoib_cq *queue)
{
	/* What came before the queue was armed causes no event. */
	if (ib_req_notify_cq(queue->cq, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS) > 0)
		napi_schedule(&queue->napi);
}

static u32 under_way(const struct ipoib_dev *ipoib)
{
	return ipoib_ring_used(READ_ONCE(ipoib->tx_head), atomic_read(&ipoib->tx_tail));
}

/**
 * ipoib_cq_poll_rx() - poll completions of receives
 * @napi: that of ipoib_dev.rx_cq
 * @budget: how many at most
 *
 * Context: NAPI poll.
 * Return: how many there were.
 */
VISIBLE_IF_KUNIT int ipoib_cq_poll_rx(struct napi_struct *napi, int budget)
{
	struct ipoib_cq *queue = container_of(napi, struct ipoib_cq, napi);
	struct ipoib_dev *ipoib = container_of(queue, struct ipoib_dev, rx_cq);
	int done = take(queue, budget);

	/* What arrives may answer what was sent, and its sender may wait to send more. */
	if (done && under_way(ipoib))
		napi_schedule(&ipoib->tx_cq.napi);
	if (done < budget && napi_complete_done(napi, done))
		arm(queue);
	return done;
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_cq_poll_rx);

/**
 * ipoib_cq_poll_tx() - poll completions of sends
 * @napi: that of ipoib_dev.tx_cq
 * @budget: how many at most
 *
 * Context: NAPI poll.
 * Return: how many there were.
 */
VISIBLE_IF_KUNIT int ipoib_cq_poll_tx(struct napi_struct *napi, int budget)
{
	struct ipoib_cq *queue = container_of(napi, struct ipoib_cq, napi);
	struct ipoib_dev *ipoib = container_of(queue, struct ipoib_dev, tx_cq);
	/* Who sets it has counted a send before, and schedules another poll afterwards. */
	bool awaited = test_and_clear_bit(IPOIB_TX_AWAITED, &ipoib->flags);
	int done = take(queue, budget);

	if (awaited && under_way(ipoib))
		set_bit(IPOIB_TX_AWAITED, &ipoib->flags);
	if (done < budget && napi_complete_done(napi, done) && ipoib_is(ipoib, IPOIB_TX_AWAITED))
		arm(queue);
	return done;
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_cq_poll_tx);

/* Softirqs are disabled, so that the poll follows at once. */
static void await(struct ipoib_dev *ipoib)
{
	set_bit(IPOIB_TX_AWAITED, &ipoib->flags);
	napi_schedule(&ipoib->tx_cq.napi);
}

static void lie_too_long(struct timer_list *timer)
{
	struct ipoib_dev *ipoib = container_of(timer, struct ipoib_dev, tx_timer);

	/* Either who sends now sees that the timer has run out, or this sees the send. */
	smp_mb();
	if (under_way(ipoib))
		await(ipoib);
}

/**
 * ipoib_cq_posting() - see to it that the completion of a send will be polled
 * @ipoib: interface, which has counted the send already
 * @urgent: somebody waits for it
 *
 * Context: transmit queue's lock.
 */
void ipoib_cq_posting(struct ipoib_dev *ipoib, bool urgent)
{
	/* Either a poll that goes on sees the send, or this sees what is left when it ends. */
	smp_mb();
	if (ipoib_is(ipoib, IPOIB_TX_AWAITED))
		return;
	if (urgent) {
		await(ipoib);
		return;
	}
	if (!timer_pending(&ipoib->tx_timer))
		mod_timer(&ipoib->tx_timer, jiffies + REAP_TIME);
	if (under_way(ipoib) >= REAP_BATCH)
		napi_schedule(&ipoib->tx_cq.napi);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_cq_posting);

/**
 * ipoib_cq_await_sends() - have completions of sends cause events until none is under way
 * @ipoib: interface
 *
 * Context: may sleep.
 */
void ipoib_cq_await_sends(struct ipoib_dev *ipoib)
{
	local_bh_disable();
	await(ipoib);
	local_bh_enable();
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_cq_await_sends);

/**
 * ipoib_cq_init() - begin without sends under way
 * @ipoib: interface
 *
 * Context: any.
 */
void ipoib_cq_init(struct ipoib_dev *ipoib)
{
	ipoib->tx_head = IPOIB_RING_START;
	atomic_set(&ipoib->tx_tail, IPOIB_RING_START);
	timer_setup(&ipoib->tx_timer, lie_too_long, 0);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_cq_init);

static void completed(struct ib_cq *cq, void *context)
{
	struct ipoib_cq *queue = context;

	napi_schedule(&queue->napi);
}

/**
 * ipoib_cq_create() - make a queue
 * @ipoib: interface
 * @queue: the queue
 * @entries: completions that it can hold
 *
 * Context: RTNL is held.
 * Return: 0 or what the device answers.
 */
int ipoib_cq_create(struct ipoib_dev *ipoib, struct ipoib_cq *queue, int entries)
{
	struct ib_cq_init_attr attr = { .cqe = entries };

	queue->cq = ib_create_cq(ipoib->ca, completed, NULL, queue, &attr);
	if (IS_ERR(queue->cq))
		return PTR_ERR(queue->cq);
	netif_napi_add(ipoib->netdev, &queue->napi,
		       queue == &ipoib->tx_cq ? ipoib_cq_poll_tx : ipoib_cq_poll_rx);
	return 0;
}

/**
 * ipoib_cq_destroy() - destroy a queue
 * @queue: queue that is stopped and that no QP uses
 *
 * Context: RTNL is held.
 */
void ipoib_cq_destroy(struct ipoib_cq *queue)
{
	ib_destroy_cq(queue->cq);
	netif_napi_del(&queue->napi);
}

/**
 * ipoib_cq_start() - begin to poll
 * @queue: the queue
 *
 * Context: RTNL is held.
 */
void ipoib_cq_start(struct ipoib_cq *queue)
{
	napi_enable(&queue->napi);
	local_bh_disable();
	napi_schedule(&queue->napi);
	local_bh_enable();
}

/**
 * ipoib_cq_stop() - end polling
 * @queue: the queue
 *
 * Context: RTNL is held.
 */
void ipoib_cq_stop(struct ipoib_cq *queue)
{
	napi_disable(&queue->napi);
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: polling contexts and draining over a device that completes what is
 * posted, in order, and raises events as hardware does.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <rdma/rdma_ext.h>
#include "../verbs_priv.h"

#define RING	1024

/**
 * struct ring_cq - a CQ with a ring of completions in memory
 * @cq: CQ
 * @lock: protects the members below
 * @ring: completions
 * @head: number of completions polled
 * @tail: number of completions added
 * @armed: the next completion raises an event
 * @events: number of events raised
 */
struct ring_cq {
	struct ib_cq cq;
	spinlock_t lock;
	struct ib_wc ring[RING];
	unsigned int head, tail;
	bool armed;
	unsigned int events;
};

static void kill_in_softirq(void);

/**
 * struct ring_driver - what this file's driver does while a CQ is armed or destroyed
 * @last: completion that the device adds while the driver destroys the CQ; or NULL
 * @seen: completions dispatched when that call of the driver ends
 * @refuse: result of destroy_cq
 * @refuse_pre: result of pre_destroy_cq
 * @announced: calls of pre_destroy_cq
 * @destroyed: CQs destroyed by destroy_cq
 * @ended: CQs destroyed by post_destroy_cq
 * @victim: CQ that another CPU destroys while softirq arms it
 * @dies: work item that destroys it
 * @gone: the driver has destroyed it
 * @early: it was destroyed before arming had ended
 */
static struct ring_driver {
	struct ib_cqe *last;
	unsigned int seen;
	int refuse, refuse_pre;
	unsigned int announced, destroyed, ended;
	struct ib_cq *victim;
	struct work_struct dies;
	bool gone, early;
} driver;

static struct ring_cq *ring_of(struct ib_cq *cq)
{
	return container_of(cq, struct ring_cq, cq);
}

/* Adds a completion as the device does, and raises an event if the CQ is armed. */
static void ring_complete(struct ib_cq *cq, struct ib_cqe *cqe, enum ib_wc_status status)
{
	struct ring_cq *ring = ring_of(cq);
	unsigned long flags;
	bool event;

	spin_lock_irqsave(&ring->lock, flags);
	ring->ring[ring->tail++ % RING] = (struct ib_wc){ .wr_cqe = cqe, .status = status };
	event = ring->armed;
	ring->armed = false;
	ring->events += event;
	spin_unlock_irqrestore(&ring->lock, flags);
	if (event)
		cq->comp_handler(cq, cq->cq_context);
}

static int ring_poll(struct ib_cq *cq, int n, struct ib_wc *wc)
{
	struct ring_cq *ring = ring_of(cq);
	unsigned long flags;
	int i;

	spin_lock_irqsave(&ring->lock, flags);
	for (i = 0; i < n && ring->head != ring->tail; i++)
		wc[i] = ring->ring[ring->head++ % RING];
	spin_unlock_irqrestore(&ring->lock, flags);
	return i;
}

static int ring_arm(struct ib_cq *cq, enum ib_cq_notify_flags how)
{
	struct ring_cq *ring = ring_of(cq);
	unsigned long flags;
	int missed;

	spin_lock_irqsave(&ring->lock, flags);
	ring->armed = true;
	missed = (how & IB_CQ_REPORT_MISSED_EVENTS) && ring->head != ring->tail;
	spin_unlock_irqrestore(&ring->lock, flags);
	if (driver.victim == cq && in_serving_softirq())
		kill_in_softirq();
	return missed;
}

static int ring_create_cq(struct ib_cq *cq, const struct ib_cq_init_attr *attr,
			  struct uverbs_attr_bundle *attrs)
{
	spin_lock_init(&ring_of(cq)->lock);
	cq->cqe = attr->cqe;
	return 0;
}

/* Waits until work items and softirqs that poll the CQ have run. */
static void ring_settle(struct ib_cq *cq)
{
	if (cq->comp_wq)
		flush_workqueue(cq->comp_wq);
	local_bh_disable();
	local_bh_enable();
	synchronize_rcu();
}

static unsigned int seen_by(const struct ib_cqe *cqe);

static void ring_late(struct ib_cq *cq)
{
	if (!driver.last)
		return;
	ring_complete(cq, driver.last, IB_WC_SUCCESS);
	ring_settle(cq);
	driver.seen = seen_by(driver.last);
}

static int ring_destroy_cq(struct ib_cq *cq, struct ib_udata *udata)
{
	ring_late(cq);
	if (driver.refuse)
		return driver.refuse;
	driver.destroyed++;
	WRITE_ONCE(driver.gone, true);
	return 0;
}

static int ring_pre_destroy_cq(struct ib_cq *cq)
{
	driver.announced++;
	/* A completion added at this time is still dispatched. */
	ring_late(cq);
	return driver.refuse_pre;
}

static void ring_post_destroy_cq(struct ib_cq *cq)
{
	driver.ended++;
}

static int ring_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int ring_create_srq(struct ib_srq *srq, struct ib_srq_init_attr *attr,
			   struct ib_udata *udata)
{
	return 0;
}

static int ring_destroy_srq(struct ib_srq *srq, struct ib_udata *udata)
{
	return 0;
}

static int ring_create_qp(struct ib_qp *qp, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	return 0;
}

/* The device holds no receive of an SRQ for the QP, which it says at once. */
static int ring_modify_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
			  struct ib_udata *udata)
{
	struct ib_event last = {
		.device = qp->device, .element.qp = qp, .event = IB_EVENT_QP_LAST_WQE_REACHED,
	};

	if (attr->qp_state != IB_QPS_ERR)
		return -EINVAL;
	if (qp->srq)
		qp->event_handler(&last, qp->qp_context);
	return 0;
}

static int ring_destroy_qp(struct ib_qp *qp, struct ib_udata *udata)
{
	return 0;
}

static int ring_post_send(struct ib_qp *qp, const struct ib_send_wr *wr,
			  const struct ib_send_wr **bad)
{
	for (; wr; wr = wr->next)
		ring_complete(qp->send_cq, wr->wr_cqe, IB_WC_WR_FLUSH_ERR);
	return 0;
}

static int ring_post_recv(struct ib_qp *qp, const struct ib_recv_wr *wr,
			  const struct ib_recv_wr **bad)
{
	for (; wr; wr = wr->next)
		ring_complete(qp->recv_cq, wr->wr_cqe, IB_WC_WR_FLUSH_ERR);
	return 0;
}

static const struct ib_device_ops ring_ops = {
	.alloc_pd = ring_alloc_pd,
	.dealloc_pd = ring_alloc_pd,
	.create_cq = ring_create_cq,
	.destroy_cq = ring_destroy_cq,
	.poll_cq = ring_poll,
	.req_notify_cq = ring_arm,
	.create_srq = ring_create_srq,
	.destroy_srq = ring_destroy_srq,
	.create_qp = ring_create_qp,
	.modify_qp = ring_modify_qp,
	.destroy_qp = ring_destroy_qp,
	.post_send = ring_post_send,
	.post_recv = ring_post_recv,
	.size_ib_pd = sizeof(struct ib_pd),
	.size_ib_cq = sizeof(struct ring_cq),
	.size_ib_qp = sizeof(struct ib_qp),
	.size_ib_srq = sizeof(struct ib_srq),
};

static const struct ib_device_ops ring_announced_ops = {
	.pre_destroy_cq = ring_pre_destroy_cq,
	.post_destroy_cq = ring_post_destroy_cq,
};

static int ring_init(struct kunit *test)
{
	struct ib_device *device = _ib_alloc_device(sizeof(*device));

	memset(&driver, 0, sizeof(driver));
	KUNIT_ASSERT_NOT_NULL(test, device);
	ib_set_device_ops(device, &ring_ops);
	device->attrs.kernel_cap_flags = IBK_LOCAL_DMA_LKEY;
	device->num_comp_vectors = 1;
	test->priv = device;
	return 0;
}

static void ring_exit(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 0, ib_reap_objects(test->priv));
	ib_dealloc_device(test->priv);
}

/* ---- consumers ---- */

struct consumer {
	struct ib_cqe cqe;
	struct completion all;
	unsigned int wanted, seen, in_softirq;
	unsigned int again;
};

static void consume(struct ib_cq *cq, struct ib_wc *wc)
{
	struct consumer *consumer = container_of(wc->wr_cqe, struct consumer, cqe);

	consumer->in_softirq += !!in_serving_softirq();
	/* The handler adds another completion, as a ULP does that posts from its handlers. */
	if (consumer->again) {
		consumer->again--;
		ring_complete(cq, wc->wr_cqe, IB_WC_SUCCESS);
	}
	if (++consumer->seen == consumer->wanted)
		complete(&consumer->all);
}

static unsigned int seen_by(const struct ib_cqe *cqe)
{
	return container_of(cqe, struct consumer, cqe)->seen;
}

static void consumer_init(struct consumer *consumer, unsigned int wanted)
{
	memset(consumer, 0, sizeof(*consumer));
	consumer->cqe.done = consume;
	consumer->wanted = wanted;
	init_completion(&consumer->all);
}

static void direct(struct kunit *test)
{
	struct ib_cq *cq = ib_alloc_cq(test->priv, test, RING, 0, IB_POLL_DIRECT);
	struct consumer consumer;

	KUNIT_ASSERT_FALSE(test, IS_ERR(cq));
	consumer_init(&consumer, 100);
	for (int i = 0; i < 100; i++)
		ring_complete(cq, &consumer.cqe, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, 0, consumer.seen);
	KUNIT_EXPECT_EQ(test, 13, ib_process_cq_direct(cq, 13));
	KUNIT_EXPECT_EQ(test, 13, consumer.seen);
	KUNIT_EXPECT_EQ(test, 0, ib_process_cq_direct(cq, 0));
	KUNIT_EXPECT_EQ(test, 87, ib_process_cq_direct(cq, -1));
	KUNIT_EXPECT_EQ(test, 100, consumer.seen);
	KUNIT_EXPECT_EQ(test, 0, ring_of(cq)->events);
	ib_free_cq(cq);
}

/* Bursts larger than a batch and than softirq's budget, and handlers that add completions. */
static void by_events(struct kunit *test, enum ib_poll_context ctx, bool softirq)
{
	struct ib_cq *cq = ib_alloc_cq(test->priv, test, RING, 0, ctx);
	static const unsigned int bursts[] = { 1, 15, 16, 17, 600 };
	struct consumer consumer;

	KUNIT_ASSERT_FALSE(test, IS_ERR(cq));
	for (unsigned int b = 0; b < ARRAY_SIZE(bursts); b++) {
		consumer_init(&consumer, bursts[b] + 40);
		consumer.again = 40;
		for (unsigned int i = 0; i < bursts[b]; i++)
			ring_complete(cq, &consumer.cqe, IB_WC_SUCCESS);
		wait_for_completion(&consumer.all);
	}
	/* No completion is added any more; after this no polling context of the CQ runs. */
	ib_free_cq(cq);
	KUNIT_EXPECT_EQ(test, consumer.wanted, consumer.seen);
	KUNIT_EXPECT_EQ(test, softirq ? consumer.wanted : 0, consumer.in_softirq);
}

static void softirq(struct kunit *test)
{
	by_events(test, IB_POLL_SOFTIRQ, true);
}

static void work_queue(struct kunit *test)
{
	by_events(test, IB_POLL_WORKQUEUE, false);
}

static void unbound_work_queue(struct kunit *test)
{
	by_events(test, IB_POLL_UNBOUND_WORKQUEUE, false);
}

static void unknown_context(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, -EINVAL,
			PTR_ERR(ib_alloc_cq(test->priv, test, RING, 0, IB_POLL_DIRECT + 1)));
}

/* A CQ is reaped while it is being polled, as when a module exits without destroying it. */
static void reaped_while_busy(struct kunit *test)
{
	struct ib_cq *cq = ib_alloc_cq_any(test->priv, test, RING, IB_POLL_WORKQUEUE);
	struct consumer consumer;

	KUNIT_ASSERT_FALSE(test, IS_ERR(cq));
	consumer_init(&consumer, 1);
	consumer.again = UINT_MAX;
	ring_complete(cq, &consumer.cqe, IB_WC_SUCCESS);
	wait_for_completion(&consumer.all);
	KUNIT_EXPECT_EQ(test, 0, ib_reap_objects(test->priv));
}

/*
 * An event during the destruction of a CQ has no effect, unless the driver refuses the destruction.
 */
static void event_of_the_dying(struct kunit *test, enum ib_poll_context ctx)
{
	struct ib_cq *cq = ib_alloc_cq(test->priv, test, RING, 0, ctx);
	struct consumer consumer;

	KUNIT_ASSERT_FALSE(test, IS_ERR(cq));
	consumer_init(&consumer, 1);
	driver.last = &consumer.cqe;
	driver.refuse = -EIO;
	KUNIT_EXPECT_EQ(test, -EIO, ib_destroy_cq_user(cq, NULL));
	KUNIT_EXPECT_EQ(test, 0, driver.seen);
	wait_for_completion(&consumer.all);

	/* The CQ is armed again when polling has ended. */
	ring_settle(cq);
	driver.refuse = 0;
	consumer_init(&consumer, 1);
	ib_free_cq(cq);
	KUNIT_EXPECT_EQ(test, 1, driver.destroyed);
	KUNIT_EXPECT_EQ(test, 0, driver.seen);
	KUNIT_EXPECT_EQ(test, 0, consumer.seen);
}

static void late_event_work(struct kunit *test)
{
	event_of_the_dying(test, IB_POLL_WORKQUEUE);
	memset(&driver, 0, sizeof(driver));
	event_of_the_dying(test, IB_POLL_UNBOUND_WORKQUEUE);
}

static void late_event_softirq(struct kunit *test)
{
	event_of_the_dying(test, IB_POLL_SOFTIRQ);
}

static void die(struct work_struct *work)
{
	ib_free_cq(driver.victim);
}

/*
 * Called while softirq arms the CQ: another CPU destroys the CQ, which must wait until this
 * returns.  A destruction within the time limit here is too early.
 */
static void kill_in_softirq(void)
{
	unsigned long end = jiffies + HZ / 10;

	schedule_work_on(cpumask_any_but(cpu_online_mask, smp_processor_id()), &driver.dies);
	while (!READ_ONCE(driver.gone) && time_before(jiffies, end))
		cpu_relax();
	driver.early = READ_ONCE(driver.gone);
}

static void destroyed_while_armed(struct kunit *test)
{
	struct consumer consumer;
	struct ib_cq *cq;

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs two CPUs");
	cq = ib_alloc_cq(test->priv, test, RING, 0, IB_POLL_SOFTIRQ);
	KUNIT_ASSERT_FALSE(test, IS_ERR(cq));
	INIT_WORK(&driver.dies, die);
	driver.victim = cq;
	consumer_init(&consumer, 1);
	ring_complete(cq, &consumer.cqe, IB_WC_SUCCESS);
	wait_for_completion(&consumer.all);
	while (!READ_ONCE(driver.gone))
		cond_resched();
	flush_work(&driver.dies);
	KUNIT_EXPECT_FALSE(test, driver.early);
}

/* pre_destroy_cq() of a driver is called before polling stops, post_destroy_cq() after that. */
static void announced(struct kunit *test)
{
	struct ib_cq_init_attr attr = { .cqe = RING };
	struct consumer consumer;
	struct ib_cq *cq;

	ib_set_device_ops(test->priv, &ring_announced_ops);
	cq = ib_alloc_cq(test->priv, test, RING, 0, IB_POLL_WORKQUEUE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(cq));
	consumer_init(&consumer, 1);
	driver.last = &consumer.cqe;
	driver.refuse_pre = -EIO;
	KUNIT_EXPECT_EQ(test, -EIO, ib_destroy_cq_user(cq, NULL));
	KUNIT_EXPECT_EQ(test, 1, driver.seen);
	/* The CQ still works. */
	consumer_init(&consumer, 1);
	ring_complete(cq, &consumer.cqe, IB_WC_SUCCESS);
	wait_for_completion(&consumer.all);
	ring_settle(cq);

	driver.refuse_pre = 0;
	ib_free_cq(cq);
	KUNIT_EXPECT_EQ(test, 2, consumer.seen);
	KUNIT_EXPECT_EQ(test, 2, driver.announced);
	KUNIT_EXPECT_EQ(test, 1, driver.ended);
	KUNIT_EXPECT_EQ(test, 0, driver.destroyed);

	/* A CQ that its consumer polls is destroyed by destroy_cq() alone. */
	driver.last = NULL;
	cq = ib_create_cq(test->priv, NULL, NULL, NULL, &attr);
	KUNIT_ASSERT_FALSE(test, IS_ERR(cq));
	ib_destroy_cq(cq);
	KUNIT_EXPECT_EQ(test, 2, driver.announced);
	KUNIT_EXPECT_EQ(test, 1, driver.ended);
	KUNIT_EXPECT_EQ(test, 1, driver.destroyed);
}

/* Entries are reserved and released; a consumer cannot destroy a CQ of the pool. */
static void pool(struct kunit *test)
{
	struct ib_device *device = test->priv;
	struct ib_cq *a, *b, *other, *full;

	device->attrs.max_cqe = 8192;
	a = ib_cq_pool_get(device, 4000, -1, IB_POLL_WORKQUEUE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(a));
	KUNIT_EXPECT_EQ(test, 4096, a->cqe);
	b = ib_cq_pool_get(device, 96, 7, IB_POLL_WORKQUEUE);
	KUNIT_EXPECT_PTR_EQ(test, a, b);
	other = ib_cq_pool_get(device, 1, 0, IB_POLL_SOFTIRQ);
	KUNIT_EXPECT_PTR_NE(test, a, other);
	full = ib_cq_pool_get(device, 1, 0, IB_POLL_WORKQUEUE);
	KUNIT_EXPECT_PTR_NE(test, a, full);
	ib_cq_pool_put(full, 1);
	ib_cq_pool_put(other, 1);
	ib_cq_pool_put(b, 96);
	ib_cq_pool_put(a, 4000);
	/* A consumer that needs more entries than usual gets a CQ of that size, or an error. */
	full = ib_cq_pool_get(device, 8192, 0, IB_POLL_WORKQUEUE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(full));
	KUNIT_EXPECT_EQ(test, 8192, full->cqe);
	ib_cq_pool_put(full, 8192);
	KUNIT_EXPECT_EQ(test, -EINVAL,
			PTR_ERR(ib_cq_pool_get(device, 8193, 0, IB_POLL_WORKQUEUE)));
	KUNIT_EXPECT_EQ(test, 4, rdma_restrack_count(device, RDMA_RESTRACK_CQ, true));
	ib_cq_pool_cleanup(device);
	KUNIT_EXPECT_EQ(test, 0, rdma_restrack_count(device, RDMA_RESTRACK_CQ, true));
}

/* cq_any_vector() returns all vectors in turn, also when its counter wraps. */
static void vectors_come_round(struct kunit *test)
{
	static const u32 turns[] = { INT_MAX - 5, U32_MAX - 5 };
	struct ib_device *device = test->priv;
	unsigned int vectors;

	device->attrs.max_cqe = 8192;
	device->num_comp_vectors = 3;
	vectors = cq_vectors(device);
	KUNIT_EXPECT_EQ(test, vectors, min(3, num_online_cpus()));
	for (int round = 0; round < ARRAY_SIZE(turns); round++) {
		unsigned int used[3] = {};

		atomic_set(&cq_last_turn, turns[round]);
		for (int i = 0; i < 12; i++) {
			struct ib_cq *cq;

			cq = i & 1 ? ib_cq_pool_get(device, 1, -1, IB_POLL_WORKQUEUE) :
				     ib_alloc_cq_any(device, NULL, 16, IB_POLL_DIRECT);
			KUNIT_ASSERT_FALSE(test, IS_ERR(cq));
			KUNIT_ASSERT_LT(test, cq->comp_vector, vectors);
			used[cq->comp_vector]++;
			if (i & 1)
				ib_cq_pool_put(cq, 1);
			else
				ib_free_cq(cq);
		}
		for (unsigned int i = 0; i < vectors; i++)
			KUNIT_EXPECT_GE(test, used[i], 12 / vectors - 1);
	}
	ib_cq_pool_cleanup(device);
}

/* Drains both queues or one of them, on a device that completes all requests in order. */
static void drained(struct kunit *test, enum ib_poll_context ctx, void (*drain)(struct ib_qp *qp))
{
	struct ib_pd *pd = ib_alloc_pd(test->priv, 0);
	struct ib_cq *cq = ib_alloc_cq(test->priv, test, RING, 0, ctx);
	struct ib_qp_init_attr attr = { .qp_type = IB_QPT_RC, .send_cq = cq, .recv_cq = cq };
	struct consumer consumer;
	struct ib_send_wr send = {};
	struct ib_qp *qp;

	KUNIT_ASSERT_FALSE(test, IS_ERR(pd) || IS_ERR(cq));
	qp = ib_create_qp(pd, &attr);
	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
	consumer_init(&consumer, 300);
	send.wr_cqe = &consumer.cqe;
	for (int i = 0; i < 300; i++)
		KUNIT_EXPECT_EQ(test, 0, ib_post_send(qp, &send, NULL));
	drain(qp);
	KUNIT_EXPECT_EQ(test, 300, consumer.seen);
	KUNIT_EXPECT_EQ(test, 0, ib_destroy_qp(qp));
	ib_free_cq(cq);
	ib_dealloc_pd(pd);
}

static void drained_direct(struct kunit *test)
{
	drained(test, IB_POLL_DIRECT, ib_drain_qp);
	drained(test, IB_POLL_DIRECT, ib_drain_sq);
	drained(test, IB_POLL_DIRECT, ib_drain_rq);
}

static void drained_softirq(struct kunit *test)
{
	drained(test, IB_POLL_SOFTIRQ, ib_drain_qp);
	drained(test, IB_POLL_SOFTIRQ, ib_drain_sq);
	drained(test, IB_POLL_SOFTIRQ, ib_drain_rq);
}

/* ---- a QP with an SRQ ---- */

/**
 * struct shared - a QP with an SRQ, and what its receives have done
 * @cqe: the receives, which complete to the receive CQ
 * @pd: PD
 * @send_cq: CQ that is polled on demand
 * @recv_cq: CQ under test
 * @srq: SRQ
 * @qp: the QP
 * @begins: adds the first completion, on another CPU than the one that drains
 * @begun: its handler runs
 * @drained: the QP was drained
 * @seen: number of handlers that have ended
 * @late: number of those that ended after the QP was drained
 */
struct shared {
	struct ib_cqe cqe;
	struct ib_pd *pd;
	struct ib_cq *send_cq, *recv_cq;
	struct ib_srq *srq;
	struct ib_qp *qp;
	struct work_struct begins;
	struct completion begun, drained;
	unsigned int seen, late;
};

static void shared_open(struct kunit *test, struct shared *shared, enum ib_poll_context ctx)
{
	struct ib_srq_init_attr srq_attr = {};
	struct ib_qp_init_attr attr = { .qp_type = IB_QPT_RC };

	memset(shared, 0, sizeof(*shared));
	init_completion(&shared->begun);
	init_completion(&shared->drained);
	shared->pd = ib_alloc_pd(test->priv, 0);
	shared->send_cq = ib_alloc_cq(test->priv, test, RING, 0, IB_POLL_DIRECT);
	shared->recv_cq = ib_alloc_cq(test->priv, test, RING, 0, ctx);
	KUNIT_ASSERT_FALSE(test, IS_ERR(shared->pd));
	KUNIT_ASSERT_FALSE(test, IS_ERR(shared->send_cq) || IS_ERR(shared->recv_cq));
	shared->srq = ib_create_srq(shared->pd, &srq_attr);
	KUNIT_ASSERT_FALSE(test, IS_ERR(shared->srq));
	attr.send_cq = shared->send_cq;
	attr.recv_cq = shared->recv_cq;
	attr.srq = shared->srq;
	shared->qp = ib_create_qp(shared->pd, &attr);
	KUNIT_ASSERT_FALSE(test, IS_ERR(shared->qp));
}

static void shared_close(struct kunit *test, struct shared *shared)
{
	KUNIT_EXPECT_EQ(test, 0, ib_destroy_qp(shared->qp));
	ib_destroy_srq(shared->srq);
	ib_free_cq(shared->recv_cq);
	ib_free_cq(shared->send_cq);
	ib_dealloc_pd(shared->pd);
}

static void begin(struct work_struct *work)
{
	struct shared *shared = container_of(work, struct shared, begins);

	ring_complete(shared->recv_cq, &shared->cqe, IB_WC_WR_FLUSH_ERR);
}

/* How long a handler gives ib_drain_qp() to return too early. */
#define LINGER	HZ

/*
 * The first handler goes on until the QP was drained, which must wait for it; when the time limit
 * ends, the QP was not drained too early.
 */
static void linger(struct ib_cq *cq, struct ib_wc *wc)
{
	struct shared *shared = container_of(wc->wr_cqe, struct shared, cqe);
	unsigned long end = jiffies + LINGER;

	if (!completion_done(&shared->begun)) {
		complete_all(&shared->begun);
		while (in_softirq() && !completion_done(&shared->drained) &&
		       time_before(jiffies, end))
			cpu_relax();
		if (!in_softirq())
			wait_for_completion_timeout(&shared->drained, LINGER);
	}
	shared->late += completion_done(&shared->drained);
	shared->seen++;
}

/* ib_drain_qp() returns when no handler of the QP's receives runs any more. */
static void drained_shared(struct kunit *test, enum ib_poll_context ctx)
{
	struct shared *shared = kunit_kzalloc(test, sizeof(*shared), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, shared);
	if (num_online_cpus() < 2)
		kunit_skip(test, "needs two CPUs");
	shared_open(test, shared, ctx);
	shared->cqe.done = linger;
	INIT_WORK(&shared->begins, begin);
	migrate_disable();
	schedule_work_on(cpumask_any_but(cpu_online_mask, smp_processor_id()), &shared->begins);
	wait_for_completion(&shared->begun);
	for (int i = 1; i < 300; i++)
		ring_complete(shared->recv_cq, &shared->cqe, IB_WC_WR_FLUSH_ERR);
	ib_drain_qp(shared->qp);
	complete_all(&shared->drained);
	KUNIT_EXPECT_EQ(test, 300, shared->seen);
	migrate_enable();
	flush_work(&shared->begins);
	ring_settle(shared->recv_cq);
	KUNIT_EXPECT_EQ(test, 0, shared->late);
	/* The CQ still works. */
	reinit_completion(&shared->drained);
	begin(&shared->begins);
	ib_drain_qp(shared->qp);
	KUNIT_EXPECT_EQ(test, 301, shared->seen);
	shared_close(test, shared);
}

static void drained_shared_work(struct kunit *test)
{
	drained_shared(test, IB_POLL_WORKQUEUE);
}

static void drained_shared_unbound(struct kunit *test)
{
	drained_shared(test, IB_POLL_UNBOUND_WORKQUEUE);
}

static void drained_shared_softirq(struct kunit *test)
{
	drained_shared(test, IB_POLL_SOFTIRQ);
}

static void drain_here(struct ib_cq *cq, struct ib_wc *wc)
{
	struct shared *shared = container_of(wc->wr_cqe, struct shared, cqe);
	struct kunit *test = cq->cq_context;

	if (completion_done(&shared->begun)) {
		shared->seen++;
		return;
	}
	complete_all(&shared->begun);
	for (int i = 0; i < 300; i++)
		ring_complete(cq, &shared->cqe, IB_WC_WR_FLUSH_ERR);
	ib_drain_qp(shared->qp);
	KUNIT_EXPECT_EQ(test, 300, shared->seen);
	complete(&shared->drained);
}

/* A handler that drains does not wait for itself; what its CQ has is handled all the same. */
static void drained_by_a_handler(struct kunit *test)
{
	struct shared *shared = kunit_kzalloc(test, sizeof(*shared), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, shared);
	shared_open(test, shared, IB_POLL_WORKQUEUE);
	shared->cqe.done = drain_here;
	begin(&shared->begins);
	wait_for_completion(&shared->drained);
	ring_settle(shared->recv_cq);
	shared_close(test, shared);
}

static struct kunit_case cq_poll_cases[] = {
	KUNIT_CASE(direct),
	KUNIT_CASE(softirq),
	KUNIT_CASE(work_queue),
	KUNIT_CASE(unbound_work_queue),
	KUNIT_CASE(unknown_context),
	KUNIT_CASE(reaped_while_busy),
	KUNIT_CASE(late_event_work),
	KUNIT_CASE(late_event_softirq),
	KUNIT_CASE(destroyed_while_armed),
	KUNIT_CASE(announced),
	KUNIT_CASE(pool),
	KUNIT_CASE(vectors_come_round),
	KUNIT_CASE(drained_direct),
	KUNIT_CASE(drained_softirq),
	KUNIT_CASE_SLOW(drained_shared_work),
	KUNIT_CASE_SLOW(drained_shared_unbound),
	KUNIT_CASE_SLOW(drained_shared_softirq),
	KUNIT_CASE(drained_by_a_handler),
	{}
};

static struct kunit_suite cq_poll_suite = {
	.name = "rdma-cq-poll",
	.init = ring_init,
	.exit = ring_exit,
	.test_cases = cq_poll_cases,
};

kunit_test_suite(cq_poll_suite);

MODULE_DESCRIPTION("KUnit tests of CQ polling contexts");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);

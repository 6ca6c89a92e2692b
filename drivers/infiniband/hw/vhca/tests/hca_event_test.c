// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Events on an emulated HCA that are handled late: after their object was destroyed and a new one
 * has its number, and while the device is being taken down.
 */
#include <linux/delay.h>

#include "../verbs/cq.h"
#include "../verbs/qp.h"
#include "../verbs/srq.h"
#include "hca_test.h"

#define MOST	512	/* objects that are made until one has a certain number */

/*
 * Stop the health check, which would handle the events that the test delays as if their interrupt
 * were lost.
 */
static void no_rescue(struct vhca_dev *dev)
{
	cancel_delayed_work_sync(&dev->health);
}

static void rescue_again(void *dev)
{
	queue_delayed_work(system_power_efficient_wq, &((struct vhca_dev *)dev)->health, HZ);
}

/* Delays asynchronous events until async_let_go() is called or the test ends. */
struct async_hold {
	struct vhca_dev *dev;
	bool held;
};

static void async_let_go(void *data)
{
	struct async_hold *hold = data;

	if (!hold->held)
		return;
	hold->held = false;
	mutex_unlock(&hold->dev->async_lock);
	rescue_again(hold->dev);
}

static struct async_hold *async_keep(struct kunit *test, struct vhca_dev *dev)
{
	struct async_hold *hold = kunit_kzalloc(test, sizeof(*hold), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, hold);
	hold->dev = dev;
	no_rescue(dev);
	mutex_lock(&dev->async_lock);
	hold->held = true;
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, async_let_go, hold), 0);
	return hold;
}

static bool waits(struct vhca_eq *eq)
{
	return vhca_eq_end(eq) != READ_ONCE(eq->ci);
}

static bool comes(struct vhca_eq *eq)
{
	unsigned long limit = jiffies + HCA_PATIENCE;

	while (!waits(eq) && time_before(jiffies, limit))
		cond_resched();
	return waits(eq);
}

static bool handled(struct vhca_eq *eq)
{
	unsigned long limit = jiffies + HCA_PATIENCE;

	while (waits(eq) && time_before(jiffies, limit))
		cond_resched();
	return !waits(eq);
}

/* Lets the thread continue; on return all events that were in the queue have been handled. */
static void async_catch_up(struct kunit *test, struct async_hold *hold)
{
	struct vhca_dev *dev = hold->dev;

	async_let_go(hold);
	KUNIT_EXPECT_TRUE(test, handled(&dev->async_eq));
	mutex_lock(&dev->async_lock);
	mutex_unlock(&dev->async_lock);
}

static void count_event(struct ib_event *event, void *context)
{
	atomic_inc(context);
}

static void count_call(struct ib_cq *cq, void *context)
{
	atomic_inc(context);
}

static void dealloc_pd(void *pd)
{
	ib_dealloc_pd(pd);
}

static struct ib_pd *get_pd(struct kunit *test, struct vhca_dev *dev)
{
	struct ib_pd *pd = ib_alloc_pd(&dev->ibdev, 0);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, pd);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, dealloc_pd, pd), 0);
	return pd;
}

/* ---- SRQs ---- */

static struct ib_srq *make_srq(struct ib_pd *pd, atomic_t *events)
{
	struct ib_srq_init_attr attr = {
		.event_handler = count_event,
		.srq_context = events,
		.attr = { .max_wr = 4, .max_sge = 1 },
		.srq_type = IB_SRQT_BASIC,
	};

	return ib_create_srq(pd, &attr);
}

/* Arms a limit, which raises an event, as there are no receives. */
static int raise_limit(struct ib_srq *srq)
{
	return ib_modify_srq(srq, &(struct ib_srq_attr){ .srq_limit = 1 }, IB_SRQ_LIMIT);
}

static void need_srqs(struct kunit *test, struct vhca_dev *dev)
{
	if (!dev->ibdev.ops.create_srq)
		kunit_skip(test, "the device has no SRQs");
}

/* A limit event of the old SRQ is not reported to the new one with its number. */
static void test_srq(struct kunit *test)
{
	struct vhca_dev *dev = hca_need_device(test->priv);
	struct ib_srq **more, *old, *next = NULL;
	atomic_t first = ATOMIC_INIT(0), second = ATOMIC_INIT(0);
	struct async_hold *hold;
	struct ib_pd *pd;
	u32 srqn;
	int n;

	need_srqs(test, dev);
	pd = get_pd(test, dev);
	more = kunit_kcalloc(test, MOST, sizeof(*more), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, more);
	old = make_srq(pd, &first);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, old);
	srqn = to_vsrq(old)->srqn;
	hold = async_keep(test, dev);
	KUNIT_EXPECT_EQ(test, raise_limit(old), 0);
	KUNIT_EXPECT_TRUE(test, waits(&dev->async_eq));
	ib_destroy_srq(old);
	for (n = 0; n < MOST && !next; n++) {
		more[n] = make_srq(pd, &second);
		if (IS_ERR(more[n]))
			break;
		if (to_vsrq(more[n])->srqn == srqn)
			next = more[n];
	}
	KUNIT_EXPECT_NOT_NULL_MSG(test, next, "number %u did not come again", srqn);
	async_catch_up(test, hold);
	KUNIT_EXPECT_EQ(test, atomic_read(&first), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&second), 0);
	/* It gets its own event. */
	if (next)
		KUNIT_EXPECT_EQ(test, raise_limit(next), 0);
	KUNIT_EXPECT_TRUE(test, handled(&dev->async_eq));
	while (n--)
		if (!IS_ERR(more[n]))
			ib_destroy_srq(more[n]);
	KUNIT_EXPECT_EQ(test, atomic_read(&second), 1);
}

/* ---- CQs ---- */

static struct ib_cq *make_cq(struct vhca_dev *dev, u32 vector, atomic_t *calls)
{
	struct ib_cq_init_attr attr = { .cqe = 4, .comp_vector = vector };

	return ib_create_cq(&dev->ibdev, count_call, count_event, calls, &attr);
}

/**
 * struct cqs - CQs that are made until one has a certain number
 * @cq: all of them, the one that has it last
 * @n: their number
 * @calls: calls of their handlers
 */
struct cqs {
	struct ib_cq *cq[MOST];
	int n;
	atomic_t calls;
};

static void destroy_cqs(void *data)
{
	struct cqs *cqs = data;

	while (cqs->n)
		ib_destroy_cq(cqs->cq[--cqs->n]);
}

static struct cqs *cqs_until(struct kunit *test, struct vhca_dev *dev, u32 cqn, u32 vector)
{
	struct cqs *cqs = kunit_kzalloc(test, sizeof(*cqs), GFP_KERNEL);
	struct ib_cq *cq = NULL;

	KUNIT_ASSERT_NOT_NULL(test, cqs);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, destroy_cqs, cqs), 0);
	while (cqs->n < MOST && (!cq || to_vcq(cq)->cqn != cqn)) {
		cq = make_cq(dev, vector, &cqs->calls);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, cq);
		cqs->cq[cqs->n++] = cq;
	}
	KUNIT_ASSERT_EQ_MSG(test, to_vcq(cq)->cqn, cqn, "the number did not come again");
	return cqs;
}

static struct conn *open_conn(struct kunit *test, struct vhca_dev *dev,
			      const struct conn_options *o)
{
	struct conn *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, c);
	KUNIT_ASSERT_EQ(test, conn_open_as(c, &dev->ibdev, o), 0);
	if (!conn_connect(c, 0, 0, 7))
		return c;
	conn_close(c);
	KUNIT_FAIL_AND_ABORT(test, "the QP does not connect");
	return NULL;
}

struct irq_hold {
	unsigned int irq;
	bool held;
};

static void irq_let_go(void *data)
{
	struct irq_hold *hold = data;

	if (hold->held)
		enable_irq(hold->irq);
	hold->held = false;
}

/* A completion event of the old CQ does not call the new one with its number. */
static void test_completion(struct kunit *test)
{
	struct hca_test *h = test->priv;
	struct vhca_dev *dev = hca_need_device(h);
	struct irq_hold *hold = kunit_kzalloc(test, sizeof(*hold), GFP_KERNEL);
	struct vhca_eq *eq = &dev->vectors[0].eq;
	struct cqs *cqs;
	struct conn *c;
	u32 cqn;

	KUNIT_ASSERT_NOT_NULL(test, hold);
	if (dev->nirqs < 2)
		kunit_skip(test, "the vector's interrupt is that of commands, too");
	c = open_conn(test, dev, &(struct conn_options){ .cqe = 32 });
	cqn = to_vcq(c->cq)->cqn;
	no_rescue(dev);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, rescue_again, dev), 0);
	hold->irq = pci_irq_vector(h->pdev, 1);
	disable_irq(hold->irq);
	hold->held = true;
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, irq_let_go, hold), 0);
	KUNIT_EXPECT_EQ(test, ib_req_notify_cq(c->cq, IB_CQ_NEXT_COMP), 0);
	KUNIT_EXPECT_EQ(test, conn_write_some(c, 1), 0);
	KUNIT_EXPECT_TRUE(test, comes(eq));
	conn_close(c);
	cqs = cqs_until(test, dev, cqn, 0);
	KUNIT_EXPECT_TRUE(test, waits(eq));
	irq_let_go(hold);
	KUNIT_EXPECT_TRUE(test, handled(eq));
	synchronize_irq(hold->irq);
	KUNIT_EXPECT_EQ(test, atomic_read(&cqs->calls), 0);
}

/* An error of the old CQ is not reported to the new one with its number. */
static void test_cq_error(struct kunit *test)
{
	struct vhca_dev *dev = hca_need_device(test->priv);
	struct conn *c = open_conn(test, dev, &(struct conn_options){ .cqe = 4 });
	u32 cqn = to_vcq(c->cq)->cqn;
	struct async_hold *hold = async_keep(test, dev);
	struct cqs *cqs;

	KUNIT_EXPECT_EQ(test, conn_write_some(c, 16), 0);
	KUNIT_EXPECT_TRUE(test, comes(&dev->async_eq));
	conn_close(c);
	cqs = cqs_until(test, dev, cqn, 0);
	async_catch_up(test, hold);
	KUNIT_EXPECT_EQ(test, atomic_read(&cqs->calls), 0);
}

/**
 * struct ending - a CQ that is being destroyed for a while
 * @h: its HCA, which does not complete the command
 * @work: destroys it
 * @cq: the CQ
 * @calls: calls of its handlers
 */
struct ending {
	struct hca_test *h;
	struct work_struct work;
	struct ib_cq *cq;
	atomic_t calls;
};

static void end_cq(struct work_struct *work)
{
	ib_destroy_cq(container_of(work, struct ending, work)->cq);
}

static void wait_for_the_end(void *data)
{
	struct ending *e = data;

	if (e->h->faults)
		hca_ctl(e->h, "fault clear @");
	flush_work(&e->work);
}

static void close_conn(void *c)
{
	conn_close(c);
}

/*
 * The device has destroyed a CQ but not completed the command yet; the new CQ with its number has
 * another vector, overflows, and must get the event.
 */
static void test_cq_error_of_the_next(struct kunit *test)
{
	struct hca_test *h = test->priv;
	struct vhca_dev *dev = hca_need_device(h);
	struct ending *e = kunit_kzalloc(test, sizeof(*e), GFP_KERNEL);
	struct cqs *cqs;
	struct conn *c;
	u32 cqn;

	KUNIT_ASSERT_NOT_NULL(test, e);
	if (dev->nvectors < 2)
		kunit_skip(test, "there is one vector");
	hca_need_faults(h);
	hca_fault(h, "command @ opcode=DESTROY_CQ " HCA_HELD);
	e->h = h;
	e->cq = make_cq(dev, 0, &e->calls);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, e->cq);
	cqn = to_vcq(e->cq)->cqn;
	INIT_WORK(&e->work, end_cq);
	queue_work(system_long_wq, &e->work);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, wait_for_the_end, e), 0);
	while (!xa_marked(&dev->cqs.targets, XA_MARK_0))
		cond_resched();
	cqs = cqs_until(test, dev, cqn, 1);
	ib_destroy_cq(cqs->cq[--cqs->n]);
	c = open_conn(test, dev, &(struct conn_options){ .cqe = 4, .vector = 1 });
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, close_conn, c), 0);
	KUNIT_ASSERT_EQ(test, to_vcq(c->cq)->cqn, cqn);
	KUNIT_EXPECT_EQ(test, conn_write_some(c, 16), 0);
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&c->event, HCA_PATIENCE), 0);
	KUNIT_EXPECT_TRUE_MSG(test, work_busy(&e->work), "the old CQ was gone: nothing was tested");
	KUNIT_EXPECT_EQ(test, atomic_read(&c->cq_errors), 1);
	hca_let_go(h);
	flush_work(&e->work);
	KUNIT_EXPECT_EQ(test, atomic_read(&e->calls), 0);
}

/* ---- QPs ---- */

static struct ib_qp *make_qp(struct ib_pd *pd, struct ib_cq *cq, atomic_t *events)
{
	struct ib_qp_init_attr attr = {
		.event_handler = count_event,
		.qp_context = events,
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IB_QPT_UD,
	};

	return ib_create_qp(pd, &attr);
}

/*
 * Makes QPs until one has a given number: numbers of one slot differ in the generation, which
 * wraps. QPs of other slots are kept, so that the slot is used again.
 */
static struct ib_qp *qp_until(struct ib_pd *pd, struct ib_cq *cq, u32 qpn, atomic_t *events,
			      struct ib_qp **more, int *n)
{
	u32 slots = BIT(order_base_2(pd->device->attrs.max_qp)) - 1;
	struct ib_qp *qp;

	for (unsigned int tries = 0; tries < 65536 && *n < MOST; tries++) {
		qp = make_qp(pd, cq, events);
		if (IS_ERR(qp) || qp->qp_num == qpn)
			return qp;
		if ((qp->qp_num ^ qpn) & slots)
			more[(*n)++] = qp;
		else
			ib_destroy_qp(qp);
	}
	return NULL;
}

/* An error of the old QP is not reported to the new one with its number (and generation). */
static void test_qp(struct kunit *test)
{
	struct vhca_dev *dev = hca_need_device(test->priv);
	struct conn_options o = { .type = IB_QPT_UD, .cqe = 4 };
	struct ib_pd *pd = get_pd(test, dev);
	struct conn *c = open_conn(test, dev, &o);
	struct ib_qp **more, *next;
	u32 qpn = c->qp[0]->qp_num;
	atomic_t events = ATOMIC_INIT(0);
	struct async_hold *hold;
	struct ib_cq *cq;
	int n = 0;

	more = kunit_kcalloc(test, MOST, sizeof(*more), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, more);
	cq = make_cq(dev, 0, &events);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, cq);
	hold = async_keep(test, dev);
	/* More than the ring has room for. */
	vhca_db_ring(&to_vqp(c->qp[0])->db, 0, 1 << 24);
	KUNIT_EXPECT_TRUE(test, comes(&dev->async_eq));
	conn_close(c);
	next = qp_until(pd, cq, qpn, &events, more, &n);
	KUNIT_EXPECT_NOT_ERR_OR_NULL(test, next);
	async_catch_up(test, hold);
	KUNIT_EXPECT_EQ(test, atomic_read(&events), 0);
	if (!IS_ERR_OR_NULL(next))
		ib_destroy_qp(next);
	while (n--)
		ib_destroy_qp(more[n]);
	ib_destroy_cq(cq);
}

/* ---- The end of the device ---- */

/**
 * struct slow - a consumer with a slow handler that raises events when the device is removed
 * @pdev: the function
 * @pd: PD of the SRQ
 * @srq: raises the events
 * @events: number of events of the SRQ reported to its consumer
 * @inside: completed when the first event is being handled
 * @calls: number of calls of the handler
 * @overtaken: the queue was being destroyed before the first call ended
 */
static struct slow {
	struct pci_dev *pdev;
	struct ib_pd *pd;
	struct ib_srq *srq;
	atomic_t events;
	struct completion inside;
	unsigned int calls;
	bool overtaken;
} slow;

/* In the place of the driver's handler. */
static void slow_event(struct vhca_eq *eq, const struct vhca_eqe *eqe, u64 count)
{
	struct vhca_dev *dev = container_of(eq, struct vhca_dev, async_eq);
	unsigned long limit = jiffies + HCA_PATIENCE;

	if (slow.calls++)
		return;
	complete(&slow.inside);
	while (READ_ONCE(dev->async_ready) && time_before(jiffies, limit))
		msleep(20);
	slow.overtaken = !READ_ONCE(dev->async_ready);
}

static int slow_add(struct ib_device *ibdev)
{
	if (ibdev->dev.parent != &slow.pdev->dev)
		return -EOPNOTSUPP;
	slow.pd = ib_alloc_pd(ibdev, 0);
	if (IS_ERR(slow.pd))
		return PTR_ERR(slow.pd);
	slow.srq = make_srq(slow.pd, &slow.events);
	if (!IS_ERR(slow.srq))
		return 0;
	ib_dealloc_pd(slow.pd);
	return PTR_ERR(slow.srq);
}

/* The device is being taken down: one event is being handled, and another one is in the queue. */
static void slow_remove(struct ib_device *ibdev, void *data)
{
	to_vdev(ibdev)->async_eq.fn = slow_event;
	raise_limit(slow.srq);
	wait_for_completion_timeout(&slow.inside, HCA_PATIENCE);
	raise_limit(slow.srq);
	ib_destroy_srq(slow.srq);
	ib_dealloc_pd(slow.pd);
}

static struct ib_client slow_client = {
	.name = "vhca_hca_event_test",
	.add = slow_add,
	.remove = slow_remove,
};

/* The interrupt thread still has to handle an event when the queue is being destroyed. */
static void test_unbound_under_events(struct kunit *test)
{
	struct hca_test *h = test->priv;
	struct vhca_dev *dev = hca_need_device(h);

	need_srqs(test, dev);
	memset(&slow, 0, sizeof(slow));
	slow.pdev = h->pdev;
	init_completion(&slow.inside);
	KUNIT_ASSERT_EQ(test, ib_register_client(&slow_client), 0);
	/* The health check would wait for the handler, and unbinding for the check. */
	no_rescue(dev);
	device_release_driver(&h->pdev->dev);
	ib_unregister_client(&slow_client);
	KUNIT_EXPECT_TRUE(test, slow.overtaken);
	KUNIT_EXPECT_EQ(test, slow.calls, 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&slow.events), 0);
}

static struct kunit_case event_cases[] = {
	KUNIT_CASE(test_srq),
	KUNIT_CASE(test_completion),
	KUNIT_CASE(test_cq_error),
	KUNIT_CASE(test_cq_error_of_the_next),
	KUNIT_CASE(test_qp),
	KUNIT_CASE(test_unbound_under_events),
	{}
};

struct kunit_suite hca_event_suite = {
	.name = "vhca_hca_event",
	.suite_init = rdma_kunit_again,
	.init = hca_test_init,
	.test_cases = event_cases,
};

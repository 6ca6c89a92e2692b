// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The asynchronous event queue of a device that the test plays. It completes commands, and writes
 * another event each time that one was handled, without end: handlers must return all the same.
 */
#include <linux/delay.h>

#include "../device/device.h"
#include "../hw/ring.h"
#include "../verbs/qp.h"
#include "vhca_test.h"

#define LOG		2
#define TIMEOUT		(600 * HZ)
#define PATIENCE	(30 * HZ)
#define QPN		5

/* Number of events after which the device stops, so that an unbounded task returns and fails. */
#define TOO_MANY	(64 << 8)

/* Events that a task may handle in one call: two laps of the ring of 256 entries. */
#define BOUND		(2 << 8)

/**
 * struct bench - what a test has; kunit->priv
 * @dev: the device
 * @fn: its function
 * @pdev: the PCI device; it has no interrupts
 * @irq: structure of its interrupt
 * @qp: QP that all entries name
 * @task: task that runs the test
 * @fetched: number of commands executed
 * @written: number of completions written
 * @pi: number of events written
 * @endless: the device writes another event when one is handled
 * @here: number of events handled by @task
 * @elsewhere: completed when another task handles an event
 * @dead: on_dead of the device has returned
 */
struct bench {
	struct vhca_dev dev;
	struct vhca_fn fn;
	struct pci_dev pdev;
	struct vhca_irq irq;
	struct vhca_qp qp;
	struct task_struct *task;
	u32 fetched;
	u64 written;
	u64 pi;
	bool endless;
	unsigned int here;
	struct completion elsewhere;
	bool dead;
};

static int give_page(struct vhca_uar *uar, struct vhca_db_mem *page)
{
	return 0;
}

static void no_kick(struct vhca_uar *uar)
{
}

static const struct vhca_uar_ops uar_ops = { .add_page = give_page, .kick = no_kick };

static void device_tells(struct bench *b)
{
	struct vhca_ring *ring = &b->dev.async_eq.ring;
	struct vhca_eqe *e = vhca_ring_at(ring, b->pi);

	e->number = cpu_to_le32(QPN);
	e->event = VHCA_EV_COMM_EST;
	/* As the device does: the owner last. */
	smp_store_release(&e->owner, vhca_ring_lap(b->pi, ring->log));
	b->pi++;
}

static void told(struct ib_event *event, void *context)
{
	struct bench *b = context;

	if (current != b->task)
		complete(&b->elsewhere);
	else if (++b->here >= TOO_MANY)
		return;
	if (READ_ONCE(b->endless))
		device_tells(b);
}

/* Completes commands, each with handle 0. An endless device starts when the queue is created. */
static void carry_out(struct vhca_admin *aq, u32 tail)
{
	struct bench *b = container_of(aq, struct bench, dev.hw.admin);
	const struct vhca_create_eq_req *req;
	const struct vhca_asqe *cmd;
	struct vhca_acqe *e;

	while (b->fetched != tail) {
		cmd = &aq->sq[vhca_ring_slot(b->fetched++, LOG)];
		e = &aq->cq[vhca_ring_slot(b->written, LOG)];
		req = (const void *)cmd->req;
		e->cmd_id = cmd->cmd_id;
		e->bad_field = cpu_to_le16(VHCA_NO_FIELD);
		e->status = VHCA_ST_OK;
		if (b->endless && cmd->opcode == VHCA_CMD_CREATE_EQ && req->flags & VHCA_EQ_ASYNC)
			device_tells(b);
		/* The phase is last, too. */
		smp_store_release(&e->phase, vhca_ring_lap(b->written, LOG));
		b->written++;
	}
}

static void timed_out(struct vhca_admin *aq, u8 opcode)
{
	vhca_admin_fail(aq);
}

static void wait_stopped(struct vhca_admin *aq)
{
}

static const struct vhca_admin_ops admin_ops = {
	.kick = carry_out,
	.timed_out = timed_out,
	.wait_stopped = wait_stopped,
};

static int irq_test_init(struct kunit *test)
{
	struct bench *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);
	struct vhca_dev *dev;

	KUNIT_ASSERT_NOT_NULL(test, b);
	test->priv = b;
	b->task = current;
	init_completion(&b->elsewhere);
	dev = &b->dev;
	dev->fn = &b->fn;
	b->fn.pdev = &b->pdev;
	vhca_events_init(dev);
	vhca_hw_init(&dev->hw, vhca_test_device(test), NULL);
	dev->hw.limits.max_eqs = 2;
	dev->hw.limits.vectors = 1;
	b->irq.dev = dev;
	dev->irqs = &b->irq;
	dev->nirqs = 1;
	KUNIT_ASSERT_EQ(test, vhca_admin_init(&dev->hw.admin, dev->hw.dev, &admin_ops, LOG,
					      TIMEOUT), 0);
	KUNIT_ASSERT_EQ(test, vhca_uar_open(&dev->uar, &dev->hw, &uar_ops), 0);
	b->qp.ibqp = (struct ib_qp){
		.device = &dev->ibdev, .event_handler = told, .qp_context = b,
	};
	vhca_id_table_init(&dev->qps, &dev->async_eq);
	/* The QP is in the table before the queue is created, so it gets events from entry 0 on. */
	refcount_set(&b->qp.async.refs, 1);
	KUNIT_ASSERT_EQ(test, xa_insert_irq(&dev->qps.targets, QPN, &b->qp.async, GFP_KERNEL), 0);
	return 0;
}

static void irq_test_exit(struct kunit *test)
{
	struct bench *b = test->priv;

	xa_erase_irq(&b->dev.qps.targets, QPN);
	vhca_id_table_exit(&b->dev.qps);
	vhca_uar_exit(&b->dev.uar);
	vhca_admin_exit(&b->dev.hw.admin);
}

/* Creation and destruction of the queues return although the device writes without end. */
static void test_endless_device_comes_and_goes(struct kunit *test)
{
	struct bench *b = test->priv;

	b->endless = true;
	KUNIT_ASSERT_EQ(test, vhca_eqs_create(&b->dev), 0);
	KUNIT_EXPECT_GT(test, b->here, 0);
	KUNIT_EXPECT_LE(test, b->here, BOUND);
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&b->elsewhere, PATIENCE), 0);
	vhca_eqs_destroy(&b->dev);
	KUNIT_EXPECT_LE(test, b->here, BOUND);
}

/* The health check returns although the device writes without end. */
static void test_endless_device_is_rescued(struct kunit *test)
{
	struct bench *b = test->priv;

	KUNIT_ASSERT_EQ(test, vhca_eqs_create(&b->dev), 0);
	KUNIT_EXPECT_EQ(test, b->here, 0);
	b->endless = true;
	device_tells(b);
	vhca_eqs_rescue(&b->dev);
	KUNIT_EXPECT_EQ(test, b->here, 0);
	vhca_eqs_rescue(&b->dev);
	KUNIT_EXPECT_GT(test, b->here, 0);
	KUNIT_EXPECT_LE(test, b->here, BOUND);
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&b->elsewhere, PATIENCE), 0);
	vhca_eqs_destroy(&b->dev);
}

/* Slow, so that the test notices a caller that does not wait for it. */
static void dies_slowly(struct vhca_hw *hw)
{
	msleep(200);
	container_of(hw, struct bench, dev.hw)->dead = true;
}

/* Memory reclaim may wait until a dead device has stopped, so a WQ_MEM_RECLAIM queue stops it. */
static void test_dead_device_stops_without_memory(struct kunit *test)
{
	struct bench *b = test->priv;

	b->dev.hw.on_dead = dies_slowly;
	b->dev.hw.gone = true;
	vhca_hw_kill(&b->dev.hw, "the test says so");
	flush_workqueue(vhca_stop_wq);
	KUNIT_EXPECT_TRUE(test, completion_done(&b->dev.hw.stopped));
	KUNIT_EXPECT_TRUE(test, b->dead);
	flush_work(&b->dev.hw.stop_work);
}

static struct kunit_case irq_cases[] = {
	KUNIT_CASE(test_endless_device_comes_and_goes),
	KUNIT_CASE(test_endless_device_is_rescued),
	KUNIT_CASE(test_dead_device_stops_without_memory),
	{}
};

struct kunit_suite vhca_irq_suite = {
	.name = "vhca_irq",
	.init = irq_test_init,
	.exit = irq_test_exit,
	.test_cases = irq_cases,
};

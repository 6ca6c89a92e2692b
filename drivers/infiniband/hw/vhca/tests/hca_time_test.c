// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completions of commands that come late, twice, with an unknown id or not at all, and lost
 * interrupts. Where the driver can recover this only costs time; otherwise the device is killed.
 */
#include <linux/iopoll.h>
#include <linux/ktime.h>
#include <linux/workqueue.h>

#include "hca_test.h"

static int ask_pkey(struct vhca_dev *dev)
{
	u16 pkey = 0;

	return ib_query_pkey(&dev->ibdev, 1, 0, &pkey) ?: pkey == 0xffff ? 0 : -EBADMSG;
}

static struct vhca_admin_stats stats_of(struct vhca_dev *dev)
{
	struct vhca_admin_stats stats;
	unsigned long flags;

	spin_lock_irqsave(&dev->hw.admin.lock, flags);
	stats = dev->hw.admin.stats;
	spin_unlock_irqrestore(&dev->hw.admin.lock, flags);
	return stats;
}

/* A slow command, run by another task. */
struct slow_call {
	struct vhca_dev *dev;
	int err;
	struct completion done;
	struct work_struct work;
};

static void call_slowly(struct work_struct *work)
{
	struct slow_call *s = container_of(work, struct slow_call, work);
	struct ib_port_attr attr;

	s->err = ib_query_port(&s->dev->ibdev, 1, &attr);
	complete(&s->done);
}

static void start_slow_call(struct slow_call *s, struct vhca_dev *dev)
{
	s->dev = dev;
	init_completion(&s->done);
	INIT_WORK(&s->work, call_slowly);
	queue_work(system_unbound_wq, &s->work);
}

/* One command takes long; others do not wait for it. */
static void test_late_answer(struct kunit *test)
{
	struct hca_test *h = test->priv;
	struct slow_call *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	struct vhca_admin_stats before, after;
	struct vhca_dev *dev;

	KUNIT_ASSERT_NOT_NULL(test, s);
	hca_need_faults(h);
	dev = hca_need_device(h);
	hca_fault(h, "command @ opcode=QUERY_PORT " HCA_HELD);
	before = stats_of(dev);
	start_slow_call(s, dev);
	while (stats_of(dev).submitted == before.submitted)
		cond_resched();
	for (int i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, ask_pkey(dev), 0);
	KUNIT_EXPECT_FALSE(test, completion_done(&s->done));
	hca_let_go(h);
	flush_work(&s->work);
	KUNIT_EXPECT_EQ(test, s->err, 0);
	after = stats_of(dev);
	KUNIT_EXPECT_EQ(test, after.completed, after.submitted);
	KUNIT_EXPECT_EQ(test, after.timeouts, 0ULL);
	KUNIT_EXPECT_EQ(test, after.lost_irq, before.lost_irq);
	KUNIT_EXPECT_FALSE(test, vhca_hw_dead(&dev->hw));
}

/* A completion that belongs to no command is counted and dropped; the right one is used. */
static void test_strange_answers(struct kunit *test)
{
	struct hca_test *h = test->priv;
	struct vhca_admin_stats was, is;
	struct vhca_dev *dev;

	hca_need_faults(h);
	dev = hca_need_device(h);
	KUNIT_ASSERT_EQ(test, ask_pkey(dev), 0);
	hca_fault(h, "command @ opcode=QUERY_PKEYS answer=twice ,\n"
		     "fault command @ opcode=QUERY_PKEYS answer=stale ,\n"
		     "fault command @ opcode=QUERY_PKEYS answer=unknown");

	was = stats_of(dev);
	KUNIT_EXPECT_EQ(test, ask_pkey(dev), 0);
	/* All have been handled when this command completes, which follows a stale one. */
	KUNIT_EXPECT_EQ(test, ask_pkey(dev), 0);
	is = stats_of(dev);
	KUNIT_EXPECT_EQ(test, is.duplicate + is.stale, was.duplicate + was.stale + 2);
	KUNIT_EXPECT_EQ(test, is.unknown, was.unknown);
	KUNIT_EXPECT_EQ(test, ask_pkey(dev), 0);
	KUNIT_EXPECT_EQ(test, ask_pkey(dev), 0);
	is = stats_of(dev);
	KUNIT_EXPECT_EQ(test, is.duplicate + is.stale, was.duplicate + was.stale + 2);
	KUNIT_EXPECT_EQ(test, is.unknown, was.unknown + 1);
	KUNIT_EXPECT_FALSE(test, vhca_hw_dead(&dev->hw));
	hca_struck(h);
}

static void give_up_after(struct vhca_dev *dev, unsigned int ms)
{
	WRITE_ONCE(dev->hw.admin.timeout, msecs_to_jiffies(ms));
}

/* A timeout kills the device; a reset brings it back. */
static void test_time_out(struct kunit *test)
{
	struct hca_test *h = test->priv;
	struct hca_watch *w;
	struct ib_pd *pd;

	hca_need_faults(h);
	w = hca_watch(h);
	give_up_after(hca_need_device(h), 1000);
	hca_fault(h, "command @ opcode=CREATE_PD answer=none");
	pd = ib_alloc_pd(&hca_need_device(h)->ibdev, 0);
	KUNIT_ASSERT_TRUE(test, IS_ERR(pd));
	KUNIT_EXPECT_EQ(test, PTR_ERR(pd), -ETIMEDOUT);
	hca_wait_gone(w);
	hca_back_again(w);
	KUNIT_EXPECT_EQ(test, stats_of(hca_need_device(h)).timeouts, 0ULL);
}

/*
 * A reset of the device discards a late completion, which must not reach commands after the reset.
 * (admin_test.c tests a completion that comes before the reset.)
 */
static void test_too_late_answer(struct kunit *test)
{
	struct hca_test *h = test->priv;
	struct vhca_admin_stats stats;
	struct vhca_dev *dev;
	struct hca_watch *w;

	hca_need_faults(h);
	w = hca_watch(h);
	dev = hca_need_device(h);
	hca_fault(h, "command @ opcode=QUERY_PKEYS " HCA_HELD);
	give_up_after(dev, 500);
	KUNIT_EXPECT_EQ(test, ask_pkey(dev), -ETIMEDOUT);
	hca_wait_gone(w);
	hca_let_go(h);
	hca_back_again(w);
	dev = hca_need_device(h);
	KUNIT_EXPECT_EQ(test, ask_pkey(dev), 0);
	stats = stats_of(dev);
	KUNIT_EXPECT_EQ(test, stats.stale + stats.unknown + stats.duplicate, 0ULL);
}

/* Many commands are in flight when one times out: only that one gets -ETIMEDOUT, all fail. */
static void test_time_out_with_others_waiting(struct kunit *test)
{
	struct hca_test *h = test->priv;
	struct slow_call *s = kunit_kcalloc(test, 8, sizeof(*s), GFP_KERNEL);
	struct vhca_dev *dev;
	struct hca_watch *w;

	KUNIT_ASSERT_NOT_NULL(test, s);
	hca_need_faults(h);
	w = hca_watch(h);
	dev = hca_need_device(h);
	give_up_after(dev, 1000);
	hca_fault(h, "command @ opcode=QUERY_PORT answer=none count=8");
	for (int i = 0; i < 8; i++) {
		/* The device is removed, but not before all callers have returned. */
		KUNIT_ASSERT_TRUE(test, ib_device_try_get(&dev->ibdev));
		start_slow_call(&s[i], dev);
	}
	for (int i = 0; i < 8; i++) {
		flush_work(&s[i].work);
		KUNIT_EXPECT_TRUE(test, s[i].err == -ETIMEDOUT || s[i].err == -EIO);
		ib_device_put(&dev->ibdev);
	}
	hca_wait_gone(w);
	hca_back_again(w);
}

/*
 * The interrupt of an admin completion is lost: the health check finds the completion before the
 * command times out. The device keeps working.
 */
static void test_lost_admin_interrupt(struct kunit *test)
{
	struct hca_test *h = test->priv;
	struct vhca_admin_stats was, is;
	unsigned int awake_us;
	struct vhca_dev *dev;
	ktime_t start;

	hca_need_faults(h);
	dev = hca_need_device(h);
	was = stats_of(dev);
	/* A completion found by polling would not need the interrupt. */
	awake_us = dev->hw.admin.awake_us;
	dev->hw.admin.awake_us = 0;
	hca_fault(h, "interrupt @ vector=0");
	start = ktime_get();
	KUNIT_EXPECT_EQ(test, ask_pkey(dev), 0);
	KUNIT_EXPECT_LT(test, ktime_ms_delta(ktime_get(), start),
			(s64)jiffies_to_msecs(dev->hw.admin.timeout));
	dev->hw.admin.awake_us = awake_us;
	hca_struck(h);
	is = stats_of(dev);
	KUNIT_EXPECT_GE(test, is.lost_irq, was.lost_irq + 1);
	KUNIT_EXPECT_EQ(test, is.timeouts, was.timeouts);
	KUNIT_EXPECT_EQ(test, ask_pkey(dev), 0);
	KUNIT_EXPECT_FALSE(test, vhca_hw_dead(&dev->hw));
}

/* The vector on which a completion queue of completion vector 0 reports. */
static unsigned int first_vector(const struct vhca_dev *dev)
{
	return dev->nirqs > 1 ? 1 : 0;
}

static void test_lost_completion_interrupt(struct kunit *test)
{
	struct hca_test *h = test->priv;
	struct vhca_dev *dev;
	struct conn *c;

	hca_need_faults(h);
	dev = hca_need_device(h);
	c = conn_get(test, &dev->ibdev, true, 7);
	conn_works(test, c);
	hca_fault(h, "interrupt @ vector=%u", first_vector(dev));
	conn_works(test, c);
	hca_struck(h);
	/* After that, events raise interrupts again. */
	conn_works(test, c);
	conn_works(test, c);
}

struct listener {
	struct ib_event_handler handler;
	struct completion down;
	struct completion up;
};

static void hear(struct ib_event_handler *handler, struct ib_event *event)
{
	struct listener *l = container_of(handler, struct listener, handler);

	if (event->event == IB_EVENT_PORT_ERR)
		complete(&l->down);
	else if (event->event == IB_EVENT_PORT_ACTIVE)
		complete(&l->up);
}

static void stop_listening(void *handler)
{
	ib_unregister_event_handler(handler);
}

static struct listener *listen(struct kunit *test)
{
	struct listener *l = kunit_kzalloc(test, sizeof(*l), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, l);
	hca_need_faults(test->priv);
	init_completion(&l->down);
	init_completion(&l->up);
	INIT_IB_EVENT_HANDLER(&l->handler, &hca_need_device(test->priv)->ibdev, hear);
	ib_register_event_handler(&l->handler);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, stop_listening, &l->handler), 0);
	return l;
}

/* The interrupt of an asynchronous event is lost. */
static void test_lost_event_interrupt(struct kunit *test)
{
	struct hca_test *h = test->priv;
	struct listener *l = listen(test);

	hca_fault(h, "interrupt @ vector=0 , link @:1 down");
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&l->down, HCA_PATIENCE), 0UL);
	hca_struck(h);
	KUNIT_ASSERT_EQ(test, hca_ctl(h, "link @:1 up"), 0);
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&l->up, HCA_PATIENCE), 0UL);
}

/* Events of ports that come before the device is registered are reported afterwards. */
static void test_early_events(struct kunit *test)
{
	struct hca_test *h = test->priv;
	struct listener *l = listen(test);
	struct vhca_dev *dev = hca_need_device(h);
	u32 both = BIT(IB_EVENT_PORT_ACTIVE) | BIT(IB_EVENT_PORT_ERR), types;
	int ret;

	vhca_events_close(dev);
	KUNIT_ASSERT_EQ(test, hca_ctl(h, "link @:1 down , link @:1 up"), 0);
	ret = read_poll_timeout(READ_ONCE, types, (types & both) == both, 1000,
				jiffies_to_usecs(HCA_PATIENCE), false, dev->unreported[0]);
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_FALSE(test, try_wait_for_completion(&l->up));
	vhca_events_open(dev);
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&l->up, HCA_PATIENCE), 0UL);
	KUNIT_EXPECT_TRUE(test, try_wait_for_completion(&l->down));
}

static struct kunit_case time_cases[] = {
	KUNIT_CASE_SLOW(test_late_answer),
	KUNIT_CASE_SLOW(test_strange_answers),
	KUNIT_CASE_SLOW(test_time_out),
	KUNIT_CASE_SLOW(test_too_late_answer),
	KUNIT_CASE_SLOW(test_time_out_with_others_waiting),
	KUNIT_CASE_SLOW(test_lost_admin_interrupt),
	KUNIT_CASE_SLOW(test_lost_completion_interrupt),
	KUNIT_CASE_SLOW(test_lost_event_interrupt),
	KUNIT_CASE(test_early_events),
	{}
};

struct kunit_suite hca_time_suite = {
	.name = "vhca_hca_time",
	.suite_init = rdma_kunit_again,
	.init = hca_test_init,
	.test_cases = time_cases,
};

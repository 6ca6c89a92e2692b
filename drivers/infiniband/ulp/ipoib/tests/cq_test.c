// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: when completions of sends are polled, and when they cause events. The device is the
 * test's: it says how many sends have ended. The poll is run by NAPI itself, the timer by the test.
 */
#include <kunit/test.h>
#include <linux/netdevice.h>

#include "../ud.h"
#include "bed.h"

/**
 * struct played - what the device does; cases run one after the other
 * @cqe: of each send
 * @ended: sends that have ended and were not polled yet
 * @received: what has arrived, one at most
 * @late: sends that end just before the queue is armed
 * @armed: how often it was
 * @failed: the device flushes sends
 * @nothing: polls that have found nothing
 */
static struct played {
	struct ib_cqe cqe;
	int ended;
	int received;
	int late;
	int armed;
	bool failed;
	int nothing;
} played;

/**
 * struct bench - what a test has; kunit->priv
 * @bed: a device and its interface
 * @tx: completions of sends
 * @rx: completions of receives
 */
struct bench {
	struct ipoib_bed bed;
	struct ib_cq tx;
	struct ib_cq rx;
};

static void sent(struct ib_cq *cq, struct ib_wc *wc)
{
	struct ipoib_dev *ipoib = cq->cq_context;

	atomic_inc(&ipoib->tx_tail);
}

static int play_poll(struct ib_cq *cq, int entries, struct ib_wc *wc)
{
	int n = min(entries, played.ended);

	for (int i = 0; i < n; i++)
		wc[i] = (struct ib_wc){
			.wr_cqe = &played.cqe,
			.status = played.failed ? IB_WC_WR_FLUSH_ERR : IB_WC_SUCCESS,
		};
	played.ended -= n;
	played.nothing += !n;
	return n;
}

static int play_arm(struct ib_cq *cq, enum ib_cq_notify_flags flags)
{
	played.armed++;
	played.ended += played.late;
	played.late = 0;
	return flags & IB_CQ_REPORT_MISSED_EVENTS && played.ended;
}

static int play_arm_rx(struct ib_cq *cq, enum ib_cq_notify_flags flags)
{
	return 0;
}

static void received(struct ib_cq *cq, struct ib_wc *wc)
{
	played.received--;
}

static int play_receive(struct ib_cq *cq, int entries, struct ib_wc *wc)
{
	static struct ib_cqe cqe = { .done = received };

	*wc = (struct ib_wc){ .wr_cqe = &cqe };
	return played.received;
}

static int cq_init(struct kunit *test)
{
	struct bench *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);
	struct ipoib_dev *ipoib;

	KUNIT_ASSERT_NOT_NULL(test, b);
	ipoib_bed_init(test, &b->bed);
	memset(&played, 0, sizeof(played));
	played.cqe.done = sent;
	ipoib = b->bed.ipoib;
	b->bed.ca->ops.poll_cq = play_poll;
	b->bed.ca->ops.req_notify_cq = play_arm;
	b->tx.device = b->bed.ca;
	b->tx.cq_context = ipoib;
	ipoib->tx_cq.cq = &b->tx;
	napi_enable(&ipoib->tx_cq.napi);
	test->priv = b;
	return 0;
}

static void cq_exit(struct kunit *test)
{
	struct bench *b = test->priv;

	if (b)
		napi_disable(&b->bed.ipoib->tx_cq.napi);
}

static struct ipoib_dev *interface(struct kunit *test)
{
	struct bench *b = test->priv;

	return b->bed.ipoib;
}

static void settle(struct kunit *test)
{
	napi_synchronize(&interface(test)->tx_cq.napi);
}

static void post(struct kunit *test, bool urgent)
{
	struct ipoib_dev *ipoib = interface(test);

	local_bh_disable();
	ipoib->tx_head++;
	ipoib_cq_posting(ipoib, urgent);
	local_bh_enable();
	settle(test);
}

static void event(struct kunit *test, struct ipoib_cq *queue)
{
	local_bh_disable();
	napi_schedule(&queue->napi);
	local_bh_enable();
	napi_synchronize(&queue->napi);
	settle(test);
}

static void time_passes(struct kunit *test)
{
	struct ipoib_dev *ipoib = interface(test);
	struct bench *b = test->priv;

	timer_delete_sync(&ipoib->tx_timer);
	local_bh_disable();
	b->bed.tx_timer(&ipoib->tx_timer);
	local_bh_enable();
	settle(test);
}

static int under_way(struct kunit *test)
{
	struct ipoib_dev *ipoib = interface(test);

	return ipoib->tx_head - atomic_read(&ipoib->tx_tail);
}

static bool awaited(struct kunit *test)
{
	return ipoib_is(interface(test), IPOIB_TX_AWAITED);
}

/* They lie until the timer has them polled. */
static void few_cause_no_event(struct kunit *test)
{
	for (int n = 0; n < 3; n++) {
		post(test, false);
		played.ended++;
	}
	KUNIT_EXPECT_EQ(test, under_way(test), 3);
	time_passes(test);
	KUNIT_EXPECT_EQ(test, under_way(test), 0);
	KUNIT_EXPECT_EQ(test, played.armed, 0);
	KUNIT_EXPECT_FALSE(test, awaited(test));
	/* Nothing is under way: nothing is polled. */
	played.ended = 1;
	time_passes(test);
	KUNIT_EXPECT_EQ(test, played.ended, 1);
}

/* The sixteenth has those before it polled. */
static void many_are_polled(struct kunit *test)
{
	for (int n = 0; n < 15; n++) {
		post(test, false);
		played.ended++;
	}
	KUNIT_EXPECT_EQ(test, under_way(test), 15);
	post(test, false);
	KUNIT_EXPECT_EQ(test, under_way(test), 1);
	KUNIT_EXPECT_EQ(test, played.armed, 0);
}

/* One that the timer has not found sent causes an event. */
static void slow_causes_event(struct kunit *test)
{
	post(test, false);
	time_passes(test);
	KUNIT_EXPECT_EQ(test, played.armed, 1);
	KUNIT_EXPECT_TRUE(test, awaited(test));
	played.ended = 1;
	event(test, &interface(test)->tx_cq);
	KUNIT_EXPECT_EQ(test, under_way(test), 0);
	KUNIT_EXPECT_EQ(test, played.armed, 1);
	KUNIT_EXPECT_FALSE(test, awaited(test));
}

/* Events go on until nothing is under way. */
static void urgent_causes_events(struct kunit *test)
{
	post(test, true);
	KUNIT_EXPECT_EQ(test, played.armed, 1);
	post(test, false);
	post(test, true);
	KUNIT_EXPECT_EQ(test, played.armed, 1);
	played.ended = 1;
	event(test, &interface(test)->tx_cq);
	KUNIT_EXPECT_EQ(test, under_way(test), 2);
	KUNIT_EXPECT_EQ(test, played.armed, 2);
	/* Of the two that are left one ends before the queue is armed. */
	played.late = 1;
	event(test, &interface(test)->tx_cq);
	KUNIT_EXPECT_EQ(test, under_way(test), 1);
	KUNIT_EXPECT_EQ(test, played.armed, 4);
	played.ended = 1;
	event(test, &interface(test)->tx_cq);
	KUNIT_EXPECT_EQ(test, under_way(test), 0);
	KUNIT_EXPECT_EQ(test, played.armed, 4);
	post(test, false);
	KUNIT_EXPECT_EQ(test, played.armed, 4);
}

/* Who destroys a QP is told of the last send, also if it was not urgent. */
static void last_is_awaited(struct kunit *test)
{
	ipoib_cq_await_sends(interface(test));
	settle(test);
	KUNIT_EXPECT_FALSE(test, awaited(test));
	KUNIT_EXPECT_EQ(test, played.armed, 0);
	post(test, false);
	ipoib_cq_await_sends(interface(test));
	settle(test);
	KUNIT_EXPECT_EQ(test, played.armed, 1);
	played.ended = 1;
	event(test, &interface(test)->tx_cq);
	KUNIT_EXPECT_EQ(test, under_way(test), 0);
}

/* What arrives has sends polled; an event without anything does not. */
static void answer_has_sends_polled(struct kunit *test)
{
	struct ipoib_dev *ipoib = interface(test);
	struct bench *b = test->priv;
	struct ib_device *ca = kunit_kzalloc(test, sizeof(*ca), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ca);
	ca->ops.poll_cq = play_receive;
	ca->ops.req_notify_cq = play_arm_rx;
	b->rx.device = ca;
	ipoib->rx_cq.cq = &b->rx;
	netif_napi_add(ipoib->netdev, &ipoib->rx_cq.napi, ipoib_cq_poll_rx);
	napi_enable(&ipoib->rx_cq.napi);
	post(test, false);
	played.ended = 1;
	event(test, &ipoib->rx_cq);
	KUNIT_EXPECT_EQ(test, under_way(test), 1);
	played.received = 1;
	event(test, &ipoib->rx_cq);
	KUNIT_EXPECT_EQ(test, played.received, 0);
	KUNIT_EXPECT_EQ(test, under_way(test), 0);
	KUNIT_EXPECT_EQ(test, played.armed, 0);
	napi_disable(&ipoib->rx_cq.napi);
	netif_napi_del(&ipoib->rx_cq.napi);
}

/* A device that has failed is polled until there is nothing; otherwise no poll is for nothing. */
static void flushed_are_polled_to_the_end(struct kunit *test)
{
	for (int failed = 0; failed <= 1; failed++) {
		played.failed = failed;
		for (int n = 0; n < 3; n++) {
			post(test, false);
			played.ended++;
		}
		time_passes(test);
		KUNIT_EXPECT_EQ(test, under_way(test), 0);
		KUNIT_EXPECT_EQ(test, played.nothing, failed);
	}
}

static struct kunit_case cq_cases[] = {
	KUNIT_CASE(few_cause_no_event),
	KUNIT_CASE(many_are_polled),
	KUNIT_CASE(slow_causes_event),
	KUNIT_CASE(urgent_causes_events),
	KUNIT_CASE(last_is_awaited),
	KUNIT_CASE(answer_has_sends_polled),
	KUNIT_CASE(flushed_are_polled_to_the_end),
	{}
};

static struct kunit_suite cq_suite = {
	.name = "ipoib_cq",
	.init = cq_init,
	.exit = cq_exit,
	.test_cases = cq_cases,
};

kunit_test_suite(cq_suite);

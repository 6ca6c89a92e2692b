// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Completion queues on an emulated HCA: resized in use, peeked at, moderated; vectors; counters. */
#include <rdma/rdma_counter.h>
#include <rdma/rdma_ext.h>

#include "../verbs/vhca.h"
#include "hca_test.h"

#define CQE	32

/* A connection whose CQ only the test polls. */
static struct conn *quiet(struct kunit *test)
{
	struct vhca_dev *dev = hca_need_device(test->priv);

	return conn_get_as(test, &dev->ibdev, &(struct conn_options){ .cqe = CQE });
}

/* Waits until there are @n completions. */
static void await(struct kunit *test, struct conn *c, int n)
{
	if (ib_req_ncomp_notif(c->cq, n))
		return;
	/* An event that was requested before may come first. */
	do {
		KUNIT_ASSERT_NE(test, wait_for_completion_timeout(&c->called, HCA_PATIENCE), 0);
	} while (ib_peek_cq(c->cq, CQE) < n);
}

static int poll_all(struct kunit *test, struct conn *c)
{
	struct ib_wc wc;
	int n = 0;

	while (ib_poll_cq(c->cq, 1, &wc)) {
		KUNIT_EXPECT_EQ(test, wc.status, IB_WC_SUCCESS);
		n++;
	}
	return n;
}

/* The same without an event. */
static bool wait_until_there(struct conn *c, int n)
{
	unsigned long limit = jiffies + HCA_PATIENCE;

	while (ib_peek_cq(c->cq, n) < n && time_before(jiffies, limit))
		cond_resched();
	return ib_peek_cq(c->cq, n) == n;
}

static void test_peek_and_count(struct kunit *test)
{
	struct conn *c = quiet(test);

	KUNIT_EXPECT_EQ(test, ib_peek_cq(c->cq, 1), 0);
	for (int n = 1; n <= 20; n++) {
		reinit_completion(&c->called);
		KUNIT_ASSERT_EQ(test, conn_write_some(c, n), 0);
		await(test, c, n);
		KUNIT_EXPECT_EQ(test, ib_peek_cq(c->cq, CQE), n);
		KUNIT_EXPECT_EQ(test, ib_peek_cq(c->cq, 1), 1);
		KUNIT_EXPECT_EQ(test, poll_all(test, c), n);
		KUNIT_EXPECT_EQ(test, ib_peek_cq(c->cq, 1), 0);
	}
	KUNIT_EXPECT_EQ(test, ib_req_ncomp_notif(c->cq, CQE + 1), -EINVAL);
	/*
	 * Two completions of three raise no event, the third one does. That holds if no event is
	 * due that was requested when there were already enough completions.
	 */
	c = quiet(test);
	KUNIT_ASSERT_EQ(test, ib_req_ncomp_notif(c->cq, 3), 0);
	KUNIT_ASSERT_EQ(test, conn_write_some(c, 2), 0);
	KUNIT_ASSERT_TRUE(test, wait_until_there(c, 2));
	KUNIT_EXPECT_EQ(test, atomic_read(&c->cq_events), 0);
	KUNIT_ASSERT_EQ(test, conn_write_some(c, 1), 0);
	KUNIT_ASSERT_NE(test, wait_for_completion_timeout(&c->called, HCA_PATIENCE), 0);
	KUNIT_EXPECT_EQ(test, ib_peek_cq(c->cq, CQE), 3);
}

static void need_resize(struct kunit *test)
{
	if (!hca_need_device(test->priv)->ibdev.ops.resize_cq)
		kunit_skip(test, "the device does not resize CQs");
}

/* A size below the number of completions is refused; in any case none of them is lost. */
static void test_resize_filled(struct kunit *test)
{
	static const int sizes[] = { 64, 16, 1024, 8, 9, 4096 };
	struct conn *c;

	need_resize(test);
	c = quiet(test);
	for (int i = 0; i < 4 * ARRAY_SIZE(sizes); i++) {
		reinit_completion(&c->called);
		KUNIT_ASSERT_EQ(test, conn_write_some(c, 8), 0);
		await(test, c, 8);
		KUNIT_EXPECT_EQ(test, ib_resize_cq(c->cq, 4), -EINVAL);
		KUNIT_EXPECT_EQ(test, ib_peek_cq(c->cq, CQE), 8);
		KUNIT_ASSERT_EQ(test, ib_resize_cq(c->cq, sizes[i % ARRAY_SIZE(sizes)]), 0);
		KUNIT_EXPECT_GE(test, c->cq->cqe, sizes[i % ARRAY_SIZE(sizes)]);
		KUNIT_EXPECT_EQ(test, poll_all(test, c), 8);
	}
	KUNIT_EXPECT_EQ(test, ib_resize_cq(c->cq, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_resize_cq(c->cq, c->dev->attrs.max_cqe + 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, c->cq->cqe, 4096);
}

/* Completions arrive and are polled while the ring is replaced repeatedly. */
static void test_resize_in_use(struct kunit *test)
{
	static const int sizes[] = { 1024, 128, 64, 256, 2048 };
	struct conn *c;

	need_resize(test);
	c = conn_get(test, &hca_need_device(test->priv)->ibdev, true, 7);
	for (int round = 0; round < 60; round++) {
		conn_fill(c, round);
		for (int i = 0; i < CONN_DEPTH / 2; i++) {
			KUNIT_ASSERT_EQ(test, conn_recv(c, 0, &c->rx[i], 512 * i, 512), 0);
			KUNIT_ASSERT_EQ(test, conn_send(c, 0, &c->tx[i], IB_WR_SEND,
							IB_SEND_SIGNALED, 512 * i, 500, 0), 0);
		}
		KUNIT_ASSERT_EQ(test, ib_resize_cq(c->cq, sizes[round % ARRAY_SIZE(sizes)]), 0);
		for (int i = 0; i < CONN_DEPTH / 2; i++) {
			KUNIT_ASSERT_EQ(test, conn_wait(&c->rx[i]), IB_WC_SUCCESS);
			KUNIT_ASSERT_EQ(test, conn_wait(&c->tx[i]), IB_WC_SUCCESS);
			KUNIT_EXPECT_TRUE(test, conn_arrived(c, 512 * i, 500));
		}
	}
}

/* One event for several completions, or for fewer when the period is over. */
static void test_moderation(struct kunit *test)
{
	struct vhca_dev *dev = hca_need_device(test->priv);
	const struct ib_cq_caps *caps = &dev->ibdev.attrs.cq_caps;
	struct conn *c;
	ktime_t start;
	int there;

	if (!dev->ibdev.ops.modify_cq)
		kunit_skip(test, "the device does not moderate events");
	c = quiet(test);
	KUNIT_ASSERT_EQ(test, rdma_set_cq_moderation(c->cq, 8, caps->max_cq_moderation_period), 0);
	KUNIT_ASSERT_EQ(test, ib_req_notify_cq(c->cq, IB_CQ_NEXT_COMP), 0);
	start = ktime_get();
	KUNIT_ASSERT_EQ(test, conn_write_some(c, 8), 0);
	KUNIT_ASSERT_NE(test, wait_for_completion_timeout(&c->called, HCA_PATIENCE), 0);
	there = ib_peek_cq(c->cq, CQE);
	/* On a slow machine the period of the first one may end before the last one comes. */
	if (ktime_us_delta(ktime_get(), start) < caps->max_cq_moderation_period)
		KUNIT_EXPECT_EQ(test, there, 8);
	KUNIT_ASSERT_TRUE(test, wait_until_there(c, 8));
	KUNIT_EXPECT_EQ(test, poll_all(test, c), 8);

	KUNIT_ASSERT_EQ(test, rdma_set_cq_moderation(c->cq, 8, 100), 0);
	KUNIT_ASSERT_EQ(test, ib_req_notify_cq(c->cq, IB_CQ_NEXT_COMP), 0);
	KUNIT_ASSERT_EQ(test, conn_write_some(c, 3), 0);
	KUNIT_ASSERT_NE(test, wait_for_completion_timeout(&c->called, HCA_PATIENCE), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&c->cq_events), 2);

	if (caps->max_cq_moderation_count < U16_MAX)
		KUNIT_EXPECT_EQ(test, rdma_set_cq_moderation(c->cq, caps->max_cq_moderation_count +
							     1, 1), -EINVAL);
	if (caps->max_cq_moderation_period < U16_MAX)
		KUNIT_EXPECT_EQ(test, rdma_set_cq_moderation(c->cq, 1,
							     caps->max_cq_moderation_period + 1),
				-EINVAL);
	KUNIT_EXPECT_EQ(test, rdma_set_cq_moderation(c->cq, 0, 0), 0);
}

/* Flags for CQs of processes are refused for kernel CQs, which the driver counts and polls. */
static void test_flags_of_users(struct kunit *test)
{
	static const u32 flags[] = {
		IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION, IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN,
	};
	struct ib_device *dev = &hca_need_device(test->priv)->ibdev;
	struct ib_cq_init_attr attr = { .cqe = 4 };
	struct ib_cq *cq;

	for (int i = 0; i < ARRAY_SIZE(flags); i++) {
		attr.flags = flags[i];
		cq = ib_create_cq(dev, NULL, NULL, NULL, &attr);
		KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(cq), -EOPNOTSUPP);
		if (!IS_ERR(cq))
			ib_destroy_cq(cq);
	}
}

/* Raises an event of a CQ; the interrupt moves to the right CPU when it occurs first. */
static bool called_on(struct kunit *test, struct conn *c, unsigned int cpu)
{
	for (int tries = 0; tries < 10; tries++) {
		KUNIT_ASSERT_EQ(test, ib_req_notify_cq(c->cq, IB_CQ_NEXT_COMP), 0);
		KUNIT_ASSERT_EQ(test, conn_write_some(c, 1), 0);
		KUNIT_ASSERT_NE(test, wait_for_completion_timeout(&c->called, HCA_PATIENCE), 0);
		KUNIT_ASSERT_EQ(test, poll_all(test, c), 1);
		if (c->called_on == cpu)
			return true;
	}
	return false;
}

/* Every CPU has a vector, and handlers of CQs with that vector are called on this CPU. */
static void test_vectors(struct kunit *test)
{
	struct vhca_dev *dev = hca_need_device(test->priv);
	struct conn_options o = { .cqe = CQE };
	const struct cpumask *hint;
	unsigned int cpu;
	cpumask_var_t seen;

	KUNIT_ASSERT_TRUE(test, zalloc_cpumask_var(&seen, GFP_KERNEL));
	KUNIT_EXPECT_EQ(test, dev->ibdev.num_comp_vectors, min(num_online_cpus(), dev->nirqs - 1));
	for (o.vector = 0; o.vector < dev->nvectors; o.vector++) {
		hint = ib_get_vector_affinity(&dev->ibdev, o.vector);
		KUNIT_EXPECT_EQ(test, cpumask_weight(hint), 1);
		cpu = cpumask_first(hint);
		KUNIT_EXPECT_FALSE(test, cpumask_test_and_set_cpu(cpu, seen));
		KUNIT_EXPECT_TRUE(test, called_on(test, conn_get_as(test, &dev->ibdev, &o), cpu));
	}
	free_cpumask_var(seen);
}

/**
 * hca_counter() - read a counter of port 1
 * @test: the test
 * @dev: device that counts
 * @name: name of the counter
 *
 * Return: its value.
 */
u64 hca_counter(struct kunit *test, struct ib_device *dev, const char *name)
{
	struct rdma_hw_stats *stats = dev->ops.alloc_hw_port_stats(dev, 1);
	u64 value = 0;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, stats);
	KUNIT_EXPECT_EQ(test, dev->ops.get_hw_stats(dev, stats, 1, 0), stats->num_counters);
	for (i = 0; i < stats->num_counters; i++)
		if (!strcmp(stats->descs[i].name, name))
			break;
	KUNIT_EXPECT_LT_MSG(test, i, stats->num_counters, "%s", name);
	if (i < stats->num_counters)
		value = stats->value[i];
	rdma_free_hw_stats_struct(stats);
	return value;
}

static void test_counters(struct kunit *test)
{
	struct ib_device *dev = &hca_need_device(test->priv)->ibdev;
	u64 packets, bytes, naks;
	struct conn *c;

	if (!dev->ops.get_hw_stats)
		kunit_skip(test, "the device does not count");
	c = conn_get(test, dev, true, 0);
	packets = hca_counter(test, dev, "tx_packets");
	bytes = hca_counter(test, dev, "rx_bytes");
	naks = hca_counter(test, dev, "rnr_naks_received");
	KUNIT_ASSERT_EQ(test, conn_write(c, 0, 30000, c->pd->unsafe_global_rkey), 0);
	KUNIT_ASSERT_EQ(test, conn_wait(&c->tx[0]), IB_WC_SUCCESS);
	/* With an MTU of 1024 there are thirty packets and at least one acknowledgment. */
	KUNIT_EXPECT_GE(test, hca_counter(test, dev, "tx_packets"), packets + 31);
	KUNIT_EXPECT_GE(test, hca_counter(test, dev, "rx_bytes"), bytes + 30000);
	KUNIT_EXPECT_EQ(test, hca_counter(test, dev, "rnr_naks_received"), naks);
	KUNIT_ASSERT_EQ(test, conn_send(c, 0, &c->tx[0], IB_WR_SEND, IB_SEND_SIGNALED, 0, 8, 0), 0);
	KUNIT_EXPECT_EQ(test, conn_wait(&c->tx[0]), IB_WC_RNR_RETRY_EXC_ERR);
	KUNIT_EXPECT_EQ(test, hca_counter(test, dev, "rnr_naks_received"), naks + 1);
}

static u64 counter_value(struct kunit *test, struct rdma_counter *counter, const char *name)
{
	KUNIT_EXPECT_EQ(test, counter->device->ops.counter_update_stats(counter), 0);
	for (int i = 0; i < counter->stats->num_counters; i++)
		if (!strcmp(counter->stats->descs[i].name, name))
			return counter->stats->value[i];
	KUNIT_FAIL(test, "no value %s", name);
	return 0;
}

static void free_values(void *stats)
{
	rdma_free_hw_stats_struct(stats);
}

/* Traffic of a QP is counted by the counter to which it is bound, and not by the port. */
static void test_qp_counters(struct kunit *test)
{
	struct ib_device *dev = &hca_need_device(test->priv)->ibdev;
	const struct ib_device_ops *ops = &dev->ops;
	struct rdma_counter *counter = kunit_kzalloc(test, sizeof(*counter), GFP_KERNEL);
	u64 packets, counted;
	struct conn *c;

	KUNIT_ASSERT_NOT_NULL(test, counter);
	if (!ops->counter_bind_qp)
		kunit_skip(test, "the device has no counters for QPs");
	c = conn_get(test, dev, true, 0);
	counter->device = dev;
	counter->port = 1;
	counter->stats = ops->counter_alloc_stats(counter);
	KUNIT_ASSERT_NOT_NULL(test, counter->stats);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_values, counter->stats), 0);
	KUNIT_ASSERT_EQ(test, ops->counter_bind_qp(counter, c->qp[0]), 0);
	KUNIT_EXPECT_NE(test, counter->id, 0U);
	/* The QP talks to itself: the port counts neither its requests nor its responses. */
	packets = hca_counter(test, dev, "tx_packets");
	KUNIT_EXPECT_EQ(test, conn_write(c, 0, 30000, c->pd->unsafe_global_rkey), 0);
	KUNIT_EXPECT_EQ(test, conn_wait(&c->tx[0]), IB_WC_SUCCESS);
	counted = counter_value(test, counter, "tx_packets");
	KUNIT_EXPECT_GE(test, counted, 30ULL);
	KUNIT_EXPECT_GE(test, counter_value(test, counter, "tx_bytes"), 30000ULL);
	KUNIT_EXPECT_LT(test, hca_counter(test, dev, "tx_packets"), packets + 30);

	KUNIT_EXPECT_EQ(test, ops->counter_dealloc(counter), -EBUSY);
	KUNIT_EXPECT_EQ(test, ops->counter_unbind_qp(c->qp[0]), 0);
	KUNIT_EXPECT_EQ(test, conn_write(c, 0, 100, c->pd->unsafe_global_rkey), 0);
	KUNIT_EXPECT_EQ(test, conn_wait(&c->tx[0]), IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, counter_value(test, counter, "tx_packets"), counted);
	KUNIT_EXPECT_EQ(test, ops->counter_dealloc(counter), 0);
	KUNIT_EXPECT_EQ(test, ops->counter_update_stats(counter), -EINVAL);
}

static struct kunit_case cq_cases[] = {
	KUNIT_CASE(test_peek_and_count),
	KUNIT_CASE(test_resize_filled),
	KUNIT_CASE(test_resize_in_use),
	KUNIT_CASE(test_moderation),
	KUNIT_CASE(test_flags_of_users),
	KUNIT_CASE(test_vectors),
	KUNIT_CASE(test_counters),
	KUNIT_CASE(test_qp_counters),
	{}
};

struct kunit_suite hca_cq_suite = {
	.name = "vhca_hca_cq",
	.suite_init = rdma_kunit_again,
	.init = hca_test_init,
	.test_cases = cq_cases,
};

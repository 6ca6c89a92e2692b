// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Shared receive queues on an emulated HCA: order, size, limit, and errors of their QPs. */
#include "../verbs/srq.h"
#include "hca_test.h"

#define WR	16

static struct conn *srq_conn(struct kunit *test)
{
	struct vhca_dev *dev = hca_need_device(test->priv);

	if (!dev->ibdev.ops.create_srq)
		kunit_skip(test, "the device has no SRQs");
	return conn_get_as(test, &dev->ibdev, &(struct conn_options){ .srq_wr = WR });
}

static int post(struct conn *c, int i)
{
	return conn_recv(c, 0, &c->rx[i], 512 * i, 512);
}

/* Posts @num receives, from number @i on. */
static void post_all(struct kunit *test, struct conn *c, int i, int num)
{
	for (; num; num--)
		KUNIT_ASSERT_EQ(test, post(c, i++), 0);
}

/* Sends data to the QP itself, from the offset at which receive @i stores them. */
static void send(struct kunit *test, struct conn *c, int qp, int i)
{
	KUNIT_ASSERT_EQ(test, conn_send(c, qp, &c->tx[i], IB_WR_SEND, IB_SEND_SIGNALED, 512 * i,
					300, 0), 0);
	KUNIT_ASSERT_EQ(test, conn_wait(&c->tx[i]), IB_WC_SUCCESS);
}

static void came(struct kunit *test, struct conn *c, int qp, int i)
{
	KUNIT_ASSERT_EQ(test, conn_wait(&c->rx[i]), IB_WC_SUCCESS);
	KUNIT_EXPECT_PTR_EQ(test, c->rx[i].wc.qp, c->qp[qp]);
	KUNIT_EXPECT_EQ(test, c->rx[i].wc.byte_len, 300);
	KUNIT_EXPECT_TRUE(test, conn_arrived(c, 512 * i, 300));
}

static void exchange(struct kunit *test, struct conn *c, int qp, int i)
{
	send(test, c, qp, i);
	came(test, c, qp, i);
}

/* Receives are taken in the order they were posted, whichever QP needs one. */
static void test_order(struct kunit *test)
{
	struct conn *c = srq_conn(test);

	for (int round = 0; round < 20; round++) {
		conn_fill(c, round);
		post_all(test, c, 0, WR);
		KUNIT_EXPECT_EQ(test, conn_recv(c, 0, &c->rx[WR], 0, 8), -ENOMEM);
		for (int i = 0; i < WR; i++)
			exchange(test, c, (i * 5 + round) & 1, i);
	}
	KUNIT_EXPECT_EQ(test, ib_post_recv(c->qp[0], &(struct ib_recv_wr){}, NULL), -EINVAL);
}

static u32 limit_of(struct kunit *test, struct conn *c)
{
	struct ib_srq_attr attr;

	KUNIT_ASSERT_EQ(test, ib_query_srq(c->srq, &attr), 0);
	KUNIT_EXPECT_EQ(test, attr.max_sge, 4);
	return attr.srq_limit;
}

/* One event is raised when fewer receives are left than the limit. */
static void test_limit(struct kunit *test)
{
	struct ib_srq_attr attr = { .srq_limit = 5 };
	struct conn *c = srq_conn(test);

	post_all(test, c, 0, 8);
	KUNIT_ASSERT_EQ(test, ib_modify_srq(c->srq, &attr, IB_SRQ_LIMIT), 0);
	KUNIT_EXPECT_EQ(test, limit_of(test, c), 5);
	for (int i = 0; i < 3; i++)
		send(test, c, 0, i);
	KUNIT_EXPECT_EQ(test, limit_of(test, c), 5);
	KUNIT_EXPECT_EQ(test, atomic_read(&c->srq_events[CONN_SRQ_LIMIT]), 0);
	send(test, c, 0, 3);
	KUNIT_ASSERT_NE(test, wait_for_completion_timeout(&c->event, HCA_PATIENCE), 0);
	KUNIT_EXPECT_EQ(test, limit_of(test, c), 0);
	send(test, c, 1, 4);
	/* If there are already fewer, the event is raised at once. */
	KUNIT_ASSERT_EQ(test, ib_modify_srq(c->srq, &attr, IB_SRQ_LIMIT), 0);
	KUNIT_ASSERT_NE(test, wait_for_completion_timeout(&c->event, HCA_PATIENCE), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&c->srq_events[CONN_SRQ_LIMIT]), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&c->srq_events[CONN_SRQ_ERR]), 0);

	attr.srq_limit = WR + 1;
	KUNIT_EXPECT_EQ(test, ib_modify_srq(c->srq, &attr, IB_SRQ_LIMIT), -EINVAL);
	KUNIT_EXPECT_EQ(test, limit_of(test, c), 0);
}

static void expect_size(struct kunit *test, struct conn *c, u32 size)
{
	struct ib_srq_attr attr;

	KUNIT_ASSERT_EQ(test, ib_query_srq(c->srq, &attr), 0);
	KUNIT_EXPECT_EQ(test, attr.max_wr, size);
}

/* From 16 to 32 receives, to 8, and back, with some of them posted and some taken. */
static void test_resize(struct kunit *test)
{
	static const u32 sizes[] = { 32, 8, 16, 2, 64, 32 };
	struct conn *c = srq_conn(test);
	struct ib_srq_attr attr = {};
	unsigned int next = 0, first;

	for (unsigned int step = 0; step < 4 * ARRAY_SIZE(sizes); step++) {
		attr.max_wr = sizes[step % ARRAY_SIZE(sizes)];
		conn_fill(c, step);
		first = next;
		for (int i = 0; i < 4; i++)
			KUNIT_ASSERT_EQ(test, post(c, next++ % WR), 0);
		if (attr.max_wr < 4) {
			KUNIT_EXPECT_EQ(test, ib_modify_srq(c->srq, &attr, IB_SRQ_MAX_WR), -EINVAL);
			send(test, c, 0, first % WR);
			send(test, c, 1, (first + 1) % WR);
			came(test, c, 0, first % WR);
			came(test, c, 1, (first + 1) % WR);
			first += 2;
		}
		KUNIT_ASSERT_EQ(test, ib_modify_srq(c->srq, &attr, IB_SRQ_MAX_WR), 0);
		expect_size(test, c, attr.max_wr);
		for (; first < next; first++)
			exchange(test, c, first & 1, first % WR);
		if (attr.max_wr < 4) {
			attr.max_wr = 16;
			KUNIT_ASSERT_EQ(test, ib_modify_srq(c->srq, &attr, IB_SRQ_MAX_WR), 0);
		}
	}
	attr.max_wr = 0;
	KUNIT_EXPECT_EQ(test, ib_modify_srq(c->srq, &attr, IB_SRQ_MAX_WR), -EINVAL);
	attr.max_wr = c->dev->attrs.max_srq_wr + 1;
	KUNIT_EXPECT_EQ(test, ib_modify_srq(c->srq, &attr, IB_SRQ_MAX_WR), -EINVAL);
	expect_size(test, c, 32);
}

/* Size and limit in one request: when one is refused, neither has changed. */
static void test_both_or_neither(struct kunit *test)
{
	const int both = IB_SRQ_MAX_WR | IB_SRQ_LIMIT;
	struct ib_srq_attr attr = { .max_wr = 64, .srq_limit = 40 };
	struct hca_test *h = test->priv;
	struct conn *c = srq_conn(test);

	hca_need_faults(h);
	conn_fill(c, 3);
	post_all(test, c, 0, 4);
	hca_fault(h, "command @ opcode=MODIFY_SRQ status=NO_RESOURCE count=2");
	KUNIT_EXPECT_EQ(test, ib_modify_srq(c->srq, &attr, both), -ENOMEM);
	KUNIT_EXPECT_EQ(test, limit_of(test, c), 0);
	expect_size(test, c, WR);
	/* The same with a smaller size, after another receive was posted to the old ring. */
	KUNIT_ASSERT_EQ(test, post(c, 4), 0);
	attr.max_wr = 8;
	attr.srq_limit = 2;
	KUNIT_EXPECT_EQ(test, ib_modify_srq(c->srq, &attr, both), -ENOMEM);
	expect_size(test, c, WR);
	hca_struck(h);
	for (int i = 0; i < 5; i++)
		exchange(test, c, i & 1, i);
	KUNIT_EXPECT_EQ(test, atomic_read(&c->srq_events[CONN_SRQ_LIMIT]), 0);

	attr.srq_limit = 9;
	KUNIT_EXPECT_EQ(test, ib_modify_srq(c->srq, &attr, both), -EINVAL);
	expect_size(test, c, WR);
	post_all(test, c, 0, 8);
	attr.srq_limit = 3;
	KUNIT_EXPECT_EQ(test, ib_modify_srq(c->srq, &attr, both), 0);
	expect_size(test, c, 8);
	KUNIT_EXPECT_EQ(test, limit_of(test, c), 3);
}

/* The device refuses the limit, and then to restore the size: the driver keeps the new size. */
static void test_no_way_back(struct kunit *test)
{
	struct ib_srq_attr attr = { .max_wr = 64, .srq_limit = 40 };
	struct hca_test *h = test->priv;
	struct conn *c = srq_conn(test);

	hca_need_faults(h);
	conn_fill(c, 3);
	KUNIT_ASSERT_EQ(test, post(c, 0), 0);
	hca_fault(h, "command @ opcode=MODIFY_SRQ status=NO_RESOURCE ,\n"
		     "fault command @ opcode=RESIZE_SRQ status=INTERNAL skip=1");
	KUNIT_EXPECT_EQ(test, ib_modify_srq(c->srq, &attr, IB_SRQ_MAX_WR | IB_SRQ_LIMIT), -ENOMEM);
	hca_struck(h);
	expect_size(test, c, 64);
	post_all(test, c, 1, 19);
	for (int i = 0; i < 20; i++)
		exchange(test, c, i & 1, i);
}

static void await_srq_error(struct kunit *test, struct conn *c)
{
	while (!atomic_read(&c->srq_events[CONN_SRQ_ERR]))
		KUNIT_ASSERT_NE(test, wait_for_completion_timeout(&c->event, HCA_PATIENCE), 0);
}

/*
 * A doorbell record with more receives than the ring holds: the device raises one SRQ error and
 * takes no receives from the queue any more; each QP fails when it needs a receive.
 */
static void test_error(struct kunit *test)
{
	struct ib_srq_attr attr = { .srq_limit = 1, .max_wr = 64 };
	struct ib_qp_init_attr init;
	struct ib_qp_attr state;
	struct conn *c = srq_conn(test);
	struct vhca_srq_kernel *k = to_vsrq(c->srq)->kernel;

	KUNIT_ASSERT_EQ(test, post(c, 0), 0);
	vhca_db_store(k->db, 0, k->head + 2 * WR);
	for (int i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, conn_send(c, i, &c->tx[i], IB_WR_SEND, IB_SEND_SIGNALED, 0,
						300, 0), 0);
		KUNIT_EXPECT_NE(test, conn_wait(&c->tx[i]), IB_WC_SUCCESS);
		await_srq_error(test, c);
		KUNIT_ASSERT_EQ(test, ib_query_qp(c->qp[i], &state, IB_QP_STATE, &init), 0);
		KUNIT_EXPECT_EQ(test, state.qp_state, IB_QPS_ERR);
	}
	KUNIT_EXPECT_EQ(test, ib_query_srq(c->srq, &attr), -EINVAL);
	attr = (struct ib_srq_attr){ .srq_limit = 1, .max_wr = 64 };
	KUNIT_EXPECT_EQ(test, ib_modify_srq(c->srq, &attr, IB_SRQ_LIMIT), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_modify_srq(c->srq, &attr, IB_SRQ_MAX_WR), -EINVAL);
	/* There was one SRQ error. */
	KUNIT_EXPECT_EQ(test, atomic_read(&c->srq_events[CONN_SRQ_ERR]), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&c->srq_events[CONN_SRQ_LIMIT]), 0);
	KUNIT_EXPECT_FALSE(test, completion_done(&c->rx[0].done));
}

/* A QP in the error state holds no receive, for which there is one event; the other QP works. */
static void test_last_wqe(struct kunit *test)
{
	struct ib_qp_attr error = { .qp_state = IB_QPS_ERR }, reset = { .qp_state = IB_QPS_RESET };
	struct conn *c = srq_conn(test);

	conn_fill(c, 1);
	post_all(test, c, 0, 4);
	KUNIT_ASSERT_EQ(test, ib_modify_qp(c->qp[1], &error, IB_QP_STATE), 0);
	KUNIT_ASSERT_NE(test, wait_for_completion_timeout(&c->event, HCA_PATIENCE), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&c->last_wqes), 1);
	exchange(test, c, 0, 0);
	/* After a reset the QP takes the next receive. */
	KUNIT_ASSERT_EQ(test, ib_modify_qp(c->qp[1], &reset, IB_QP_STATE), 0);
	KUNIT_ASSERT_EQ(test, conn_connect(c, 1, 1, 7), 0);
	exchange(test, c, 1, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&c->last_wqes), 1);
	/* For a direct reset the driver moves the QP to ERR first, so that no receive is lost. */
	KUNIT_ASSERT_EQ(test, ib_modify_qp(c->qp[1], &reset, IB_QP_STATE), 0);
	KUNIT_ASSERT_NE(test, wait_for_completion_timeout(&c->event, HCA_PATIENCE), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&c->last_wqes), 2);
	KUNIT_ASSERT_EQ(test, conn_connect(c, 1, 1, 7), 0);
	exchange(test, c, 1, 2);
	KUNIT_EXPECT_EQ(test, to_vsrq(c->srq)->kernel->busy, 1);
}

/* A receive of the SRQ that is too small ends the connection, not the queue. */
static void test_too_small(struct kunit *test)
{
	struct conn *c = srq_conn(test);

	conn_fill(c, 1);
	KUNIT_ASSERT_EQ(test, conn_recv(c, 0, &c->rx[0], 0, 100), 0);
	KUNIT_ASSERT_EQ(test, post(c, 1), 0);
	KUNIT_ASSERT_EQ(test, conn_send(c, 0, &c->tx[0], IB_WR_SEND, IB_SEND_SIGNALED, 0, 101, 0),
			0);
	KUNIT_EXPECT_EQ(test, conn_wait(&c->rx[0]), IB_WC_LOC_LEN_ERR);
	KUNIT_ASSERT_NE(test, wait_for_completion_timeout(&c->event, HCA_PATIENCE), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&c->last_wqes), 1);
	exchange(test, c, 1, 1);
	KUNIT_EXPECT_EQ(test, to_vsrq(c->srq)->kernel->busy, 0);
}

static void test_refusals(struct kunit *test)
{
	struct ib_device *dev = &hca_need_device(test->priv)->ibdev;
	struct ib_srq_init_attr attr = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct conn *c = srq_conn(test);
	struct ib_srq *srq;

#define REFUSED(change, errno)							\
	({									\
		struct ib_srq_init_attr bad = attr;				\
										\
		change;								\
		srq = ib_create_srq(c->pd, &bad);				\
		KUNIT_EXPECT_EQ_MSG(test, PTR_ERR_OR_ZERO(srq), errno, #change);	\
		if (!IS_ERR(srq))						\
			ib_destroy_srq(srq);					\
	})
	REFUSED(bad.attr.max_wr = 0, -EINVAL);
	REFUSED(bad.attr.max_wr = dev->attrs.max_srq_wr + 1, -EINVAL);
	REFUSED(bad.attr.max_sge = dev->attrs.max_srq_sge + 1, -EINVAL);
	REFUSED(bad.srq_type = IB_SRQT_TM; bad.ext.cq = c->cq, -EOPNOTSUPP);
	REFUSED(bad.attr.max_sge = 0, 0);
#undef REFUSED
	KUNIT_EXPECT_EQ(test, ib_destroy_srq_user(c->srq, NULL), -EBUSY);
}

static struct kunit_case srq_cases[] = {
	KUNIT_CASE(test_order),
	KUNIT_CASE(test_limit),
	KUNIT_CASE(test_resize),
	KUNIT_CASE(test_both_or_neither),
	KUNIT_CASE(test_no_way_back),
	KUNIT_CASE(test_error),
	KUNIT_CASE(test_last_wqe),
	KUNIT_CASE(test_too_small),
	KUNIT_CASE(test_refusals),
	{}
};

struct kunit_suite hca_srq_suite = {
	.name = "vhca_hca_srq",
	.suite_init = rdma_kunit_again,
	.init = hca_test_init,
	.test_cases = srq_cases,
};

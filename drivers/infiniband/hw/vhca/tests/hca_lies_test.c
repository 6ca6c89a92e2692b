// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * An HCA that executes commands and responds with invalid numbers, or writes invalid completions
 * and events. The driver kills it, and does not free memory that the device may still use before
 * the device has stopped: its reset takes so long here that the test detects code that does not
 * wait.
 */
#include <rdma/rdma_ext.h>

#include "../cmd/cmd.h"
#include "../verbs/cq.h"
#include "../verbs/pd.h"
#include "hca_test.h"

/* Longer than a call takes that does not wait for the reset. */
#define SLOW_RESET	"reset @ delay=1500 , fault "

/* The device under test and its user; it stays registered until lies_end(). */
struct liar {
	struct hca_watch *w;
	struct vhca_dev *dev;
};

static void begin(struct kunit *test, struct liar *l)
{
	struct hca_test *h = test->priv;

	hca_need_faults(h);
	l->w = hca_watch(h);
	l->dev = hca_need_device(h);
	KUNIT_ASSERT_TRUE(test, ib_device_try_get(&l->dev->ibdev));
}

/* Called after the request with the invalid response has failed. */
static void expect_stopped(struct kunit *test, struct liar *l)
{
	KUNIT_EXPECT_TRUE(test, vhca_hw_dead(&l->dev->hw));
	KUNIT_EXPECT_TRUE_MSG(test, completion_done(&l->dev->hw.stopped),
			      "memory is given back while the device may use it");
}

static void end(struct kunit *test, struct liar *l)
{
	ib_device_put(&l->dev->ibdev);
	hca_wait_gone(l->w);
	hca_struck(test->priv);
	hca_back_again(l->w);
}

static void no_kick(struct vhca_uar *uar)
{
}

static void test_doorbell_area(struct kunit *test)
{
	static const struct vhca_uar_ops ops = {
		.add_page = vhca_uar_add_page_cmd,
		.kick = no_kick,
	};
	struct vhca_uar *uar = kunit_kzalloc(test, sizeof(*uar), GFP_KERNEL);
	struct liar l;

	KUNIT_ASSERT_NOT_NULL(test, uar);
	begin(test, &l);
	hca_fault(test->priv, SLOW_RESET "command @ opcode=OPEN_UAR answer=nonsense");
	KUNIT_EXPECT_EQ(test, vhca_uar_open(uar, &l.dev->hw, &ops), -EIO);
	expect_stopped(test, &l);
	end(test, &l);
}

static void test_resized_cq(struct kunit *test)
{
	struct ib_cq_init_attr attr = { .cqe = 16 };
	struct ib_cq *cq;
	struct liar l;

	if (!hca_need_device(test->priv)->ibdev.ops.resize_cq)
		kunit_skip(test, "the device does not resize CQs");
	begin(test, &l);
	cq = ib_create_cq(&l.dev->ibdev, NULL, NULL, NULL, &attr);
	KUNIT_EXPECT_NOT_ERR_OR_NULL(test, cq);
	if (!IS_ERR(cq)) {
		hca_fault(test->priv, SLOW_RESET "command @ opcode=RESIZE_CQ answer=nonsense");
		KUNIT_EXPECT_EQ(test, ib_resize_cq(cq, 64), -EPROTO);
		expect_stopped(test, &l);
		ib_destroy_cq(cq);
	}
	end(test, &l);
}

/* The number of the first CQ is valid, but the second CQ must not get the same one. */
static void test_cq_number_twice(struct kunit *test)
{
	struct ib_cq_init_attr attr = { .cqe = 16 };
	struct ib_cq *cq[2];
	struct liar l;

	begin(test, &l);
	hca_fault(test->priv, SLOW_RESET "command @ opcode=CREATE_CQ answer=nonsense count=2");
	for (int i = 0; i < 2; i++)
		cq[i] = ib_create_cq(&l.dev->ibdev, NULL, NULL, NULL, &attr);
	KUNIT_EXPECT_NOT_ERR_OR_NULL(test, cq[0]);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(cq[1]), -EIO);
	expect_stopped(test, &l);
	for (int i = 0; i < 2; i++)
		if (!IS_ERR(cq[i]))
			ib_destroy_cq(cq[i]);
	end(test, &l);
}

/* One PD for objects that need it. */
static struct ib_pd *lies_pd(struct kunit *test, struct liar *l)
{
	struct ib_pd *pd = ib_alloc_pd(&l->dev->ibdev, 0);

	KUNIT_EXPECT_NOT_ERR_OR_NULL(test, pd);
	return pd;
}

static void test_srq_number_twice(struct kunit *test)
{
	struct ib_srq_init_attr attr = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ib_srq *srq[2] = {};
	struct ib_pd *pd;
	struct liar l;

	if (!hca_need_device(test->priv)->ibdev.ops.create_srq)
		kunit_skip(test, "the device has no SRQs");
	begin(test, &l);
	pd = lies_pd(test, &l);
	hca_fault(test->priv, SLOW_RESET "command @ opcode=CREATE_SRQ answer=nonsense count=2");
	for (int i = 0; i < 2; i++)
		srq[i] = ib_create_srq(pd, &attr);
	KUNIT_EXPECT_NOT_ERR_OR_NULL(test, srq[0]);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(srq[1]), -EIO);
	expect_stopped(test, &l);
	for (int i = 0; i < 2; i++)
		if (!IS_ERR(srq[i]))
			ib_destroy_srq(srq[i]);
	ib_dealloc_pd(pd);
	end(test, &l);
}

/* Numbers of QPs have 24 bits. */
static void test_qp_number(struct kunit *test)
{
	struct ib_cq_init_attr cq_attr = { .cqe = 16 };
	struct ib_qp_init_attr attr = {
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IB_QPT_RC,
	};
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
	struct liar l;

	begin(test, &l);
	pd = lies_pd(test, &l);
	cq = ib_create_cq(&l.dev->ibdev, NULL, NULL, NULL, &cq_attr);
	KUNIT_EXPECT_NOT_ERR_OR_NULL(test, cq);
	attr.send_cq = cq;
	attr.recv_cq = cq;
	hca_fault(test->priv, SLOW_RESET "command @ opcode=CREATE_QP answer=nonsense");
	qp = ib_create_qp(pd, &attr);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(qp), -EIO);
	expect_stopped(test, &l);
	if (!IS_ERR(qp))
		ib_destroy_qp(qp);
	ib_destroy_cq(cq);
	ib_dealloc_pd(pd);
	end(test, &l);
}

static void wait_stopped(struct kunit *test, struct liar *l)
{
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&l->dev->hw.stopped, HCA_PATIENCE), 0UL);
	expect_stopped(test, l);
	/* If the device were not killed, the test would wait for ever. */
	vhca_hw_kill(&l->dev->hw, "a test expected that it is given up");
}

/* A connection on the device under test, whose first QP talks to itself; NULL if there is none. */
static struct conn *begin_talk(struct kunit *test, struct liar *l, const struct conn_options *o)
{
	struct conn *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);
	int err;

	KUNIT_ASSERT_NOT_NULL(test, c);
	begin(test, l);
	err = conn_open_as(c, &l->dev->ibdev, o);
	KUNIT_EXPECT_EQ(test, err, 0);
	if (err) {
		ib_device_put(&l->dev->ibdev);
		return NULL;
	}
	KUNIT_EXPECT_EQ(test, conn_connect(c, 0, 0, 7), 0);
	return c;
}

static void end_talk(struct kunit *test, struct liar *l, struct conn *c)
{
	conn_close(c);
	end(test, l);
}

/* A completion whose field @lie is wrong: the requests of the QP are flushed. */
static void completion_lies(struct kunit *test, const char *lie, enum ib_wr_opcode opcode,
			    u32 srq_wr)
{
	struct conn_options o = { .srq_wr = srq_wr };
	bool receives = opcode == IB_WR_SEND;
	struct liar l;
	struct conn *c = begin_talk(test, &l, &o);

	if (!c)
		return;
	hca_fault(test->priv, SLOW_RESET "completion @ cq=%u lie=%s", to_vcq(c->cq)->cqn, lie);
	if (receives)
		KUNIT_EXPECT_EQ(test, conn_recv(c, 0, &c->rx[0], 0, 64), 0);
	KUNIT_EXPECT_EQ(test, conn_send(c, 0, &c->tx[0], opcode, IB_SEND_SIGNALED, 0, 64,
					c->pd->unsafe_global_rkey), 0);
	wait_stopped(test, &l);
	/*
	 * For a message to itself the QP gets the completion of the receive first, and that of the
	 * send may come before the device stops. Receives of an SRQ are not flushed.
	 */
	if (!receives)
		KUNIT_EXPECT_EQ(test, conn_wait(&c->tx[0]), IB_WC_WR_FLUSH_ERR);
	else
		KUNIT_EXPECT_NE(test, conn_wait(&c->tx[0]), 255);
	if (receives && !srq_wr)
		KUNIT_EXPECT_EQ(test, conn_wait(&c->rx[0]), IB_WC_WR_FLUSH_ERR);
	end_talk(test, &l, c);
}

static void test_completed_request(struct kunit *test)
{
	completion_lies(test, "index", IB_WR_RDMA_WRITE, 0);
}

/* The completion of a receive, when the QP has posted none. */
static void test_completed_queue(struct kunit *test)
{
	completion_lies(test, "flags", IB_WR_RDMA_WRITE, 0);
}

static void test_received_length(struct kunit *test)
{
	completion_lies(test, "length", IB_WR_SEND, 0);
}

static void test_shared_receive(struct kunit *test)
{
	if (!hca_need_device(test->priv)->ibdev.ops.create_srq)
		kunit_skip(test, "the device has no SRQs");
	completion_lies(test, "id", IB_WR_SEND, 4);
}

/*
 * A completion that names no QP of its CQ may be of one that is being destroyed. It is dropped, and
 * later completions of the CQ are valid. No request is lost: when the device is taken down, those
 * that are left are flushed.
 */
static void test_completions_by_chance(struct kunit *test)
{
	unsigned long deadline = jiffies + HCA_PATIENCE;
	const int n = 8;
	struct liar l;
	struct conn *c = begin_talk(test, &l, &(struct conn_options){});

	if (!c)
		return;
	KUNIT_EXPECT_EQ(test, conn_connect(c, 1, 1, 7), 0);
	hca_fault(test->priv, "completion @ cq=%u seed=1 count=%d", to_vcq(c->cq)->cqn, n);
	KUNIT_EXPECT_EQ(test, conn_write_some(c, n), 0);
	while (hca_ctl(test->priv, "fault spent @") && time_before(jiffies, deadline))
		;
	KUNIT_EXPECT_EQ(test, conn_send(c, 1, &c->tx[n], IB_WR_RDMA_WRITE, IB_SEND_SIGNALED, 0, 64,
					c->pd->unsafe_global_rkey), 0);
	KUNIT_EXPECT_EQ(test, conn_wait(&c->tx[n]), IB_WC_SUCCESS);
	KUNIT_EXPECT_FALSE(test, vhca_hw_dead(&l.dev->hw));
	vhca_hw_kill(&l.dev->hw, "a test has lied to the driver");
	for (int i = 0; i < n; i++)
		KUNIT_EXPECT_EQ_MSG(test, conn_wait(&c->tx[i]), IB_WC_WR_FLUSH_ERR,
				    "request %d", i);
	expect_stopped(test, &l);
	end_talk(test, &l, c);
}

/*
 * The queue of completion events reports another event. A consumer that waits for a completion gets
 * one; it is flushed if the invalid event was that of another CQ.
 */
static void test_completion_event(struct kunit *test)
{
	struct liar l;
	struct conn *c = begin_talk(test, &l, &(struct conn_options){});

	if (!c)
		return;
	hca_fault(test->priv, SLOW_RESET "event @ event=%u lie=kind", VHCA_EV_COMPLETION);
	KUNIT_EXPECT_EQ(test, conn_write(c, 0, 64, c->pd->unsafe_global_rkey), 0);
	KUNIT_EXPECT_NE(test, conn_wait(&c->tx[0]), 255);
	wait_stopped(test, &l);
	end_talk(test, &l, c);
}

static void port_event_lies(struct kunit *test, const char *lie)
{
	struct liar l;

	begin(test, &l);
	hca_fault(test->priv, SLOW_RESET "event @ event=%u lie=%s", VHCA_EV_PORT_ERR, lie);
	KUNIT_EXPECT_EQ(test, hca_ctl(test->priv, "link @:1 down"), 0);
	wait_stopped(test, &l);
	KUNIT_EXPECT_EQ(test, hca_ctl(test->priv, "link @:1 up"), 0);
	end(test, &l);
}

static void test_event_of_no_port(struct kunit *test)
{
	port_event_lies(test, "port");
}

static void test_unknown_event(struct kunit *test)
{
	port_event_lies(test, "kind");
}

/*
 * The device refuses to destroy a key that is not in use. The core asks the driver to give the
 * device up, and then the key is freed, when the device cannot use it any more. The test bypasses
 * the core, which warns of a kernel object that cannot be destroyed.
 */
static void test_kept_key(struct kunit *test)
{
	struct vhca_pd *pd = kunit_kzalloc(test, sizeof(*pd), GFP_KERNEL);
	struct ib_device *ibdev;
	struct ib_mr *mr;
	struct liar l;

	KUNIT_ASSERT_NOT_NULL(test, pd);
	begin(test, &l);
	ibdev = &l.dev->ibdev;
	pd->ibpd.device = ibdev;
	KUNIT_EXPECT_EQ(test, ibdev->ops.alloc_pd(&pd->ibpd, NULL), 0);
	mr = ibdev->ops.get_dma_mr(&pd->ibpd, IB_ACCESS_LOCAL_WRITE);
	KUNIT_EXPECT_NOT_ERR_OR_NULL(test, mr);
	hca_fault(test->priv, SLOW_RESET "command @ opcode=DESTROY_MKEY status=BUSY");
	if (!IS_ERR(mr)) {
		mr->device = ibdev;
		mr->pd = &pd->ibpd;
		KUNIT_EXPECT_EQ(test, ibdev->ops.dereg_mr(mr, NULL), -EBUSY);
		ibdev->ops.ext->give_up(ibdev);
		KUNIT_EXPECT_EQ(test, ibdev->ops.dereg_mr(mr, NULL), 0);
		expect_stopped(test, &l);
	}
	KUNIT_EXPECT_EQ(test, ibdev->ops.dealloc_pd(&pd->ibpd, NULL), 0);
	end(test, &l);
}

static struct kunit_case lies_cases[] = {
	KUNIT_CASE_SLOW(test_doorbell_area),
	KUNIT_CASE_SLOW(test_resized_cq),
	KUNIT_CASE_SLOW(test_cq_number_twice),
	KUNIT_CASE_SLOW(test_srq_number_twice),
	KUNIT_CASE_SLOW(test_qp_number),
	KUNIT_CASE_SLOW(test_completed_request),
	KUNIT_CASE_SLOW(test_completed_queue),
	KUNIT_CASE_SLOW(test_received_length),
	KUNIT_CASE_SLOW(test_shared_receive),
	KUNIT_CASE_SLOW(test_completions_by_chance),
	KUNIT_CASE_SLOW(test_completion_event),
	KUNIT_CASE_SLOW(test_event_of_no_port),
	KUNIT_CASE_SLOW(test_unknown_event),
	KUNIT_CASE_SLOW(test_kept_key),
	{}
};

struct kunit_suite hca_lies_suite = {
	.name = "vhca_hca_lies",
	.suite_init = rdma_kunit_again,
	.init = hca_test_init,
	.test_cases = lies_cases,
};

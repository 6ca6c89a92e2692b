// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: XRC domains, their SRQs, and target QPs that several users share.
 */
#include <linux/completion.h>
#include <linux/slab.h>
#include <rdma/rdma_ext.h>
#include "test_verbs.h"
#include "../verbs_priv.h"

static int domains;

static int fake_alloc_xrcd(struct ib_xrcd *xrcd, struct ib_udata *udata)
{
	return test_verbs_made(&domains);
}

static int fake_dealloc_xrcd(struct ib_xrcd *xrcd, struct ib_udata *udata)
{
	return test_verbs_gone(&domains);
}

static const struct ib_device_ops fake_xrc_ops = {
	.alloc_xrcd = fake_alloc_xrcd,
	.dealloc_xrcd = fake_dealloc_xrcd,
	.size_ib_xrcd = sizeof(struct ib_xrcd),
};

static int xrc_init(struct kunit *test)
{
	domains = 0;
	return test_verbs_init(test);
}

static void xrc_exit(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 0, domains);
	test_verbs_exit(test);
}

static struct ib_xrcd *make_domain(struct kunit *test)
{
	struct ib_device *device = test->priv;
	struct ib_xrcd *xrcd;

	ib_set_device_ops(device, &fake_xrc_ops);
	xrcd = ib_alloc_xrcd_user(device, NULL, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(xrcd));
	return xrcd;
}

/* Expects one reason in a log, and returns its text. */
static const char *the_reason(struct kunit *test, struct rdma_reject_log *log)
{
	char *text = kunit_kzalloc(test, RDMA_REJECT_TEXT, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, text);
	KUNIT_EXPECT_EQ(test, 1, atomic64_read(&log->count));
	rdma_reject_text(log, 0, text, RDMA_REJECT_TEXT);
	return text;
}

/* Refusals have a reason that says what device or QP cannot do. */
static void reasons(struct kunit *test)
{
	struct rdma_reject_log *logs = kunit_kcalloc(test, 2, sizeof(*logs), GFP_KERNEL);
	struct ib_device *device = test->priv;
	struct ib_qp whole = { .device = device, .qp_num = 77 };
	struct rdma_reject_scope scope;

	KUNIT_ASSERT_NOT_NULL(test, logs);
	whole.real_qp = &whole;
	rdma_reject_enter(&logs[0], &scope);
	KUNIT_EXPECT_PTR_EQ(test, ERR_PTR(-EOPNOTSUPP), ib_alloc_xrcd_user(device, NULL, NULL));
	rdma_reject_leave(&scope);
	KUNIT_EXPECT_NOT_NULL(test, strstr(the_reason(test, &logs[0]),
					   "XRC domains: not supported"));
	rdma_reject_enter(&logs[1], &scope);
	KUNIT_EXPECT_EQ(test, -EINVAL, ib_close_qp(&whole));
	rdma_reject_leave(&scope);
	KUNIT_EXPECT_NOT_NULL(test, strstr(the_reason(test, &logs[1]), "qp_num 77"));
}

static void domain(struct kunit *test)
{
	struct ib_device *device = test->priv;
	struct ib_xrcd *xrcd;

	KUNIT_EXPECT_PTR_EQ(test, ERR_PTR(-EOPNOTSUPP), ib_alloc_xrcd_user(device, NULL, NULL));
	xrcd = make_domain(test);
	KUNIT_EXPECT_PTR_EQ(test, device, xrcd->device);
	KUNIT_EXPECT_NULL(test, xrcd->inode);
	KUNIT_EXPECT_EQ(test, 1, domains);
	test_verbs.destroy = -EIO;
	KUNIT_EXPECT_EQ(test, -EIO, ib_dealloc_xrcd_user(xrcd, NULL));
	test_verbs.destroy = 0;
	KUNIT_EXPECT_EQ(test, 0, ib_dealloc_xrcd_user(xrcd, NULL));
	test_verbs.create = -ENOSPC;
	KUNIT_EXPECT_PTR_EQ(test, ERR_PTR(-ENOSPC), ib_alloc_xrcd_user(device, NULL, NULL));
	test_verbs.create = 0;
}

/* An SRQ holds references on its CQ and its domain. */
static void shared_receives(struct kunit *test)
{
	struct ib_device *device = test->priv;
	struct ib_xrcd *xrcd = make_domain(test);
	struct ib_pd *pd = ib_alloc_pd(device, 0);
	struct ib_cq *cq = test_verbs_cq(device);
	struct ib_srq_init_attr attr = {
		.srq_type = IB_SRQT_XRC, .attr.max_wr = 1, .ext.cq = cq, .ext.xrc.xrcd = xrcd,
	};
	struct ib_srq *srq = ib_create_srq_user(pd, &attr, NULL, NULL);

	KUNIT_ASSERT_FALSE(test, IS_ERR(srq));
	KUNIT_EXPECT_PTR_EQ(test, xrcd, srq->ext.xrc.xrcd);
	KUNIT_EXPECT_PTR_EQ(test, cq, srq->ext.cq);
	KUNIT_EXPECT_EQ(test, -EBUSY, ib_dealloc_xrcd_user(xrcd, NULL));
	KUNIT_EXPECT_EQ(test, -EBUSY, ib_destroy_cq_user(cq, NULL));
	ib_destroy_srq(srq);
	ib_destroy_cq(cq);
	ib_dealloc_pd(pd);
	KUNIT_EXPECT_EQ(test, 0, ib_dealloc_xrcd_user(xrcd, NULL));
}

/* An opener of a target QP and the events it got. */
struct sharer {
	struct ib_qp *qp;
	unsigned int events;
};

static void heard(struct ib_event *event, void *context)
{
	struct sharer *user = context;

	if (event->element.qp == user->qp && event->event == IB_EVENT_COMM_EST)
		user->events++;
}

static struct ib_qp *make_target(struct kunit *test, struct ib_xrcd *xrcd, struct sharer *user)
{
	struct ib_qp_init_attr attr = {
		.qp_type = IB_QPT_XRC_TGT, .xrcd = xrcd, .event_handler = heard,
		.qp_context = user,
	};

	return ib_create_qp_user(test->priv, NULL, &attr, NULL, NULL, "xrc_test");
}

static struct ib_qp *open_target(struct ib_xrcd *xrcd, u32 qp_num, struct sharer *user)
{
	struct ib_qp_open_attr attr = {
		.event_handler = heard, .qp_context = user, .qp_num = qp_num,
		.qp_type = IB_QPT_XRC_TGT,
	};

	return ib_open_qp(xrcd, &attr);
}

static void say(struct ib_qp *real)
{
	struct ib_event event = { .event = IB_EVENT_COMM_EST, .element.qp = real };

	real->event_handler(&event, real->qp_context);
}

/* Each opener gets events and may modify; closing the last handle destroys the QP. */
static void shared_target(struct kunit *test)
{
	struct ib_xrcd *xrcd = make_domain(test);
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	struct sharer first = {}, second = {};
	struct ib_qp *real;

	first.qp = make_target(test, xrcd, &first);
	KUNIT_ASSERT_FALSE(test, IS_ERR(first.qp));
	real = first.qp->real_qp;
	KUNIT_EXPECT_PTR_NE(test, real, first.qp);
	KUNIT_EXPECT_PTR_EQ(test, xrcd, real->xrcd);
	KUNIT_EXPECT_EQ(test, real->qp_num, first.qp->qp_num);
	KUNIT_EXPECT_EQ(test, 1, test_verbs.qps);
	second.qp = open_target(xrcd, real->qp_num, &second);
	KUNIT_ASSERT_FALSE(test, IS_ERR(second.qp));
	KUNIT_EXPECT_PTR_EQ(test, real, second.qp->real_qp);
	KUNIT_EXPECT_EQ(test, 1, test_verbs.qps);

	say(real);
	KUNIT_EXPECT_EQ(test, 1, first.events);
	KUNIT_EXPECT_EQ(test, 1, second.events);
	KUNIT_EXPECT_EQ(test, 0, ib_modify_qp(second.qp, &attr, IB_QP_STATE));
	KUNIT_EXPECT_EQ(test, IB_QPS_ERR, test_verbs.modified.qp_state);

	/* The handle of the QP's creator is destroyed first. */
	KUNIT_EXPECT_EQ(test, 0, ib_destroy_qp(first.qp));
	KUNIT_EXPECT_EQ(test, 1, test_verbs.qps);
	say(real);
	KUNIT_EXPECT_EQ(test, 1, first.events);
	KUNIT_EXPECT_EQ(test, 2, second.events);
	KUNIT_EXPECT_EQ(test, -EBUSY, ib_dealloc_xrcd_user(xrcd, NULL));

	/* If the driver refuses, the handle stays valid and the QP can still be opened. */
	test_verbs.destroy = -EIO;
	KUNIT_EXPECT_EQ(test, -EIO, ib_destroy_qp(second.qp));
	test_verbs.destroy = 0;
	say(real);
	KUNIT_EXPECT_EQ(test, 3, second.events);
	first.qp = open_target(xrcd, second.qp->qp_num, &first);
	KUNIT_ASSERT_FALSE(test, IS_ERR(first.qp));
	KUNIT_EXPECT_EQ(test, 0, ib_close_qp(first.qp));

	KUNIT_EXPECT_EQ(test, 0, ib_destroy_qp(second.qp));
	KUNIT_EXPECT_EQ(test, 0, test_verbs.qps);
	KUNIT_EXPECT_PTR_EQ(test, ERR_PTR(-EINVAL), open_target(xrcd, 100, &first));
	KUNIT_EXPECT_EQ(test, 0, ib_dealloc_xrcd_user(xrcd, NULL));
}

struct ending {
	struct completion told;
	int err;
};

static void tell(void *context, int err)
{
	struct ending *ending = context;

	ending->err = err;
	complete(&ending->told);
}

static int ended(struct kunit *test, struct ib_qp *qp)
{
	struct ending ending = {};

	init_completion(&ending.told);
	KUNIT_ASSERT_EQ(test, 0, ib_destroy_qp_async(qp, tell, &ending));
	wait_for_completion(&ending.told);
	return ending.err;
}

/* Handles can be destroyed in the background, too, and with the last one the QP. */
static void shared_target_async(struct kunit *test)
{
	struct ib_xrcd *xrcd = make_domain(test);
	struct sharer first = {}, second = {};
	struct ib_qp *real;

	first.qp = make_target(test, xrcd, &first);
	KUNIT_ASSERT_FALSE(test, IS_ERR(first.qp));
	real = first.qp->real_qp;
	second.qp = open_target(xrcd, real->qp_num, &second);
	KUNIT_ASSERT_FALSE(test, IS_ERR(second.qp));
	KUNIT_EXPECT_EQ(test, 0, ended(test, second.qp));
	KUNIT_EXPECT_EQ(test, 1, test_verbs.qps);
	say(real);
	KUNIT_EXPECT_EQ(test, 1, first.events);
	KUNIT_EXPECT_EQ(test, 0, second.events);

	test_verbs.destroy = -EIO;
	KUNIT_EXPECT_EQ(test, -EIO, ended(test, first.qp));
	test_verbs.destroy = 0;
	say(real);
	KUNIT_EXPECT_EQ(test, 2, first.events);
	KUNIT_EXPECT_EQ(test, 0, ended(test, first.qp));
	KUNIT_EXPECT_EQ(test, 0, test_verbs.qps);
	KUNIT_EXPECT_EQ(test, 0, ib_dealloc_xrcd_user(xrcd, NULL));
}

static void refused(struct kunit *test)
{
	struct ib_xrcd *xrcd = make_domain(test), *other = make_domain(test);
	struct ib_device *device = test->priv;
	struct ib_pd *pd = ib_alloc_pd(device, 0);
	struct ib_cq *cq = test_verbs_cq(device);
	struct ib_qp *rc = test_verbs_qp(pd, cq, NULL), *target;
	struct ib_qp_open_attr open = { .qp_type = IB_QPT_RC };
	struct sharer user = {};

	KUNIT_ASSERT_FALSE(test, IS_ERR(rc));
	target = make_target(test, xrcd, &user);
	KUNIT_ASSERT_FALSE(test, IS_ERR(target));
	/* Type, number and domain must match. */
	open.qp_num = target->qp_num;
	KUNIT_EXPECT_PTR_EQ(test, ERR_PTR(-EINVAL), ib_open_qp(xrcd, &open));
	KUNIT_EXPECT_PTR_EQ(test, ERR_PTR(-EINVAL), open_target(xrcd, rc->qp_num, &user));
	KUNIT_EXPECT_PTR_EQ(test, ERR_PTR(-EINVAL), open_target(other, target->qp_num, &user));
	KUNIT_EXPECT_EQ(test, -EINVAL, ib_close_qp(rc));
	KUNIT_EXPECT_PTR_EQ(test, ERR_PTR(-EINVAL), make_target(test, NULL, &user));
	test_verbs.create = -ENOSPC;
	KUNIT_EXPECT_PTR_EQ(test, ERR_PTR(-ENOSPC), make_target(test, other, &user));
	test_verbs.create = 0;
	KUNIT_EXPECT_EQ(test, 0, ib_dealloc_xrcd_user(other, NULL));
	KUNIT_EXPECT_EQ(test, 0, ib_destroy_qp(target));
	KUNIT_EXPECT_EQ(test, 0, ib_dealloc_xrcd_user(xrcd, NULL));
	KUNIT_EXPECT_EQ(test, 0, ib_destroy_qp(rc));
	ib_destroy_cq(cq);
	ib_dealloc_pd(pd);
}

/* Two target QPs have the same number: creation of the second one fails. */
static void number_twice(struct kunit *test)
{
	struct ib_xrcd *xrcd = make_domain(test);
	struct sharer user = {};
	struct ib_qp *first = make_target(test, xrcd, &user);

	KUNIT_ASSERT_FALSE(test, IS_ERR(first));
	test_verbs.qps--;
	KUNIT_EXPECT_PTR_EQ(test, ERR_PTR(-EBUSY), make_target(test, xrcd, &user));
	test_verbs.qps++;
	say(first->real_qp);
	KUNIT_EXPECT_EQ(test, 0, ib_destroy_qp(first));
	KUNIT_EXPECT_EQ(test, 0, ib_dealloc_xrcd_user(xrcd, NULL));
}

/* A driver counts its internal QP as a user of the QP's objects. */
static void counted_by_driver(struct kunit *test)
{
	struct ib_device *device = test->priv;
	struct ib_pd *pd = ib_alloc_pd(device, 0);
	struct ib_cq *cq = test_verbs_cq(device);
	struct ib_qp own = { .pd = pd, .send_cq = cq, .recv_cq = cq };

	ib_qp_usecnt_inc(&own);
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&pd->usecnt));
	KUNIT_EXPECT_EQ(test, 2, atomic_read(&cq->usecnt));
	KUNIT_EXPECT_EQ(test, -EBUSY, ib_dealloc_pd_user(pd, NULL));
	ib_qp_usecnt_dec(&own);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&cq->usecnt));
	ib_destroy_cq(cq);
	ib_dealloc_pd(pd);
}

static struct kunit_case xrc_cases[] = {
	KUNIT_CASE(reasons),
	KUNIT_CASE(domain),
	KUNIT_CASE(shared_receives),
	KUNIT_CASE(shared_target),
	KUNIT_CASE(shared_target_async),
	KUNIT_CASE(refused),
	KUNIT_CASE(number_twice),
	KUNIT_CASE(counted_by_driver),
	{}
};

static struct kunit_suite xrc_suite = {
	.name = "rdma-xrc",
	.init = xrc_init,
	.exit = xrc_exit,
	.test_cases = xrc_cases,
};

kunit_test_suite(xrc_suite);

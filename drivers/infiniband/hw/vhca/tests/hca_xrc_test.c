// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* XRC on an emulated HCA: domains and target QPs of kernel consumers, and what is refused. */
#include "../verbs/vhca.h"
#include "hca_test.h"

/* Objects of every case. */
struct xrc {
	struct ib_device *ib;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_xrcd *xrcd;
};

static void drop(void *data)
{
	struct xrc *x = data;

	if (!IS_ERR_OR_NULL(x->xrcd))
		WARN_ON(ib_dealloc_xrcd_user(x->xrcd, NULL));
	if (!IS_ERR_OR_NULL(x->cq))
		ib_destroy_cq(x->cq);
	if (!IS_ERR_OR_NULL(x->pd))
		ib_dealloc_pd(x->pd);
}

static struct xrc *make(struct kunit *test)
{
	struct vhca_dev *dev = hca_need_device(test->priv);
	struct ib_cq_init_attr attr = { .cqe = 4 };
	struct xrc *x = kunit_kzalloc(test, sizeof(*x), GFP_KERNEL);

	if (!dev->ibdev.ops.alloc_xrcd)
		kunit_skip(test, "the device has no XRC");
	KUNIT_ASSERT_NOT_NULL(test, x);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, drop, x), 0);
	x->ib = &dev->ibdev;
	x->pd = ib_alloc_pd(x->ib, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(x->pd));
	x->cq = ib_create_cq(x->ib, NULL, NULL, NULL, &attr);
	KUNIT_ASSERT_FALSE(test, IS_ERR(x->cq));
	x->xrcd = ib_alloc_xrcd_user(x->ib, NULL, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(x->xrcd));
	return x;
}

/* A target QP has no PD, CQ or queues, and keeps its domain; it goes to RTS like other QPs. */
static void test_target(struct kunit *test)
{
	struct xrc *x = make(test);
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_XRC_TGT, .xrcd = x->xrcd,
		.cap = { .max_send_wr = 3, .max_recv_wr = 3 },
	};
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT, .port_num = 1 };
	struct ib_qp *qp = ib_create_qp(x->pd, &init);

	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
	KUNIT_EXPECT_EQ(test, init.cap.max_send_wr, 0);
	KUNIT_EXPECT_EQ(test, init.cap.max_recv_wr, 0);
	KUNIT_EXPECT_EQ(test, ib_dealloc_xrcd_user(x->xrcd, NULL), -EBUSY);
	KUNIT_EXPECT_EQ(test, ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX |
					   IB_QP_PORT | IB_QP_ACCESS_FLAGS), 0);
	KUNIT_EXPECT_EQ(test, ib_query_qp(qp, &attr, IB_QP_STATE, &init), 0);
	KUNIT_EXPECT_EQ(test, attr.qp_state, IB_QPS_INIT);
	KUNIT_EXPECT_EQ(test, init.qp_type, IB_QPT_XRC_TGT);
	attr.qp_state = IB_QPS_ERR;
	KUNIT_EXPECT_EQ(test, ib_modify_qp(qp, &attr, IB_QP_STATE), 0);
	KUNIT_EXPECT_EQ(test, ib_destroy_qp(qp), 0);
}

static void test_refusals(struct kunit *test)
{
	struct xrc *x = make(test);
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_XRC_INI, .send_cq = x->cq, .cap = { .max_send_wr = 1 },
	};
	struct ib_srq_init_attr srq = {
		.srq_type = IB_SRQT_XRC, .attr.max_wr = 1, .ext.cq = x->cq,
		.ext.xrc.xrcd = x->xrcd,
	};

	KUNIT_EXPECT_PTR_EQ(test, ib_create_qp(x->pd, &init), ERR_PTR(-EOPNOTSUPP));
	init.qp_type = IB_QPT_XRC_TGT;
	KUNIT_EXPECT_PTR_EQ(test, ib_create_qp(x->pd, &init), ERR_PTR(-EINVAL));
	KUNIT_EXPECT_PTR_EQ(test, ib_create_srq_user(x->pd, &srq, NULL, NULL),
			    ERR_PTR(-EOPNOTSUPP));
	srq.srq_type = IB_SRQT_TM;
	KUNIT_EXPECT_PTR_EQ(test, ib_create_srq_user(x->pd, &srq, NULL, NULL),
			    ERR_PTR(-EOPNOTSUPP));
}

static struct kunit_case xrc_cases[] = {
	KUNIT_CASE(test_target),
	KUNIT_CASE(test_refusals),
	{}
};

struct kunit_suite hca_xrc_suite = {
	.name = "vhca_hca_xrc",
	.suite_init = rdma_kunit_again,
	.init = hca_test_init,
	.test_cases = xrc_cases,
};

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Attributes of QPs on an emulated HCA: their sizes and access rights. */

#include "../verbs/vhca.h"
#include "hca_test.h"

/* Access rights that only memory regions have, but which consumers also pass for QPs. */
#define NO_RIGHT_OF_QPS								\
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_MW_BIND | IB_ZERO_BASED |		\
	 IB_ACCESS_ON_DEMAND | IB_ACCESS_HUGETLB | IB_ACCESS_OPTIONAL)

static int set_access(struct ib_qp *qp, int access)
{
	struct ib_qp_attr attr = { .qp_access_flags = access };

	return ib_modify_qp(qp, &attr, IB_QP_ACCESS_FLAGS);
}

static void test_access(struct kunit *test)
{
	static const int rights[] = {
		0, IB_ACCESS_REMOTE_READ, IB_ACCESS_REMOTE_WRITE,
		IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE,
	};
	struct conn *c = conn_get(test, &hca_need_device(test->priv)->ibdev, true, 7);
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	for (unsigned int i = 0; i < ARRAY_SIZE(rights); i++) {
		KUNIT_EXPECT_EQ(test, set_access(c->qp[0], rights[i] | NO_RIGHT_OF_QPS), 0);
		KUNIT_ASSERT_EQ(test, ib_query_qp(c->qp[0], &attr, IB_QP_ACCESS_FLAGS, &init), 0);
		KUNIT_EXPECT_EQ(test, attr.qp_access_flags, rights[i]);
	}
	for (unsigned int bit = 1; bit; bit <<= 1) {
		if (!(bit & NO_RIGHT_OF_QPS))
			continue;
		KUNIT_EXPECT_EQ_MSG(test, set_access(c->qp[0], bit), 0, "%#x", bit);
	}
	/* An unknown bit may be an access right, and is refused. */
	KUNIT_EXPECT_EQ(test, set_access(c->qp[0], BIT(12)), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, set_access(c->qp[0], IB_ACCESS_REMOTE_WRITE | NO_RIGHT_OF_QPS), 0);
	conn_works(test, c);
}

static int make_qp(struct ib_pd *pd, struct ib_cq *cq, u32 send_wr, u32 recv_wr)
{
	struct ib_qp_init_attr attr = {
		.cap = {
			.max_send_wr = send_wr, .max_recv_wr = recv_wr, .max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.send_cq = cq,
		.recv_cq = cq,
		.qp_type = IB_QPT_RC,
	};
	struct ib_qp *qp = ib_create_qp(pd, &attr);

	if (IS_ERR(qp))
		return PTR_ERR(qp);
	return ib_destroy_qp(qp);
}

/* The device supports the limits that it reports, but nothing beyond. */
static void test_requests(struct kunit *test)
{
	struct ib_device *dev = &hca_need_device(test->priv)->ibdev;
	u32 most = dev->attrs.max_qp_wr;
	struct conn *c = conn_get(test, dev, true, 7);

	KUNIT_EXPECT_EQ(test, make_qp(c->pd, c->cq, most, 1), 0);
	KUNIT_EXPECT_EQ(test, make_qp(c->pd, c->cq, 1, most), 0);
	KUNIT_EXPECT_EQ(test, make_qp(c->pd, c->cq, most + 1, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, make_qp(c->pd, c->cq, 1, most + 1), -EINVAL);
}

static struct kunit_case qp_cases[] = {
	KUNIT_CASE(test_access),
	KUNIT_CASE(test_requests),
	{}
};

struct kunit_suite hca_qp_suite = {
	.name = "vhca_hca_qp",
	.suite_init = rdma_kunit_again,
	.init = hca_test_init,
	.test_cases = qp_cases,
};

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: MRs with signatures, and advice on memory.
 */
#include <linux/scatterlist.h>

#include "test_verbs.h"

/* Last arguments of the driver's calls. */
static struct {
	u32 data, meta;
	int data_nents, meta_nents;
	unsigned int page_size;
	u32 check;
	enum ib_uverbs_advise_mr_advice advice;
	u32 flags, advised;
	int answer;
} asked;

static struct ib_mr *alloc_mr_integrity(struct ib_pd *pd, u32 data, u32 meta)
{
	asked.data = data;
	asked.meta = meta;
	return test_verbs_mr(data + meta);
}

static int map_mr_sg_pi(struct ib_mr *mr, struct scatterlist *data_sg, int data_nents,
			unsigned int *data_offset, struct scatterlist *meta_sg, int meta_nents,
			unsigned int *meta_offset)
{
	asked.data_nents = data_nents;
	asked.meta_nents = meta_nents;
	asked.page_size = mr->page_size;
	return asked.answer;
}

static int check_mr_status(struct ib_mr *mr, u32 mask, struct ib_mr_status *status)
{
	asked.check = mask;
	status->fail_status = mask;
	status->sig_err.expected = mr->rkey;
	return asked.answer;
}

static int advise_mr(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice, u32 flags,
		     struct ib_sge *list, u32 num, struct uverbs_attr_bundle *attrs)
{
	asked.advice = advice;
	asked.flags = flags;
	asked.advised += num;
	return asked.answer;
}

static const struct ib_device_ops ops = {
	.alloc_mr_integrity = alloc_mr_integrity,
	.map_mr_sg_pi = map_mr_sg_pi,
	.check_mr_status = check_mr_status,
	.advise_mr = advise_mr,
};

static struct ib_pd *begin(struct kunit *test)
{
	struct ib_device *device = test->priv;
	struct ib_pd *pd;

	memset(&asked, 0, sizeof(asked));
	device->attrs.kernel_cap_flags = IBK_LOCAL_DMA_LKEY;
	pd = ib_alloc_pd(device, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(pd));
	return pd;
}

/* Makes an MR with signatures; afterwards the device has all operations. */
static struct ib_mr *new_mr(struct kunit *test, struct ib_pd *pd)
{
	struct ib_mr *mr;

	ib_set_device_ops(test->priv, &ops);
	mr = ib_alloc_mr_integrity(pd, 4, 2);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	return mr;
}

static void signature_mr(struct kunit *test)
{
	struct ib_device *device = test->priv;
	struct ib_pd *pd = begin(test);
	struct ib_mr *mr;

	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_alloc_mr_integrity(pd, 4, 2)), -EOPNOTSUPP);
	/* Such an MR needs map_mr_sg_pi as well. */
	device->ops.alloc_mr_integrity = alloc_mr_integrity;
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_alloc_mr_integrity(pd, 4, 2)), -EOPNOTSUPP);
	ib_set_device_ops(device, &ops);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_alloc_mr_integrity(pd, 4, 0)), -EINVAL);
	test_verbs.create = -ENOSPC;
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_alloc_mr_integrity(pd, 4, 2)), -ENOSPC);
	test_verbs.create = 0;
	KUNIT_EXPECT_EQ(test, test_verbs.mrs, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&pd->usecnt), 0);

	mr = new_mr(test, pd);
	KUNIT_EXPECT_EQ(test, asked.data, 4);
	KUNIT_EXPECT_EQ(test, asked.meta, 2);
	KUNIT_EXPECT_EQ(test, mr->type, IB_MR_TYPE_INTEGRITY);
	KUNIT_EXPECT_PTR_EQ(test, mr->pd, pd);
	KUNIT_ASSERT_NOT_NULL(test, mr->sig_attrs);
	KUNIT_EXPECT_EQ(test, mr->sig_attrs->check_mask, 0);
	KUNIT_EXPECT_EQ(test, rdma_restrack_count(device, RDMA_RESTRACK_MR, true), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&pd->usecnt), 1);
	KUNIT_EXPECT_EQ(test, ib_dereg_mr(mr), 0);
	KUNIT_EXPECT_EQ(test, test_verbs.mrs, 0);
	ib_dealloc_pd(pd);
}

static void signature_lists(struct kunit *test)
{
	struct ib_device *device = test->priv;
	struct ib_pd *pd = begin(test);
	struct ib_mr *mr = new_mr(test, pd);
	struct scatterlist data[3], meta[1];

	sg_init_table(data, ARRAY_SIZE(data));
	sg_init_table(meta, ARRAY_SIZE(meta));
	KUNIT_EXPECT_EQ(test, ib_map_mr_sg_pi(mr, data, 3, NULL, meta, 1, NULL, SZ_4K), 0);
	KUNIT_EXPECT_EQ(test, asked.data_nents, 3);
	KUNIT_EXPECT_EQ(test, asked.meta_nents, 1);
	KUNIT_EXPECT_EQ(test, asked.page_size, SZ_4K);
	/* Without protection information, and with another page size. */
	KUNIT_EXPECT_EQ(test, ib_map_mr_sg_pi(mr, data, 2, NULL, NULL, 0, NULL, SZ_64K), 0);
	KUNIT_EXPECT_EQ(test, asked.meta_nents, 0);
	KUNIT_EXPECT_EQ(test, asked.page_size, SZ_64K);
	asked.answer = 2;
	KUNIT_EXPECT_EQ(test, ib_map_mr_sg_pi(mr, data, 3, NULL, meta, 1, NULL, SZ_4K), 2);
	asked.answer = -ENOMEM;
	KUNIT_EXPECT_EQ(test, ib_map_mr_sg_pi(mr, data, 3, NULL, meta, 1, NULL, SZ_4K), -ENOMEM);
	device->ops.map_mr_sg_pi = NULL;
	KUNIT_EXPECT_EQ(test, ib_map_mr_sg_pi(mr, data, 3, NULL, meta, 1, NULL, SZ_4K),
			-EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, ib_dereg_mr(mr), 0);
	ib_dealloc_pd(pd);
}

static void signature_status(struct kunit *test)
{
	struct ib_device *device = test->priv;
	struct ib_mr_status status = {};
	struct ib_pd *pd = begin(test);
	struct ib_mr *mr = new_mr(test, pd);

	KUNIT_EXPECT_EQ(test, ib_check_mr_status(mr, IB_MR_CHECK_SIG_STATUS, &status), 0);
	KUNIT_EXPECT_EQ(test, asked.check, IB_MR_CHECK_SIG_STATUS);
	KUNIT_EXPECT_EQ(test, status.fail_status, IB_MR_CHECK_SIG_STATUS);
	KUNIT_EXPECT_EQ(test, status.sig_err.expected, mr->rkey);
	asked.answer = -EINVAL;
	KUNIT_EXPECT_EQ(test, ib_check_mr_status(mr, 0, &status), -EINVAL);
	KUNIT_EXPECT_EQ(test, asked.check, 0);
	device->ops.check_mr_status = NULL;
	KUNIT_EXPECT_EQ(test, ib_check_mr_status(mr, IB_MR_CHECK_SIG_STATUS, &status),
			-EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, ib_dereg_mr(mr), 0);
	ib_dealloc_pd(pd);
}

static void advice(struct kunit *test)
{
	const enum ib_uverbs_advise_mr_advice prefetch = IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE;
	struct ib_device *device = test->priv;
	struct ib_pd *pd = begin(test);
	struct ib_sge ranges[2] = {};

	KUNIT_EXPECT_EQ(test, ib_advise_mr(pd, prefetch, 0, ranges, 2), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, ib_advise_mr(pd, prefetch, 0, ranges, 0), -EOPNOTSUPP);
	ib_set_device_ops(device, &ops);
	KUNIT_EXPECT_EQ(test, ib_advise_mr(pd, prefetch, IB_UVERBS_ADVISE_MR_FLAG_FLUSH, ranges, 2),
			0);
	KUNIT_EXPECT_EQ(test, asked.advised, 2);
	KUNIT_EXPECT_EQ(test, asked.advice, prefetch);
	KUNIT_EXPECT_EQ(test, asked.flags, IB_UVERBS_ADVISE_MR_FLAG_FLUSH);
	asked.answer = -EFAULT;
	KUNIT_EXPECT_EQ(test, ib_advise_mr(pd, prefetch, 0, ranges, 1), -EFAULT);
	KUNIT_EXPECT_EQ(test, asked.advised, 3);
	/* Without ranges the driver is not called. */
	KUNIT_EXPECT_EQ(test, ib_advise_mr(pd, prefetch, 0, ranges, 0), 0);
	KUNIT_EXPECT_EQ(test, asked.advised, 3);
	ib_dealloc_pd(pd);
}

static void qp_with_udata(struct kunit *test)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT, .pkey_index = 3 };
	struct ib_device *device = test->priv;
	struct ib_udata udata = {};
	struct ib_pd *pd = begin(test);
	struct ib_cq *cq = test_verbs_cq(device);
	struct ib_qp *qp;

	KUNIT_ASSERT_FALSE(test, IS_ERR(cq));
	qp = test_verbs_qp(pd, cq, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
	KUNIT_EXPECT_EQ(test, ib_modify_qp_with_udata(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX,
						      &udata), 0);
	KUNIT_EXPECT_EQ(test, test_verbs.modified.qp_state, IB_QPS_INIT);
	KUNIT_EXPECT_EQ(test, test_verbs.modified.pkey_index, 3);
	test_verbs.create = -EINVAL;
	attr.qp_state = IB_QPS_ERR;
	KUNIT_EXPECT_EQ(test, ib_modify_qp_with_udata(qp, &attr, IB_QP_STATE, &udata), -EINVAL);
	test_verbs.create = 0;
	KUNIT_EXPECT_EQ(test, ib_destroy_qp(qp), 0);
	ib_destroy_cq(cq);
	ib_dealloc_pd(pd);
}

static struct kunit_case mr_cases[] = {
	KUNIT_CASE(signature_mr),
	KUNIT_CASE(signature_lists),
	KUNIT_CASE(signature_status),
	KUNIT_CASE(advice),
	KUNIT_CASE(qp_with_udata),
	{}
};

static struct kunit_suite mr_suite = {
	.name = "ib_core_mr",
	.init = test_verbs_init,
	.exit = test_verbs_exit,
	.test_cases = mr_cases,
};

kunit_test_suite(mr_suite);

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: memory windows of user space.
 */
#include "test_uverbs.h"

static int alloc_mw(struct uverbs_test *t, u32 pd, u8 type, struct ib_uverbs_alloc_mw_resp *resp)
{
	struct {
		struct ib_uverbs_alloc_mw req;
		u64 driver;
	} alloc = { .req = { .pd_handle = pd, .mw_type = type } };

	return tu_write(t, IB_USER_VERBS_CMD_ALLOC_MW, &alloc, sizeof(alloc), resp, sizeof(*resp));
}

static int dealloc_mw(struct uverbs_test *t, u32 mw)
{
	struct ib_uverbs_dealloc_mw req = { .mw_handle = mw };

	return tu_write(t, IB_USER_VERBS_CMD_DEALLOC_MW, &req, sizeof(req), NULL, 0);
}

static void made(struct kunit *test)
{
	struct ib_uverbs_alloc_mw_resp one, two;
	struct uverbs_test *t = test->priv;
	struct ib_uverbs_dealloc_pd pd = {};
	struct ib_uverbs_attr attrs[1];

	KUNIT_ASSERT_EQ(test, tu_create_pd(t, &pd.pd_handle), 0);
	KUNIT_ASSERT_EQ(test, alloc_mw(t, pd.pd_handle, IB_MW_TYPE_1, &one), 0);
	KUNIT_EXPECT_EQ(test, one.rkey, 0x5601);
	KUNIT_EXPECT_EQ(test, t->device->udata_in, 8);
	KUNIT_EXPECT_EQ(test, t->device->mw_type, IB_MW_TYPE_1);
	KUNIT_ASSERT_EQ(test, alloc_mw(t, pd.pd_handle, IB_MW_TYPE_2, &two), 0);
	KUNIT_EXPECT_EQ(test, two.rkey, 0x5602);
	KUNIT_EXPECT_EQ(test, t->device->mw_type, IB_MW_TYPE_2);

	KUNIT_EXPECT_EQ(test, tu_write(t, IB_USER_VERBS_CMD_DEALLOC_PD, &pd, sizeof(pd), NULL, 0),
			-EBUSY);
	t->device->destroy = -EIO;
	KUNIT_EXPECT_EQ(test, dealloc_mw(t, one.mw_handle), -EIO);
	t->device->destroy = 0;
	KUNIT_EXPECT_EQ(test, dealloc_mw(t, one.mw_handle), 0);
	KUNIT_EXPECT_EQ(test, dealloc_mw(t, one.mw_handle), -ENOENT);
	attrs[0] = (struct ib_uverbs_attr)TU_HANDLE(UVERBS_ATTR_DESTROY_MW_HANDLE,
						    two.mw_handle);
	KUNIT_EXPECT_EQ(test, tu_ioctl(t, UVERBS_OBJECT_MW, UVERBS_METHOD_MW_DESTROY, attrs, 1), 0);
	KUNIT_EXPECT_EQ(test, t->device->made.mws, 0);
	KUNIT_EXPECT_EQ(test, tu_write(t, IB_USER_VERBS_CMD_DEALLOC_PD, &pd, sizeof(pd), NULL, 0),
			0);
}

static void refused(struct kunit *test)
{
	struct ib_uverbs_alloc_mw_resp resp;
	struct uverbs_test *t = test->priv;

	KUNIT_EXPECT_EQ(test, alloc_mw(t, 4711, IB_MW_TYPE_1, &resp), -ENOENT);
	KUNIT_EXPECT_EQ(test, alloc_mw(t, t->cq, IB_MW_TYPE_1, &resp), -EINVAL);
	KUNIT_EXPECT_EQ(test, alloc_mw(t, t->pd, 0, &resp), -EINVAL);
	KUNIT_EXPECT_NOT_NULL(test, strstr(tu_reason(t), "mw_type 0"));
	KUNIT_EXPECT_EQ(test, alloc_mw(t, t->pd, 3, &resp), -EINVAL);
	t->device->answer = -ENOSPC;
	KUNIT_EXPECT_EQ(test, alloc_mw(t, t->pd, IB_MW_TYPE_2, &resp), -ENOSPC);
	t->device->answer = 0;
	KUNIT_EXPECT_EQ(test, t->device->made.mws, 0);
	KUNIT_EXPECT_EQ(test, dealloc_mw(t, t->pd), -EINVAL);
}

static void closed_with_file(struct kunit *test)
{
	struct ib_uverbs_alloc_mw_resp resp;
	struct uverbs_test *t = test->priv;

	KUNIT_ASSERT_EQ(test, alloc_mw(t, t->pd, IB_MW_TYPE_1, &resp), 0);
	tu_close(t);
	KUNIT_EXPECT_EQ(test, t->device->made.mws, 0);
}

static void gone_with_device(struct kunit *test)
{
	struct ib_uverbs_alloc_mw_resp resp, other;
	struct uverbs_test *t = test->priv;

	KUNIT_ASSERT_EQ(test, alloc_mw(t, t->pd, IB_MW_TYPE_1, &resp), 0);
	tu_remove_device(t);
	KUNIT_EXPECT_EQ(test, alloc_mw(t, t->pd, IB_MW_TYPE_1, &other), -EIO);
	KUNIT_EXPECT_EQ(test, dealloc_mw(t, resp.mw_handle), 0);
}

#ifdef CONFIG_FAULT_INJECTION
static int mw_starving(struct uverbs_test *t)
{
	struct ib_uverbs_alloc_mw_resp resp;

	return alloc_mw(t, t->pd, IB_MW_TYPE_1, &resp);
}

static void without_memory(struct kunit *test)
{
	struct uverbs_test *t = test->priv;

	KUNIT_EXPECT_GT(test, tu_starve(t, mw_starving), 2);
	KUNIT_EXPECT_EQ(test, t->device->made.mws, t->served);
}
#endif

static struct kunit_case mw_cases[] = {
	KUNIT_CASE(made),
	KUNIT_CASE(refused),
	KUNIT_CASE(closed_with_file),
	KUNIT_CASE(gone_with_device),
#ifdef CONFIG_FAULT_INJECTION
	KUNIT_CASE(without_memory),
#endif
	{}
};

static struct kunit_suite mw_suite = {
	.name = "rdma_uverbs_mw",
	.init = tu_init,
	.exit = tu_exit,
	.test_cases = mw_cases,
};

kunit_test_suite(mw_suite);

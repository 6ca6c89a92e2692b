// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: FMRs.
 */
#include <kunit/test.h>
#include <linux/slab.h>
#include <rdma/rdma_ext.h>
#include "test_verbs.h"

static int fmrs, refuse, mapped, unmapped;
static u64 mapped_at;

static struct ib_fmr *fake_alloc(struct ib_pd *pd, int access, struct ib_fmr_attr *attr)
{
	struct ib_fmr *fmr;

	if (refuse)
		return ERR_PTR(refuse);
	fmr = kzalloc(sizeof(*fmr), GFP_KERNEL);
	if (!fmr)
		return ERR_PTR(-ENOMEM);
	fmrs++;
	return fmr;
}

static int fake_map(struct ib_fmr *fmr, u64 *pages, int n, u64 iova)
{
	mapped = n;
	mapped_at = iova;
	return refuse;
}

static int fake_unmap(struct list_head *list)
{
	unmapped += list_count_nodes(list);
	return refuse;
}

static int fake_dealloc(struct ib_fmr *fmr)
{
	if (refuse)
		return refuse;
	fmrs--;
	kfree(fmr);
	return 0;
}

static const struct rdma_ext_ops fake_ext = {
	.alloc_fmr = fake_alloc,
	.map_phys_fmr = fake_map,
	.unmap_fmr = fake_unmap,
	.dealloc_fmr = fake_dealloc,
};

static const struct ib_device_ops fake_fmr_ops = {
	.ext = &fake_ext,
};

static void fmr_exit(struct kunit *test)
{
	test_verbs_exit(test);
	KUNIT_EXPECT_EQ(test, 0, fmrs);
}

static struct ib_pd *pd_with_fmrs(struct kunit *test)
{
	struct ib_device *device = test->priv;
	struct ib_pd *pd;

	ib_set_device_ops(device, &fake_fmr_ops);
	pd = ib_alloc_pd(device, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(pd));
	return pd;
}

static struct ib_fmr_attr usual = { .max_pages = 4, .max_maps = 8, .page_shift = 12 };

static void fmr_refused(struct kunit *test)
{
	struct ib_pd *pd = ib_alloc_pd(test->priv, 0);
	struct ib_fmr_attr attr;

	KUNIT_ASSERT_FALSE(test, IS_ERR(pd));
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, PTR_ERR(ib_alloc_fmr(pd, 0, &usual)));
	ib_dealloc_pd(pd);

	pd = pd_with_fmrs(test);
	attr = usual;
	attr.max_pages = 0;
	KUNIT_EXPECT_EQ(test, -EINVAL, PTR_ERR(ib_alloc_fmr(pd, 0, &attr)));
	attr = usual;
	attr.max_maps = -1;
	KUNIT_EXPECT_EQ(test, -EINVAL, PTR_ERR(ib_alloc_fmr(pd, 0, &attr)));
	attr = usual;
	attr.page_shift = 64;
	KUNIT_EXPECT_EQ(test, -EINVAL, PTR_ERR(ib_alloc_fmr(pd, 0, &attr)));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			PTR_ERR(ib_alloc_fmr(pd, IB_ACCESS_REMOTE_WRITE, &usual)));
	refuse = -ENOSPC;
	KUNIT_EXPECT_EQ(test, -ENOSPC, PTR_ERR(ib_alloc_fmr(pd, 0, &usual)));
	refuse = 0;
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&pd->usecnt));
	ib_dealloc_pd(pd);
}

static void fmr_life(struct kunit *test)
{
	struct ib_pd *pd = pd_with_fmrs(test);
	u64 pages[] = { 0x10000, 0x40000 };
	struct ib_fmr *fmr;

	fmr = ib_alloc_fmr(pd, IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE, &usual);
	KUNIT_ASSERT_FALSE(test, IS_ERR(fmr));
	KUNIT_EXPECT_PTR_EQ(test, pd, fmr->pd);
	KUNIT_EXPECT_PTR_EQ(test, pd->device, fmr->device);
	KUNIT_EXPECT_EQ(test, -EBUSY, ib_dealloc_pd_user(pd, NULL));
	KUNIT_EXPECT_EQ(test, 0, ib_map_phys_fmr(fmr, pages, 2, 0x7000));
	KUNIT_EXPECT_EQ(test, 2, mapped);
	KUNIT_EXPECT_EQ(test, 0x7000, mapped_at);
	refuse = -EIO;
	KUNIT_EXPECT_EQ(test, -EIO, ib_map_phys_fmr(fmr, pages, 1, 0));
	KUNIT_EXPECT_EQ(test, -EIO, ib_dealloc_fmr(fmr));
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&pd->usecnt));
	refuse = 0;
	KUNIT_EXPECT_EQ(test, 0, ib_dealloc_fmr(fmr));
	ib_dealloc_pd(pd);
}

static void fmr_unmapped_together(struct kunit *test)
{
	struct ib_pd *pd = pd_with_fmrs(test);
	struct ib_device *other = _ib_alloc_device(sizeof(*other));
	struct ib_fmr *fmr[2], stranger = { .device = other };
	LIST_HEAD(list);

	KUNIT_ASSERT_NOT_NULL(test, other);
	unmapped = 0;
	KUNIT_EXPECT_EQ(test, 0, ib_unmap_fmr(&list));
	KUNIT_EXPECT_EQ(test, 0, unmapped);
	for (unsigned int i = 0; i < ARRAY_SIZE(fmr); i++) {
		fmr[i] = ib_alloc_fmr(pd, 0, &usual);
		KUNIT_ASSERT_FALSE(test, IS_ERR(fmr[i]));
		list_add_tail(&fmr[i]->list, &list);
	}
	KUNIT_EXPECT_EQ(test, 0, ib_unmap_fmr(&list));
	KUNIT_EXPECT_EQ(test, 2, unmapped);
	refuse = -EIO;
	KUNIT_EXPECT_EQ(test, -EIO, ib_unmap_fmr(&list));
	refuse = 0;
	list_add_tail(&stranger.list, &list);
	unmapped = 0;
	KUNIT_EXPECT_EQ(test, -EINVAL, ib_unmap_fmr(&list));
	KUNIT_EXPECT_EQ(test, 0, unmapped);
	ib_dealloc_device(other);
	/* The FMRs are reaped before their PD when the case ends. */
}

static struct kunit_case fmr_cases[] = {
	KUNIT_CASE(fmr_refused),
	KUNIT_CASE(fmr_life),
	KUNIT_CASE(fmr_unmapped_together),
	{}
};

static struct kunit_suite fmr_suite = {
	.name = "rdma-fmr",
	.init = test_verbs_init,
	.exit = fmr_exit,
	.test_cases = fmr_cases,
};

kunit_test_suite(fmr_suite);

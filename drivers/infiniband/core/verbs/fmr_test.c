// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: FMRs over a driver that counts them, and can be told to refuse.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/rdma_ext.h>

static struct {
	int pds, fmrs, refuse, mapped, unmapped;
	u64 iova;
} fake;

static int fake_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	fake.pds++;
	return 0;
}

static int fake_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	fake.pds--;
	return 0;
}

static struct ib_fmr *fake_alloc(struct ib_pd *pd, int access, struct ib_fmr_attr *attr)
{
	struct ib_fmr *fmr;

	if (fake.refuse)
		return ERR_PTR(fake.refuse);
	fmr = kzalloc(sizeof(*fmr), GFP_KERNEL);
	if (!fmr)
		return ERR_PTR(-ENOMEM);
	fake.fmrs++;
	return fmr;
}

static int fake_map(struct ib_fmr *fmr, u64 *pages, int n, u64 iova)
{
	fake.mapped = n;
	fake.iova = iova;
	return fake.refuse;
}

static int fake_unmap(struct list_head *list)
{
	fake.unmapped += list_count_nodes(list);
	return fake.refuse;
}

static int fake_dealloc(struct ib_fmr *fmr)
{
	if (fake.refuse)
		return fake.refuse;
	fake.fmrs--;
	kfree(fmr);
	return 0;
}

static const struct rdma_ext_ops fake_ext = {
	.alloc_fmr = fake_alloc,
	.map_phys_fmr = fake_map,
	.unmap_fmr = fake_unmap,
	.dealloc_fmr = fake_dealloc,
};

static const struct ib_device_ops fake_ops = {
	.alloc_pd = fake_alloc_pd,
	.dealloc_pd = fake_dealloc_pd,
	.size_ib_pd = sizeof(struct ib_pd),
};

static const struct ib_device_ops fake_fmr_ops = {
	.ext = &fake_ext,
};

static struct ib_device *new_device(struct kunit *test)
{
	struct ib_device *device = _ib_alloc_device(sizeof(*device));

	KUNIT_ASSERT_NOT_NULL(test, device);
	ib_set_device_ops(device, &fake_ops);
	device->attrs.kernel_cap_flags = IBK_LOCAL_DMA_LKEY;
	return device;
}

static int fake_init(struct kunit *test)
{
	memset(&fake, 0, sizeof(fake));
	test->priv = new_device(test);
	return 0;
}

static void fake_exit(struct kunit *test)
{
	struct ib_device *device = test->priv;

	KUNIT_EXPECT_EQ(test, 0, ib_reap_objects(device));
	KUNIT_EXPECT_EQ(test, 0, fake.pds + fake.fmrs);
	ib_dealloc_device(device);
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
	fake.refuse = -ENOSPC;
	KUNIT_EXPECT_EQ(test, -ENOSPC, PTR_ERR(ib_alloc_fmr(pd, 0, &usual)));
	fake.refuse = 0;
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
	KUNIT_EXPECT_EQ(test, 2, fake.mapped);
	KUNIT_EXPECT_EQ(test, 0x7000, fake.iova);
	fake.refuse = -EIO;
	KUNIT_EXPECT_EQ(test, -EIO, ib_map_phys_fmr(fmr, pages, 1, 0));
	KUNIT_EXPECT_EQ(test, -EIO, ib_dealloc_fmr(fmr));
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&pd->usecnt));
	fake.refuse = 0;
	KUNIT_EXPECT_EQ(test, 0, ib_dealloc_fmr(fmr));
	ib_dealloc_pd(pd);
}

static void fmr_unmapped_together(struct kunit *test)
{
	struct ib_pd *pd = pd_with_fmrs(test);
	struct ib_device *other = new_device(test);
	struct ib_fmr *fmr[2], stranger = { .device = other };
	LIST_HEAD(list);

	KUNIT_EXPECT_EQ(test, 0, ib_unmap_fmr(&list));
	KUNIT_EXPECT_EQ(test, 0, fake.unmapped);
	for (unsigned int i = 0; i < ARRAY_SIZE(fmr); i++) {
		fmr[i] = ib_alloc_fmr(pd, 0, &usual);
		KUNIT_ASSERT_FALSE(test, IS_ERR(fmr[i]));
		list_add_tail(&fmr[i]->list, &list);
	}
	KUNIT_EXPECT_EQ(test, 0, ib_unmap_fmr(&list));
	KUNIT_EXPECT_EQ(test, 2, fake.unmapped);
	fake.refuse = -EIO;
	KUNIT_EXPECT_EQ(test, -EIO, ib_unmap_fmr(&list));
	fake.refuse = 0;
	list_add_tail(&stranger.list, &list);
	fake.unmapped = 0;
	KUNIT_EXPECT_EQ(test, -EINVAL, ib_unmap_fmr(&list));
	KUNIT_EXPECT_EQ(test, 0, fake.unmapped);
	ib_dealloc_device(other);
	/* The FMRs are reaped before their PD when the case ends */
}

static struct kunit_case fmr_cases[] = {
	KUNIT_CASE(fmr_refused),
	KUNIT_CASE(fmr_life),
	KUNIT_CASE(fmr_unmapped_together),
	{}
};

static struct kunit_suite fmr_suite = {
	.name = "rdma-fmr",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = fmr_cases,
};

kunit_test_suite(fmr_suite);

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: memory on demand, of the test's own address space, on a device whose DMA
 * addresses are the kernel's.
 */
#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <rdma/ib_umem_odp.h>

#define PAGES	4

static struct {
	struct ib_device *device;
	unsigned long user;
	int lost;
} o;

static bool lose(struct mmu_interval_notifier *mni, const struct mmu_notifier_range *range,
		 unsigned long seq)
{
	struct ib_umem_odp *odp = container_of(mni, struct ib_umem_odp, notifier);

	if (!mmu_notifier_range_blockable(range))
		return false;
	mutex_lock(&odp->umem_mutex);
	mmu_interval_set_seq(mni, seq);
	o.lost++;
	ib_umem_odp_unmap_dma_pages(odp, range->start, range->end);
	mutex_unlock(&odp->umem_mutex);
	return true;
}

static const struct mmu_interval_notifier_ops lose_ops = {
	.invalidate = lose,
};

static int odp_init(struct kunit *test)
{
	memset(&o, 0, sizeof(o));
	o.device = _ib_alloc_device(sizeof(*o.device));
	KUNIT_ASSERT_NOT_NULL(test, o.device);
	o.user = kunit_vm_mmap(test, NULL, 0, PAGES * PAGE_SIZE, PROT_READ | PROT_WRITE,
			       MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_NE(test, 0, o.user);
	return 0;
}

static void odp_exit(struct kunit *test)
{
	ib_dealloc_device(o.device);
}

static int map(struct ib_umem_odp *odp, unsigned int page, unsigned int n, u64 rights, bool fault)
{
	int ret = ib_umem_odp_map_dma_and_lock(odp, o.user + page * PAGE_SIZE, n * PAGE_SIZE,
					       rights, fault);

	if (ret >= 0)
		mutex_unlock(&odp->umem_mutex);
	return ret;
}

#define READ_ONE	ODP_READ_ALLOWED_BIT
#define BOTH		(ODP_READ_ALLOWED_BIT | ODP_WRITE_ALLOWED_BIT)

static struct ib_umem_odp *whole(int access)
{
	return ib_umem_odp_get(o.device, o.user + 100, (PAGES - 1) * PAGE_SIZE,
			       access | IB_ACCESS_ON_DEMAND, &lose_ops);
}

static void mapped(struct kunit *test)
{
	struct ib_umem_odp *odp = whole(IB_ACCESS_LOCAL_WRITE);
	u32 seen = 0;

	KUNIT_ASSERT_FALSE(test, IS_ERR(odp));
	KUNIT_EXPECT_EQ(test, PAGES, ib_umem_odp_num_pages(odp));
	KUNIT_EXPECT_TRUE(test, odp->umem.is_odp && odp->umem.writable);
	/* Pages are not known to be contiguous. */
	KUNIT_EXPECT_EQ(test, PAGE_SIZE, ib_umem_find_best_pgsz(&odp->umem, GENMASK(30, 12), 100));
	KUNIT_EXPECT_EQ(test, 100, odp->umem.iova);
	KUNIT_EXPECT_EQ(test, 0, ib_umem_find_best_pgsz(&odp->umem, GENMASK(30, 13), 100));
	/* No page is present, and without fault none becomes present. */
	KUNIT_EXPECT_EQ(test, 2, map(odp, 1, 2, READ_ONE, false));
	KUNIT_EXPECT_EQ(test, 0, odp->npages);

	KUNIT_EXPECT_EQ(test, 2, map(odp, 1, 2, BOTH, true));
	KUNIT_EXPECT_EQ(test, 2, odp->npages);
	KUNIT_EXPECT_EQ(test, 0, odp->dma_list[0]);
	KUNIT_EXPECT_EQ(test, BOTH, odp->dma_list[2] & BOTH);
	/* Mapping the same page again changes its rights only. */
	KUNIT_EXPECT_EQ(test, 1, map(odp, 2, 1, READ_ONE, true));
	KUNIT_EXPECT_EQ(test, 2, odp->npages);
	KUNIT_EXPECT_EQ(test, READ_ONE, odp->dma_list[2] & BOTH);

	/* The DMA address is that of the page of the process. */
	*(u32 *)(unsigned long)(odp->dma_list[1] & ODP_DMA_ADDR_MASK) = 4711;
	KUNIT_EXPECT_EQ(test, 0, copy_from_user(&seen, (void __user *)(o.user + PAGE_SIZE),
						sizeof(seen)));
	KUNIT_EXPECT_EQ(test, 4711, seen);
	ib_umem_release(&odp->umem);
}

static void refused(struct kunit *test)
{
	struct ib_umem_odp *odp;

	KUNIT_EXPECT_EQ(test, -EINVAL,
			PTR_ERR(ib_umem_odp_get(o.device, o.user, 0, IB_ACCESS_ON_DEMAND,
						&lose_ops)));
	KUNIT_EXPECT_EQ(test, -EOVERFLOW,
			PTR_ERR(ib_umem_odp_get(o.device, ULONG_MAX - 10, 100,
						IB_ACCESS_ON_DEMAND, &lose_ops)));
	KUNIT_EXPECT_EQ(test, -EOVERFLOW,
			PTR_ERR(ib_umem_odp_get(o.device, ULONG_MAX - 10, 5, IB_ACCESS_ON_DEMAND,
						&lose_ops)));
	odp = whole(0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(odp));
	KUNIT_EXPECT_EQ(test, -EINVAL, map(odp, 0, 1, 0, true));
	KUNIT_EXPECT_EQ(test, -EINVAL, map(odp, 0, 0, READ_ONE, true));
	KUNIT_EXPECT_EQ(test, -EFAULT, map(odp, PAGES, 1, READ_ONE, true));
	KUNIT_EXPECT_EQ(test, -EFAULT, map(odp, PAGES - 1, 2, READ_ONE, true));
	KUNIT_EXPECT_EQ(test, -EFAULT, map(odp, -1, 1, READ_ONE, true));
	KUNIT_EXPECT_EQ(test, 0, odp->npages);
	ib_umem_odp_release(odp);
}

/* The process unmaps pages; the device loses them first. */
static void lost(struct kunit *test)
{
	struct ib_umem_odp *odp = whole(IB_ACCESS_LOCAL_WRITE);

	KUNIT_ASSERT_FALSE(test, IS_ERR(odp));
	KUNIT_ASSERT_EQ(test, PAGES, map(odp, 0, PAGES, BOTH, true));
	KUNIT_EXPECT_EQ(test, PAGES, odp->npages);
	KUNIT_ASSERT_EQ(test, 0, vm_munmap(o.user + PAGE_SIZE, 2 * PAGE_SIZE));
	KUNIT_EXPECT_GT(test, o.lost, 0);
	KUNIT_EXPECT_EQ(test, PAGES - 2, odp->npages);
	KUNIT_EXPECT_EQ(test, 0, odp->dma_list[1]);
	KUNIT_EXPECT_NE(test, 0, odp->dma_list[3]);
	KUNIT_EXPECT_EQ(test, -EFAULT, map(odp, 1, 1, READ_ONE, true));
	/* The mutex was released. */
	KUNIT_EXPECT_EQ(test, 1, map(odp, 0, 1, READ_ONE, true));
	ib_umem_odp_release(odp);
}

static void children(struct kunit *test)
{
	struct ib_umem_odp *root, *child;

	KUNIT_EXPECT_EQ(test, -EINVAL,
			PTR_ERR(ib_umem_odp_alloc_implicit(o.device, IB_ACCESS_HUGETLB)));
	root = ib_umem_odp_alloc_implicit(o.device, IB_ACCESS_LOCAL_WRITE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(root));
	child = ib_umem_odp_alloc_child(root, o.user + PAGE_SIZE, PAGE_SIZE, &lose_ops);
	KUNIT_ASSERT_FALSE(test, IS_ERR(child));
	KUNIT_EXPECT_TRUE(test, child->umem.writable);
	KUNIT_EXPECT_EQ(test, 1, map(child, 1, 1, BOTH, true));
	KUNIT_EXPECT_EQ(test, -EFAULT, map(child, 0, 1, BOTH, true));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			PTR_ERR(ib_umem_odp_alloc_child(root, o.user, 0, &lose_ops)));
	ib_umem_odp_release(child);
	ib_umem_odp_release(root);
}

static struct kunit_case odp_cases[] = {
	KUNIT_CASE(mapped),
	KUNIT_CASE(refused),
	KUNIT_CASE(lost),
	KUNIT_CASE(children),
	{}
};

static struct kunit_suite odp_suite = {
	.name = "uverbs-odp",
	.init = odp_init,
	.exit = odp_exit,
	.test_cases = odp_cases,
};

kunit_test_suite(odp_suite);

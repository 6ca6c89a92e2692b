// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: pinned memory, for a device whose DMA addresses are kernel virtual addresses.
 */
#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>

#define PAGES	3
#define OFFSET	100
#define LENGTH	(PAGES * PAGE_SIZE - 2 * OFFSET)

static struct ib_device *new_device(struct kunit *test)
{
	struct ib_device *device = kunit_kzalloc(test, sizeof(*device), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, device);
	return device;
}

static unsigned long map(struct kunit *test, unsigned long prot)
{
	unsigned long addr = kunit_vm_mmap(test, NULL, 0, PAGES * PAGE_SIZE, prot,
					   MAP_ANONYMOUS | MAP_PRIVATE, 0);

	KUNIT_ASSERT_NE(test, addr, 0);
	return addr;
}

/* Value of byte @at of the memory, before and after it is changed. */
static u8 pattern(unsigned int at, u8 change)
{
	return (at ^ at >> 8) + change;
}

static void fill(struct kunit *test, unsigned long addr, u8 change)
{
	for (unsigned int i = 0; i < LENGTH; i++)
		KUNIT_ASSERT_EQ(test, put_user(pattern(i, change), (u8 __user *)addr + i), 0);
}

static void expect_bytes(struct kunit *test, struct ib_umem *umem, size_t offset, size_t length,
			 u8 change)
{
	u8 *buf = kunit_kzalloc(test, length + 1, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, buf);
	buf[length] = 0x5a;
	KUNIT_ASSERT_EQ(test, ib_umem_copy_from(buf, umem, offset, length), 0);
	for (unsigned int i = 0; i < length; i++)
		KUNIT_ASSERT_EQ(test, buf[i], pattern(offset + i, change));
	KUNIT_EXPECT_EQ(test, buf[length], 0x5a);
	kunit_kfree(test, buf);
}

/* ib_umem_copy_from() reads what the process wrote, also across page boundaries. */
static void copied(struct kunit *test)
{
	struct ib_device *device = new_device(test);
	unsigned long addr = map(test, PROT_READ | PROT_WRITE) + OFFSET;
	struct mm_struct *mm = current->mm;
	s64 pinned = atomic64_read(&mm->pinned_vm);
	struct ib_umem *umem;
	u8 byte;

	fill(test, addr, 0);
	umem = ib_umem_get(device, addr, LENGTH, IB_ACCESS_LOCAL_WRITE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(umem));
	KUNIT_EXPECT_EQ(test, atomic64_read(&mm->pinned_vm), pinned + PAGES);
	KUNIT_EXPECT_EQ(test, ib_umem_num_pages(umem), PAGES);
	KUNIT_EXPECT_EQ(test, ib_umem_offset(umem), OFFSET);
	KUNIT_EXPECT_TRUE(test, umem->writable);
	expect_bytes(test, umem, 0, LENGTH, 0);
	fill(test, addr, 1);
	expect_bytes(test, umem, 0, LENGTH, 1);
	expect_bytes(test, umem, PAGE_SIZE - OFFSET - 1, 2, 1);
	expect_bytes(test, umem, PAGE_SIZE - OFFSET, PAGE_SIZE, 1);
	expect_bytes(test, umem, LENGTH - 1, 1, 1);
	expect_bytes(test, umem, LENGTH, 0, 1);

	KUNIT_EXPECT_EQ(test, ib_umem_copy_from(&byte, umem, LENGTH, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_umem_copy_from(&byte, umem, LENGTH + 1, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_umem_copy_from(&byte, umem, SIZE_MAX, 2), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_umem_copy_from(&byte, umem, 1, SIZE_MAX), -EINVAL);

	/* Memory that the process unmaps stays pinned for the device. */
	KUNIT_EXPECT_EQ(test, vm_munmap(addr - OFFSET, PAGES * PAGE_SIZE), 0);
	expect_bytes(test, umem, 0, LENGTH, 1);
	ib_umem_release(umem);
	KUNIT_EXPECT_EQ(test, atomic64_read(&mm->pinned_vm), pinned);
}

static void refused(struct kunit *test)
{
	struct ib_device *device = new_device(test);
	unsigned long readable = map(test, PROT_READ);
	unsigned long holed = map(test, PROT_READ | PROT_WRITE);
	struct mm_struct *mm = current->mm;
	s64 pinned = atomic64_read(&mm->pinned_vm);
	const int write = IB_ACCESS_LOCAL_WRITE;
	struct ib_umem *umem;

	KUNIT_ASSERT_EQ(test, vm_munmap(holed + PAGE_SIZE, PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_umem_get(device, holed, 0, write)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_umem_get(device, holed, SIZE_MAX, write)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_umem_get(device, ULONG_MAX - 4, 4, write)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_umem_get(device, holed, 1, IB_ACCESS_ON_DEMAND)),
			-EOPNOTSUPP);
	/* The second page is not mapped: the first one was pinned and must be unpinned. */
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_umem_get(device, holed, 3 * PAGE_SIZE, write)), -EFAULT);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_umem_get(device, readable, 1, write)), -EFAULT);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_umem_get(device, readable, 1, IB_ACCESS_REMOTE_WRITE)),
			-EFAULT);
	KUNIT_EXPECT_EQ(test, atomic64_read(&mm->pinned_vm), pinned);

	umem = ib_umem_get(device, readable, 1, IB_ACCESS_REMOTE_READ);
	KUNIT_ASSERT_FALSE(test, IS_ERR(umem));
	KUNIT_EXPECT_FALSE(test, umem->writable);
	KUNIT_EXPECT_EQ(test, atomic64_read(&mm->pinned_vm), pinned + 1);
	ib_umem_release(umem);
	KUNIT_EXPECT_EQ(test, atomic64_read(&mm->pinned_vm), pinned);
}

/* Memory that was pinned for reading cannot be kept when write access is added. */
static void kept(struct kunit *test)
{
	const int access = IB_MR_REREG_ACCESS, write = IB_ACCESS_LOCAL_WRITE;
	struct ib_umem reading = {}, writing = { .writable = 1 };

	KUNIT_EXPECT_EQ(test, ib_umem_check_rereg(&reading, access, write), -EACCES);
	KUNIT_EXPECT_EQ(test, ib_umem_check_rereg(&reading, access | IB_MR_REREG_PD,
						  IB_ACCESS_REMOTE_ATOMIC), -EACCES);
	KUNIT_EXPECT_EQ(test, ib_umem_check_rereg(&reading, access, IB_ACCESS_REMOTE_READ), 0);
	KUNIT_EXPECT_EQ(test, ib_umem_check_rereg(&reading, access | IB_MR_REREG_TRANS, write), 0);
	KUNIT_EXPECT_EQ(test, ib_umem_check_rereg(&reading, IB_MR_REREG_PD, write), 0);
	KUNIT_EXPECT_EQ(test, ib_umem_check_rereg(&writing, access, write), 0);
	KUNIT_EXPECT_EQ(test, ib_umem_check_rereg(NULL, access, write), 0);
}

static struct kunit_case umem_pin_cases[] = {
	KUNIT_CASE(copied),
	KUNIT_CASE(refused),
	KUNIT_CASE(kept),
	{}
};

static struct kunit_suite umem_pin_suite = {
	.name = "rdma_umem_pin",
	.test_cases = umem_pin_cases,
};

kunit_test_suite(umem_pin_suite);

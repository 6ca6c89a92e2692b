// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: memory that is not the process's: on the device, and in DMA buffers of other devices.
 */
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "test_uverbs.h"

static int alloc_dm(struct uverbs_test *t, u64 length, u32 *handle)
{
	struct ib_uverbs_attr attrs[] = {
		TU_HANDLE(UVERBS_ATTR_ALLOC_DM_HANDLE, 0),
		TU_VALUE(UVERBS_ATTR_ALLOC_DM_LENGTH, 8, length),
		TU_VALUE(UVERBS_ATTR_ALLOC_DM_ALIGNMENT, 4, 12),
	};
	int ret = tu_ioctl(t, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC, attrs, ARRAY_SIZE(attrs));

	*handle = attrs[0].data_s64;
	return ret;
}

static int free_dm(struct uverbs_test *t, u32 handle)
{
	struct ib_uverbs_attr attrs[] = { TU_HANDLE(UVERBS_ATTR_FREE_DM_HANDLE, handle) };

	return tu_ioctl(t, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE, attrs, 1);
}

static int reg_dm(struct uverbs_test *t, u32 dm, u64 offset, u64 length, u64 access, u32 *handle)
{
	struct ib_uverbs_attr attrs[] = {
		TU_HANDLE(UVERBS_ATTR_REG_DM_MR_HANDLE, 0),
		TU_HANDLE(UVERBS_ATTR_REG_DM_MR_PD_HANDLE, t->pd),
		TU_HANDLE(UVERBS_ATTR_REG_DM_MR_DM_HANDLE, dm),
		TU_VALUE(UVERBS_ATTR_REG_DM_MR_OFFSET, 8, offset),
		TU_VALUE(UVERBS_ATTR_REG_DM_MR_LENGTH, 8, length),
		TU_VALUE(UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS, 8, access),
		TU_VALUE(UVERBS_ATTR_REG_DM_MR_RESP_LKEY, 4, t->user + TU_FREE),
		TU_VALUE(UVERBS_ATTR_REG_DM_MR_RESP_RKEY, 4, t->user + TU_FREE + 4),
	};
	int ret = tu_ioctl(t, UVERBS_OBJECT_MR, UVERBS_METHOD_DM_MR_REG, attrs, ARRAY_SIZE(attrs));

	*handle = attrs[0].data_s64;
	return ret;
}

static int dereg_mr(struct uverbs_test *t, u32 mr)
{
	struct ib_uverbs_attr attrs[] = { TU_HANDLE(UVERBS_ATTR_DESTROY_MR_HANDLE, mr) };

	return tu_ioctl(t, UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, attrs, 1);
}

static void on_device(struct kunit *test)
{
	struct ib_uverbs_rereg_mr rereg = { .flags = IB_MR_REREG_ACCESS };
	struct ib_uverbs_rereg_mr_resp resp;
	struct uverbs_test *t = test->priv;
	u32 dm, mr, keys[2];

	t->device->answer = -ENOSPC;
	tu_expect_refused(t, alloc_dm(t, 4096, &dm), -ENOSPC, "length 4096, alignment 12");
	t->device->answer = 0;
	KUNIT_ASSERT_EQ(test, alloc_dm(t, 4096, &dm), 0);
	KUNIT_EXPECT_EQ(test, t->device->asked.dm_attr.length, 4096);
	KUNIT_EXPECT_EQ(test, t->device->asked.dm_attr.alignment, 12);
	KUNIT_EXPECT_EQ(test, t->device->asked.dm->length, 4096);

	KUNIT_ASSERT_EQ(test, reg_dm(t, dm, 64, 4032, IB_ZERO_BASED | IB_ACCESS_LOCAL_WRITE, &mr),
			0);
	KUNIT_EXPECT_EQ(test, t->device->asked.dm_mr.offset, 64);
	KUNIT_EXPECT_EQ(test, t->device->asked.dm_mr.length, 4032);
	KUNIT_EXPECT_EQ(test, t->device->asked.dm_mr.access_flags,
			IB_ZERO_BASED | IB_ACCESS_LOCAL_WRITE);
	KUNIT_ASSERT_EQ(test, copy_from_user(keys, tu_at(t, TU_FREE), sizeof(keys)), 0);
	KUNIT_EXPECT_EQ(test, keys[0], 0x1201);
	KUNIT_EXPECT_EQ(test, keys[1], 0x3401);

	tu_expect_refused(t, free_dm(t, dm), -EBUSY, "is used by 1 other object");
	rereg.mr_handle = mr;
	tu_expect_refused(t, tu_write(t, IB_USER_VERBS_CMD_REREG_MR, &rereg, sizeof(rereg), &resp,
				      sizeof(resp)), -EINVAL, "device memory");
	KUNIT_EXPECT_EQ(test, dereg_mr(t, mr), 0);
	t->device->destroy = -EIO;
	KUNIT_EXPECT_EQ(test, free_dm(t, dm), -EIO);
	t->device->destroy = 0;
	KUNIT_EXPECT_EQ(test, free_dm(t, dm), 0);
	KUNIT_EXPECT_EQ(test, free_dm(t, dm), -ENOENT);
}

static void parts_refused(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	u32 dm, mr;

	KUNIT_ASSERT_EQ(test, alloc_dm(t, 4096, &dm), 0);
	tu_expect_refused(t, reg_dm(t, dm, 0, 4096, 0, &mr), -EINVAL, "zero based");
	tu_expect_refused(t, reg_dm(t, dm, 0, 4097, IB_ZERO_BASED, &mr), -EINVAL, "4096 bytes");
	tu_expect_refused(t, reg_dm(t, dm, 4097, 0, IB_ZERO_BASED, &mr), -EINVAL, "4096 bytes");
	tu_expect_refused(t, reg_dm(t, dm, 8, 4089, IB_ZERO_BASED, &mr), -EINVAL, "4096 bytes");
	tu_expect_refused(t, reg_dm(t, dm, 8, U64_MAX, IB_ZERO_BASED, &mr), -EINVAL, "4096 bytes");
	tu_expect_refused(t, reg_dm(t, dm, U64_MAX, 8, IB_ZERO_BASED, &mr), -EINVAL, "4096 bytes");
	tu_expect_refused(t, reg_dm(t, dm, 0, 8, IB_ZERO_BASED | IB_ACCESS_REMOTE_WRITE, &mr),
			  -EINVAL, "access");
	tu_expect_refused(t, reg_dm(t, dm, 0, 8, 1ULL << 40, &mr), -EINVAL, "access_flags");
	tu_expect_refused(t, reg_dm(t, t->pd, 0, 8, IB_ZERO_BASED, &mr), -EINVAL, "dm_handle");
	t->device->answer = -ENOSPC;
	tu_expect_refused(t, reg_dm(t, dm, 0, 8, IB_ZERO_BASED, &mr), -ENOSPC,
			  "offset 0, length 8: refused");
	t->device->answer = 0;
	KUNIT_EXPECT_EQ(test, t->device->made.mrs, 0);
	KUNIT_EXPECT_EQ(test, free_dm(t, dm), 0);
}

/* ---- DMA buffers ---- */

static int reg_dmabuf(struct uverbs_test *t, u64 offset, u64 iova, u64 access, u32 *handle)
{
	struct ib_uverbs_attr attrs[] = {
		TU_HANDLE(UVERBS_ATTR_REG_DMABUF_MR_HANDLE, 0),
		TU_HANDLE(UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, t->pd),
		TU_VALUE(UVERBS_ATTR_REG_DMABUF_MR_OFFSET, 8, offset),
		TU_VALUE(UVERBS_ATTR_REG_DMABUF_MR_LENGTH, 8, 8192),
		TU_VALUE(UVERBS_ATTR_REG_DMABUF_MR_IOVA, 8, iova),
		TU_VALUE(UVERBS_ATTR_REG_DMABUF_MR_FD, 4, 77),
		TU_VALUE(UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, 4, access),
		TU_VALUE(UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, 4, t->user + TU_FREE),
		TU_VALUE(UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, 4, t->user + TU_FREE + 4),
	};
	int ret = tu_ioctl(t, UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR, attrs,
			   ARRAY_SIZE(attrs));

	*handle = attrs[0].data_s64;
	return ret;
}

static int query_mr(struct uverbs_test *t, u32 mr, u64 *length, u64 *iova)
{
	struct ib_uverbs_attr attrs[] = {
		TU_HANDLE(UVERBS_ATTR_QUERY_MR_HANDLE, mr),
		TU_VALUE(UVERBS_ATTR_QUERY_MR_RESP_LKEY, 4, t->user + TU_FREE),
		TU_VALUE(UVERBS_ATTR_QUERY_MR_RESP_RKEY, 4, t->user + TU_FREE + 4),
		TU_VALUE(UVERBS_ATTR_QUERY_MR_RESP_LENGTH, 8, t->user + TU_FREE + 8),
		TU_VALUE(UVERBS_ATTR_QUERY_MR_RESP_IOVA, 8, t->user + TU_FREE + 16),
	};
	int ret = tu_ioctl(t, UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR, attrs, ARRAY_SIZE(attrs));

	if (!ret && (copy_from_user(length, tu_at(t, TU_FREE + 8), sizeof(*length)) ||
		     copy_from_user(iova, tu_at(t, TU_FREE + 16), sizeof(*iova))))
		return -EFAULT;
	return ret;
}

static void in_buffer(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	u64 length, iova;
	u32 mr, keys[2];

	tu_expect_refused(t, reg_dmabuf(t, 0x1008, 0x5000, 0, &mr), -EINVAL, "within the page");
	tu_expect_refused(t, reg_dmabuf(t, 0x1008, 0x5008, IB_ACCESS_REMOTE_WRITE, &mr), -EINVAL,
			  "access");
	tu_expect_refused(t, reg_dmabuf(t, 0x1008, 0x5008, IB_ACCESS_MW_BIND, &mr), -EINVAL,
			  "access_flags: unknown bits 0x10");
	t->device->answer = -EBADF;
	tu_expect_refused(t, reg_dmabuf(t, 0x1008, 0x5008, 0, &mr), -EBADF, "fd 77, offset 0x1008");
	t->device->answer = 0;
	KUNIT_EXPECT_EQ(test, t->device->made.mrs, 0);

	KUNIT_ASSERT_EQ(test, reg_dmabuf(t, 0x1008, 0x5008, IB_ACCESS_LOCAL_WRITE, &mr), 0);
	KUNIT_EXPECT_EQ(test, t->device->asked.fd, 77);
	KUNIT_EXPECT_EQ(test, t->device->asked.offset, 0x1008);
	KUNIT_EXPECT_EQ(test, t->device->asked.access, IB_ACCESS_LOCAL_WRITE);
	KUNIT_ASSERT_EQ(test, copy_from_user(keys, tu_at(t, TU_FREE), sizeof(keys)), 0);
	KUNIT_EXPECT_EQ(test, keys[0], 0x1201);
	KUNIT_EXPECT_EQ(test, keys[1], 0x3401);
	KUNIT_ASSERT_EQ(test, query_mr(t, mr, &length, &iova), 0);
	KUNIT_EXPECT_EQ(test, length, 8192);
	KUNIT_EXPECT_EQ(test, iova, 0x5008);
	KUNIT_EXPECT_EQ(test, dereg_mr(t, mr), 0);
}

/* ---- ends ---- */

static void closed_with_file(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	u32 dm, mr;

	KUNIT_ASSERT_EQ(test, alloc_dm(t, 4096, &dm), 0);
	KUNIT_ASSERT_EQ(test, reg_dm(t, dm, 0, 4096, IB_ZERO_BASED, &mr), 0);
	KUNIT_ASSERT_EQ(test, reg_dmabuf(t, 0, 0, 0, &mr), 0);
	tu_close(t);
	KUNIT_EXPECT_EQ(test, t->device->made.dms + t->device->made.mrs, 0);
}

static void gone_with_device(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	u32 dm, mr, other;

	KUNIT_ASSERT_EQ(test, alloc_dm(t, 4096, &dm), 0);
	KUNIT_ASSERT_EQ(test, reg_dm(t, dm, 0, 4096, IB_ZERO_BASED, &mr), 0);
	tu_remove_device(t);
	KUNIT_EXPECT_EQ(test, alloc_dm(t, 4096, &other), -EIO);
	KUNIT_EXPECT_EQ(test, reg_dmabuf(t, 0, 0, 0, &other), -EIO);
	KUNIT_EXPECT_EQ(test, dereg_mr(t, mr), 0);
	KUNIT_EXPECT_EQ(test, free_dm(t, dm), 0);
}

#ifdef CONFIG_FAULT_INJECTION
static u32 starving_dm;

static int dm_starving(struct uverbs_test *t)
{
	u32 dm;

	return alloc_dm(t, 64, &dm);
}

static int dm_mr_starving(struct uverbs_test *t)
{
	u32 mr;

	return reg_dm(t, starving_dm, 0, 8, IB_ZERO_BASED, &mr);
}

static int dmabuf_starving(struct uverbs_test *t)
{
	u32 mr;

	return reg_dmabuf(t, 0, 0, 0, &mr);
}

static void without_memory(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	unsigned int served;

	KUNIT_EXPECT_GT(test, tu_starve(t, dm_starving), 2);
	KUNIT_EXPECT_EQ(test, t->device->made.dms, t->served);
	KUNIT_ASSERT_EQ(test, alloc_dm(t, 64, &starving_dm), 0);
	KUNIT_EXPECT_GT(test, tu_starve(t, dm_mr_starving), 2);
	served = t->served;
	KUNIT_EXPECT_EQ(test, atomic_read(&t->device->asked.dm->usecnt), served);
	KUNIT_EXPECT_GT(test, tu_starve(t, dmabuf_starving), 2);
	KUNIT_EXPECT_EQ(test, t->device->made.mrs, served + t->served);
}
#endif

static struct kunit_case dm_cases[] = {
	KUNIT_CASE(on_device),
	KUNIT_CASE(parts_refused),
	KUNIT_CASE(in_buffer),
	KUNIT_CASE(closed_with_file),
	KUNIT_CASE(gone_with_device),
#ifdef CONFIG_FAULT_INJECTION
	KUNIT_CASE(without_memory),
#endif
	{}
};

static struct kunit_suite dm_suite = {
	.name = "rdma_uverbs_dm",
	.init = tu_init,
	.exit = tu_exit,
	.test_cases = dm_cases,
};

kunit_test_suite(dm_suite);

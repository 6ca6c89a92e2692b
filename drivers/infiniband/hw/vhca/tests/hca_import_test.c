// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The driver's own methods of the ioctl interface on an emulated HCA, called as a program does: on
 * a file of the character device, from user memory. A process that imports a context or a PD must
 * get the same results as its creator.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mman.h>
#include <linux/uaccess.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <rdma/vhca-abi.h>

#include "hca_test.h"

/* The program's memory: a request at its start, and behind it the data to which it points. */
#define ANSWER	1024
#define COMMAND	2048
#define KNOWN	(VHCA_UCTX_F_TIMESTAMP | VHCA_UCTX_F_CLOCK)

/* A file with a context, and user memory. */
struct program {
	struct file *filp;
	unsigned long user;
	struct vhca_uctx_resp told;
};

static int is_uverbs(struct device *dev, void *data)
{
	return str_has_prefix(dev_name(dev), "uverbs") > 0;
}

static void close_file(void *filp)
{
	/* fput() of a kernel thread would close the file later, in a work item. */
	__fput_sync(filp);
}

static struct file *open_file(struct kunit *test)
{
	struct hca_test *h = test->priv;
	struct device *udev = device_find_child(&h->pdev->dev, NULL, is_uverbs);
	struct file *filp;
	char path[64];

	KUNIT_ASSERT_NOT_NULL(test, udev);
	snprintf(path, sizeof(path), "/dev/infiniband/%s", dev_name(udev));
	put_device(udev);
	filp = filp_open(path, O_RDWR, 0);
	if (IS_ERR(filp))
		kunit_skip(test, "%s: %pe", path, filp);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, close_file, filp), 0);
	return filp;
}

static struct ib_uverbs_attr handle(u16 id, u32 number)
{
	return (struct ib_uverbs_attr) {
		.attr_id = id, .flags = UVERBS_ATTR_F_MANDATORY, .data = number,
	};
}

static struct ib_uverbs_attr value(u16 id, u16 len, u64 data)
{
	return (struct ib_uverbs_attr) {
		.attr_id = id, .len = len, .flags = UVERBS_ATTR_F_MANDATORY, .data = data,
	};
}

/* Room for a response, which is filled with ones before. */
static struct ib_uverbs_attr room(struct program *p, u16 id, u16 len)
{
	u8 ones[128];

	memset(ones, 0xff, sizeof(ones));
	if (copy_to_user((void __user *)p->user + ANSWER, ones, sizeof(ones)))
		return (struct ib_uverbs_attr) {};
	return value(id, len, p->user + ANSWER);
}

static long ask(struct program *p, u16 object, u16 method, const struct ib_uverbs_attr *attrs,
		unsigned int num)
{
	struct ib_uverbs_ioctl_hdr hdr = {
		.length = struct_size(&hdr, attrs, num), .object_id = object, .method_id = method,
		.num_attrs = num, .driver_id = RDMA_DRIVER_UNKNOWN,
	};
	void __user *to = (void __user *)p->user;

	if (copy_to_user(to, &hdr, sizeof(hdr)) ||
	    copy_to_user(to + sizeof(hdr), attrs, num * sizeof(*attrs)))
		return -EIO;
	return p->filp->f_op->unlocked_ioctl(p->filp, RDMA_VERBS_IOCTL, p->user);
}

static int take(struct program *p, void *answer, size_t len)
{
	return copy_from_user(answer, (void __user *)p->user + ANSWER, len) ? -EIO : 0;
}

static long get_context(struct program *p)
{
	const struct ib_uverbs_attr attrs[] = {
		value(UVERBS_ATTR_UHW_IN, sizeof(u64), KNOWN),
		room(p, UVERBS_ATTR_UHW_OUT, sizeof(p->told)),
	};

	return ask(p, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT, attrs, 2) ?:
	       take(p, &p->told, sizeof(p->told));
}

static struct program *start(struct kunit *test)
{
	struct program *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	p->user = kunit_vm_mmap(test, NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
				MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_NE(test, p->user, 0);
	p->filp = open_file(test);
	KUNIT_ASSERT_EQ(test, get_context(p), 0);
	return p;
}

static long alloc_pd(struct program *p, u32 *number, struct vhca_alloc_pd_resp *told)
{
	const struct ib_uverbs_attr attrs[] = {
		value(UVERBS_ATTR_WRITE_CMD, sizeof(u64), IB_USER_VERBS_CMD_ALLOC_PD),
		value(UVERBS_ATTR_CORE_IN, sizeof(struct ib_uverbs_alloc_pd), 0),
		value(UVERBS_ATTR_CORE_OUT, sizeof(*number), p->user + COMMAND),
		room(p, UVERBS_ATTR_UHW_OUT, sizeof(*told)),
	};

	return ask(p, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, attrs, 4) ?:
	       get_user(*number, (u32 __user *)(p->user + COMMAND)) ?:
	       take(p, told, sizeof(*told));
}

static long query_pd(struct program *p, u32 number, struct ib_uverbs_attr answer)
{
	const struct ib_uverbs_attr attrs[] = {
		handle(VHCA_ATTR_PD_QUERY_HANDLE, number), answer,
	};

	return ask(p, UVERBS_OBJECT_PD, VHCA_METHOD_PD_QUERY, attrs, 2);
}

static long query_context(struct program *p, struct ib_uverbs_attr answer)
{
	return ask(p, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT, &answer, 1);
}

static long query_clock(struct program *p, struct vhca_clock_query_resp *now)
{
	const struct ib_uverbs_attr answer = room(p, VHCA_ATTR_CLOCK_QUERY_RESP, sizeof(*now));

	return ask(p, UVERBS_OBJECT_DEVICE, VHCA_METHOD_CLOCK_QUERY, &answer, 1) ?:
	       take(p, now, sizeof(*now));
}

/* If a program has room for a longer response, the bytes behind the response are zeroed. */
static void expect_cleared(struct kunit *test, struct program *p, size_t from, size_t to)
{
	u8 answer[128];

	KUNIT_ASSERT_EQ(test, take(p, answer, sizeof(answer)), 0);
	KUNIT_EXPECT_NULL(test, memchr_inv(answer + from, 0, to - from));
	KUNIT_EXPECT_EQ(test, answer[to], 0xff);
}

static void test_imported_context(struct kunit *test)
{
	struct program *p = start(test);
	struct vhca_uctx_resp told;
	const u16 id = VHCA_ATTR_QUERY_CONTEXT_RESP;

	KUNIT_ASSERT_EQ(test, query_context(p, room(p, id, sizeof(told))), 0);
	KUNIT_ASSERT_EQ(test, take(p, &told, sizeof(told)), 0);
	KUNIT_EXPECT_MEMEQ(test, &told, &p->told, sizeof(told));
	KUNIT_EXPECT_NE(test, told.send_ops, 0);
	KUNIT_EXPECT_NE(test, told.kick_mmap, told.db_mmap);

	KUNIT_EXPECT_EQ(test, query_context(p, room(p, id, sizeof(told) + 16)), 0);
	expect_cleared(test, p, sizeof(told), sizeof(told) + 16);
	KUNIT_EXPECT_EQ(test, query_context(p, room(p, id, sizeof(told) - 8)), -EINVAL);
	KUNIT_EXPECT_EQ(test, query_context(p, value(id, sizeof(told), 0)), -EFAULT);
}

static void test_imported_pd(struct kunit *test)
{
	struct program *p = start(test);
	struct vhca_alloc_pd_resp told[2], said;
	const u16 id = VHCA_ATTR_PD_QUERY_RESP;
	u32 number[2];

	for (int i = 0; i < 2; i++)
		KUNIT_ASSERT_EQ(test, alloc_pd(p, &number[i], &told[i]), 0);
	KUNIT_EXPECT_NE(test, told[0].pdn, told[1].pdn);
	for (int i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, query_pd(p, number[i], room(p, id, sizeof(said))), 0);
		KUNIT_ASSERT_EQ(test, take(p, &said, sizeof(said)), 0);
		KUNIT_EXPECT_MEMEQ(test, &said, &told[i], sizeof(said));
	}

	KUNIT_EXPECT_EQ(test, query_pd(p, number[0], room(p, id, sizeof(said) + 8)), 0);
	expect_cleared(test, p, sizeof(said), sizeof(said) + 8);
	KUNIT_EXPECT_EQ(test, query_pd(p, number[0], room(p, id, 4)), -EINVAL);
	KUNIT_EXPECT_EQ(test, query_pd(p, number[0], value(id, sizeof(said), 0)), -EFAULT);
	KUNIT_EXPECT_EQ(test, query_pd(p, number[1] + 1, room(p, id, sizeof(said))), -ENOENT);
	/* A handle is valid only in its own file. */
	p->filp = open_file(test);
	KUNIT_ASSERT_EQ(test, get_context(p), 0);
	KUNIT_EXPECT_EQ(test, query_pd(p, number[0], room(p, id, sizeof(said))), -ENOENT);
}

/* The device's time lies between two reads of the host's clock, and advances as that does. */
static void test_clock(struct kunit *test)
{
	struct vhca_dev *dev = hca_need_device(test->priv);
	struct program *p = start(test);
	struct vhca_clock_query_resp now[2] = {};

	if (!vhca_hw_has(&dev->hw, VHCA_CAP_CLOCK_QUERY)) {
		KUNIT_EXPECT_EQ(test, query_clock(p, now), -EOPNOTSUPP);
		return;
	}
	KUNIT_EXPECT_EQ(test, p->told.features, KNOWN);
	for (int i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, query_clock(p, &now[i]), 0);
		KUNIT_EXPECT_LE(test, now[i].real_before, now[i].real_after);
	}
	KUNIT_EXPECT_LT(test, now[0].device, now[1].device);
	KUNIT_EXPECT_LE(test, now[0].real_after, now[1].real_before);
}

static struct kunit_case import_cases[] = {
	KUNIT_CASE(test_imported_context),
	KUNIT_CASE(test_imported_pd),
	KUNIT_CASE(test_clock),
	{}
};

struct kunit_suite hca_import_suite = {
	.name = "vhca_hca_import",
	.suite_init = rdma_kunit_again,
	.init = hca_test_init,
	.test_cases = import_cases,
};

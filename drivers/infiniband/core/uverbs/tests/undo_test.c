// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: requests whose response cannot be written.  They fail, and then they have made nothing,
 * and changed nothing that could be undone.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/shmem_fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "test_uverbs.h"

/* ---- memory that can be read and not written ---- */

/* A page with these bytes, or 0. */
static unsigned long read_only(struct uverbs_test *t, const void *data, size_t len)
{
	struct file *file = shmem_file_setup("kt_uverbs", PAGE_SIZE, 0);
	unsigned long addr;
	loff_t pos = 0;

	KUNIT_ASSERT_FALSE(t->test, IS_ERR(file));
	KUNIT_ASSERT_EQ(t->test, kernel_write(file, data, len, &pos), len);
	addr = vm_mmap(file, 0, PAGE_SIZE, PROT_READ, MAP_SHARED, 0);
	fput(file);
	KUNIT_ASSERT_FALSE(t->test, IS_ERR_VALUE(addr));
	return addr;
}

/* A request in the write() form whose response cannot be written. */
static int write_untold(struct uverbs_test *t, unsigned int number, const void *req, size_t len,
			size_t resp_len)
{
	struct ib_uverbs_cmd_hdr hdr = {
		.command = number, .in_words = (len + sizeof(hdr)) / 4, .out_words = resp_len / 4,
	};
	u64 page = read_only(t, "", 1);
	loff_t pos = 0;
	ssize_t done;

	memcpy(t->buf, &hdr, sizeof(hdr));
	memcpy(t->buf + sizeof(hdr), req, len);
	memcpy(t->buf + sizeof(hdr), &page, sizeof(page));
	if (copy_to_user(tu_at(t, TU_REQUEST), t->buf, len + sizeof(hdr)))
		return -ENOMEM;
	done = uverbs_fops.write(t->filp, tu_at(t, TU_REQUEST), len + sizeof(hdr), &pos);
	vm_munmap(page, PAGE_SIZE);
	return done < 0 ? done : 0;
}

/* A request by ioctl whose attributes stand in memory that cannot be written. */
static int ioctl_untold(struct uverbs_test *t, u16 object, u16 method,
			struct ib_uverbs_attr *attrs, unsigned int num)
{
	struct ib_uverbs_ioctl_hdr hdr = {
		.length = struct_size(&hdr, attrs, num), .object_id = object, .method_id = method,
		.num_attrs = num, .driver_id = t->udev->uapi->driver_id,
	};
	unsigned long page;
	int ret;

	memcpy(t->buf, &hdr, sizeof(hdr));
	memcpy(t->buf + sizeof(hdr), attrs, num * sizeof(*attrs));
	page = read_only(t, t->buf, hdr.length);
	ret = uverbs_fops.unlocked_ioctl(t->filp, RDMA_VERBS_IOCTL, page);
	vm_munmap(page, PAGE_SIZE);
	return ret;
}

/* GET_CONTEXT, carried by an ioctl, answered in ordinary memory. */
static int carried_context(struct uverbs_test *t,
			   int (*send)(struct uverbs_test *t, u16 object, u16 method,
				       struct ib_uverbs_attr *attrs, unsigned int num))
{
	struct ib_uverbs_attr attrs[] = {
		TU_VALUE(UVERBS_ATTR_WRITE_CMD, 8, IB_USER_VERBS_CMD_GET_CONTEXT),
		TU_VALUE(UVERBS_ATTR_CORE_IN, sizeof(struct ib_uverbs_get_context), 0),
		TU_VALUE(UVERBS_ATTR_CORE_OUT, sizeof(struct ib_uverbs_get_context_resp),
			 t->user + TU_RESPONSE),
	};
	struct ib_uverbs_get_context_resp resp;
	int ret = send(t, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, attrs,
		       ARRAY_SIZE(attrs));

	if (!ret && copy_from_user(&resp, tu_at(t, TU_RESPONSE), sizeof(resp)))
		return -ENOMEM;
	if (!ret)
		t->async_fd = resp.async_fd;
	return ret;
}

/* ---- contexts ---- */

/* Does a second file have what a program needs? */
static void expect_alive(struct uverbs_test *other)
{
	struct ib_uverbs_async_event_desc event;
	struct kunit *test = other->test;
	u32 pd;

	KUNIT_EXPECT_EQ(test, tu_create_pd(other, &pd), 0);
	ib_dispatch_event(&(struct ib_event){
		.device = &other->device->ib, .element.port_num = 1, .event = IB_EVENT_PORT_ERR,
	});
	flush_workqueue(ib_wq);
	KUNIT_EXPECT_EQ(test, tu_read_event(other, &event), 0);
	KUNIT_EXPECT_EQ(test, event.event_type, IB_EVENT_PORT_ERR);
}

/*
 * Neither context nor event file, which would wait for events after its file is gone.  The same
 * file opens a context later.
 */
static void context_untold(struct kunit *test)
{
	struct uverbs_test *t = test->priv, other = *t, next = *t;
	struct ib_uverbs_get_context req = {};
	struct ib_uverbs_attr attrs[] = {
		TU_VALUE(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, 4, t->user + TU_FREE),
	};

	KUNIT_ASSERT_EQ(test, tu_open_file(&other), 0);
	KUNIT_EXPECT_EQ(test, carried_context(&other, ioctl_untold), -EFAULT);
	KUNIT_EXPECT_EQ(test, t->device->made.contexts, 1);
	KUNIT_EXPECT_EQ(test, ioctl_untold(&other, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT,
					   attrs, ARRAY_SIZE(attrs)), -EFAULT);
	KUNIT_EXPECT_EQ(test, write_untold(&other, IB_USER_VERBS_CMD_GET_CONTEXT, &req, sizeof(req),
					   sizeof(struct ib_uverbs_get_context_resp)), -EFAULT);
	KUNIT_EXPECT_EQ(test, t->device->made.contexts, 1);

	KUNIT_EXPECT_EQ(test, carried_context(&other, tu_ioctl), 0);
	KUNIT_EXPECT_EQ(test, t->device->made.contexts, 2);
	tu_expect_refused(&other, carried_context(&other, tu_ioctl), -EINVAL,
			  "the file has a context already");
	expect_alive(&other);
	tu_close(&other);
	KUNIT_EXPECT_EQ(test, t->device->made.contexts, 1);

	KUNIT_ASSERT_EQ(test, tu_open(&next), 0);
	expect_alive(&next);
	tu_close(&next);
}

/* A driver that refuses leaves the place free as well. */
static void context_refused(struct kunit *test)
{
	struct uverbs_test *t = test->priv, other = *t;

	KUNIT_ASSERT_EQ(test, tu_open_file(&other), 0);
	t->device->answer = -ENOSPC;
	KUNIT_EXPECT_EQ(test, carried_context(&other, tu_ioctl), -ENOSPC);
	t->device->answer = 0;
	KUNIT_EXPECT_EQ(test, carried_context(&other, tu_ioctl), 0);
	expect_alive(&other);
	tu_close(&other);
}

/* ---- objects ---- */

/* An MR that takes the place of another, in one of two attempts. */
static void mr_untold(struct kunit *test)
{
	struct ib_uverbs_reg_mr reg = { .start = 0x1000, .length = 4096, .hca_va = 0x1000 };
	struct ib_uverbs_rereg_mr req = {
		.flags = IB_MR_REREG_TRANS, .start = 0x1000, .length = 4096, .hca_va = 0x1000,
	};
	struct ib_uverbs_rereg_mr_resp resp;
	struct uverbs_test *t = test->priv;
	struct ib_uverbs_reg_mr_resp mr;
	struct ib_uverbs_dereg_mr dereg;
	struct ib_uobject *uobj;
	const struct ib_mr *old;

	reg.pd_handle = t->pd;
	KUNIT_EXPECT_EQ(test, write_untold(t, IB_USER_VERBS_CMD_REG_MR, &reg, sizeof(reg),
					   sizeof(mr)), -EFAULT);
	KUNIT_EXPECT_EQ(test, t->device->made.mrs, 0);
	KUNIT_ASSERT_EQ(test, tu_write(t, IB_USER_VERBS_CMD_REG_MR, &reg, sizeof(reg), &mr,
				       sizeof(mr)), 0);
	uobj = xa_load(&((struct ib_uverbs_file *)t->filp->private_data)->handles, mr.mr_handle);
	old = uobj->object;

	t->device->replaces = true;
	req.mr_handle = mr.mr_handle;
	KUNIT_EXPECT_EQ(test, write_untold(t, IB_USER_VERBS_CMD_REREG_MR, &req, sizeof(req),
					   sizeof(resp)), -EFAULT);
	KUNIT_EXPECT_EQ(test, t->device->made.mrs, 1);
	KUNIT_EXPECT_PTR_EQ(test, uobj->object, old);
	KUNIT_EXPECT_EQ(test, tu_write(t, IB_USER_VERBS_CMD_REREG_MR, &req, sizeof(req), &resp,
				       sizeof(resp)), 0);
	KUNIT_EXPECT_EQ(test, t->device->made.mrs, 1);

	dereg.mr_handle = mr.mr_handle;
	KUNIT_EXPECT_EQ(test, tu_write(t, IB_USER_VERBS_CMD_DEREG_MR, &dereg, sizeof(dereg), NULL,
				       0), 0);
	KUNIT_EXPECT_EQ(test, t->device->made.mrs, 0);
}

/* An object that the driver refuses to destroy stays until its file is closed. */
static void abort_refused(struct kunit *test)
{
	struct ib_uverbs_alloc_pd req = {};
	struct uverbs_test *t = test->priv;

	t->device->destroy = -EBUSY;
	KUNIT_EXPECT_EQ(test, write_untold(t, IB_USER_VERBS_CMD_ALLOC_PD, &req, sizeof(req),
					   sizeof(struct ib_uverbs_alloc_pd_resp)), -EFAULT);
	t->device->destroy = 0;
	KUNIT_EXPECT_EQ(test, t->device->made.pds, 2);
	tu_close(t);
	KUNIT_EXPECT_EQ(test, t->device->made.pds, 0);
}

/* ---- events ---- */

static ssize_t read_to(struct uverbs_test *t, int fd, unsigned long to, size_t len)
{
	struct file *filp = fget(fd);
	loff_t pos = 0;
	ssize_t got;

	KUNIT_ASSERT_NOT_NULL(t->test, filp);
	filp->f_flags |= O_NONBLOCK;
	got = filp->f_op->read(filp, (char __user *)to, len, &pos);
	fput(filp);
	return got;
}

/* An event that cannot be delivered is not lost, and not counted as read. */
static void events_untold(struct kunit *test)
{
	struct ib_uverbs_create_comp_channel req = {};
	struct ib_uverbs_create_comp_channel_resp channel;
	struct ib_uverbs_destroy_cq_resp counts;
	struct ib_uverbs_async_event_desc desc;
	struct uverbs_test *t = test->priv;
	struct ib_uverbs_destroy_cq destroy;
	unsigned long page = read_only(t, "", 1);
	struct ib_event event = { .device = &t->device->ib, .event = IB_EVENT_CQ_ERR };
	struct ib_cq *cq;

	KUNIT_ASSERT_EQ(test, tu_write(t, IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, &req, sizeof(req),
				       &channel, sizeof(channel)), 0);
	KUNIT_ASSERT_EQ(test, tu_create_cq(t, channel.fd, &destroy.cq_handle), 0);
	cq = t->device->last_cq;
	event.element.cq = cq;
	cq->comp_handler(cq, cq->cq_context);
	cq->event_handler(&event, cq->cq_context);

	KUNIT_EXPECT_EQ(test, read_to(t, channel.fd, page, sizeof(u64)), -EFAULT);
	KUNIT_EXPECT_EQ(test, read_to(t, t->async_fd, page, sizeof(desc)), -EFAULT);
	KUNIT_EXPECT_EQ(test, read_to(t, channel.fd, t->user + TU_FREE, sizeof(u64)), sizeof(u64));
	KUNIT_EXPECT_EQ(test, read_to(t, channel.fd, t->user + TU_FREE, sizeof(u64)), -EAGAIN);
	KUNIT_EXPECT_EQ(test, tu_read_event(t, &desc), 0);
	KUNIT_EXPECT_EQ(test, desc.event_type, IB_EVENT_CQ_ERR);
	KUNIT_EXPECT_EQ(test, tu_read_event(t, &desc), -EAGAIN);
	KUNIT_EXPECT_EQ(test, tu_write(t, IB_USER_VERBS_CMD_DESTROY_CQ, &destroy, sizeof(destroy),
				       &counts, sizeof(counts)), 0);
	KUNIT_EXPECT_EQ(test, counts.comp_events_reported, 1);
	KUNIT_EXPECT_EQ(test, counts.async_events_reported, 1);
	vm_munmap(page, PAGE_SIZE);
	tu_close_fd(channel.fd);
}

static struct kunit_case undo_cases[] = {
	KUNIT_CASE(context_untold),
	KUNIT_CASE(context_refused),
	KUNIT_CASE(mr_untold),
	KUNIT_CASE(abort_refused),
	KUNIT_CASE(events_untold),
	{}
};

static struct kunit_suite undo_suite = {
	.name = "rdma_uverbs_undo",
	.init = tu_init,
	.exit = tu_exit,
	.test_cases = undo_cases,
};

kunit_test_suite(undo_suite);

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: requests whose response cannot be written.  They fail, and leave no new object and no
 * change that could have been undone.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/shmem_fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "test_uverbs.h"

/* ---- read-only memory ---- */

/* Maps a read-only page with these bytes. */
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

/* Sends a request in the write() form whose response goes to this address. */
static int write_answered_at(struct uverbs_test *t, unsigned int number, const void *req,
			     size_t len, u64 resp, size_t resp_len)
{
	struct ib_uverbs_cmd_hdr hdr = {
		.command = number, .in_words = (len + sizeof(hdr)) / 4, .out_words = resp_len / 4,
	};
	loff_t pos = 0;
	ssize_t done;

	memcpy(t->buf, &hdr, sizeof(hdr));
	memcpy(t->buf + sizeof(hdr), req, len);
	memcpy(t->buf + sizeof(hdr), &resp, sizeof(resp));
	if (copy_to_user(tu_at(t, TU_REQUEST), t->buf, len + sizeof(hdr)))
		return -ENOMEM;
	done = uverbs_fops.write(t->filp, tu_at(t, TU_REQUEST), len + sizeof(hdr), &pos);
	return done < 0 ? done : 0;
}

/* Sends a request in the write() form whose response cannot be written. */
static int write_untold(struct uverbs_test *t, unsigned int number, const void *req, size_t len,
			size_t resp_len)
{
	unsigned long page = read_only(t, "", 1);
	int ret = write_answered_at(t, number, req, len, page, resp_len);

	vm_munmap(page, PAGE_SIZE);
	return ret;
}

/* Sends a request by ioctl whose attributes are in read-only memory. */
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

/* Sends GET_CONTEXT, carried by an ioctl, with its response in ordinary memory. */
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

/* Expects that a program can use the device through a second file. */
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
 * The request leaves neither a context nor an event file, which would stay registered for events
 * after its uverbs file was closed.  The same file opens a context later.
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

/* If the driver refuses a context, the file can open one later as well. */
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

/* Reregistration that replaces the MR: the first attempt fails, the second succeeds. */
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

/* ---- completions ---- */

struct polled {
	struct ib_uverbs_poll_cq_resp head;
	struct ib_uverbs_wc wc[3];
};

static int poll_to(struct uverbs_test *t, unsigned long resp)
{
	struct ib_uverbs_poll_cq req = { .cq_handle = t->cq, .ne = 3 };

	return write_answered_at(t, IB_USER_VERBS_CMD_POLL_CQ, &req, sizeof(req), resp,
				 sizeof(struct polled));
}

/* Gives the device completions with wr_id from 50 on. */
static void complete_some(struct uverbs_test *t, int number)
{
	u32 qp;

	KUNIT_ASSERT_EQ(t->test, tu_create_qp(t, IB_QPT_RC, -1, &qp), 0);
	t->device->waiting = number;
	t->device->next_wc = 50;
}

/* Wherever the writable memory ends, no completion is polled unless all can be delivered. */
static void completions_untold(struct kunit *test)
{
	static const size_t writable[] = {
		0, sizeof(struct ib_uverbs_poll_cq_resp), offsetof(struct polled, wc[1]),
		offsetof(struct polled, wc[2]) + 4,
	};
	struct uverbs_test *t = test->priv;
	unsigned long pages = vm_mmap(NULL, 0, 2 * PAGE_SIZE, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, 0);
	unsigned long page = read_only(t, "", 1);
	unsigned long at = pages + PAGE_SIZE - sizeof(struct polled);
	struct polled resp;

	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(pages));
	complete_some(t, 2);
	KUNIT_EXPECT_EQ(test, poll_to(t, page), -EFAULT);
	KUNIT_EXPECT_EQ(test, t->device->waiting, 2);
	tu_expect_refused(t, poll_to(t, page), -EFAULT, "response cannot be written");
	vm_munmap(page, PAGE_SIZE);
	vm_munmap(pages + PAGE_SIZE, PAGE_SIZE);
	for (int i = 0; i < ARRAY_SIZE(writable); i++) {
		KUNIT_EXPECT_EQ(test, poll_to(t, pages + PAGE_SIZE - writable[i]), -EFAULT);
		KUNIT_EXPECT_EQ_MSG(test, t->device->waiting, 2, "%zu bytes can be written",
				    writable[i]);
	}

	KUNIT_EXPECT_EQ(test, poll_to(t, at), 0);
	KUNIT_ASSERT_EQ(test, copy_from_user(&resp, (void __user *)at, sizeof(resp)), 0);
	KUNIT_EXPECT_EQ(test, resp.head.count, 2);
	KUNIT_EXPECT_EQ(test, resp.wc[0].wr_id, 50);
	KUNIT_EXPECT_EQ(test, resp.wc[1].wr_id, 51);
	vm_munmap(pages, PAGE_SIZE);
}

/* A response that crosses a page boundary is written to both pages. */
static void completions_across_pages(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	unsigned long pages = vm_mmap(NULL, 0, 2 * PAGE_SIZE, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, 0);
	struct polled resp;

	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(pages));
	complete_some(t, 1);
	for (size_t before = 4; before < sizeof(resp); before += 4) {
		unsigned long at = pages + PAGE_SIZE - before;

		t->device->waiting = 3;
		t->device->next_wc = before;
		KUNIT_ASSERT_EQ(test, poll_to(t, at), 0);
		KUNIT_ASSERT_EQ(test, copy_from_user(&resp, (void __user *)at, sizeof(resp)), 0);
		KUNIT_EXPECT_EQ(test, resp.head.count, 3);
		for (int i = 0; i < 3; i++) {
			KUNIT_EXPECT_EQ(test, resp.wc[i].wr_id, before + i);
			KUNIT_EXPECT_EQ(test, resp.wc[i].port_num, 1);
		}
	}
	vm_munmap(pages, 2 * PAGE_SIZE);
}

static void unmap(struct fake_device *fake)
{
	vm_munmap((unsigned long)fake->priv, PAGE_SIZE);
}

/*
 * Another thread unmaps the response while the driver polls: the completions are written to the
 * pages of the mapped file.
 */
static void completions_unmapped_meanwhile(struct kunit *test)
{
	struct file *file = shmem_file_setup("kt_uverbs", PAGE_SIZE, 0);
	struct uverbs_test *t = test->priv;
	struct polled resp;
	unsigned long page;
	loff_t pos = 0;

	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	page = vm_mmap(file, 0, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(page));
	complete_some(t, 2);
	t->device->priv = (void *)page;
	t->device->meanwhile = unmap;
	KUNIT_EXPECT_EQ(test, poll_to(t, page), 0);
	KUNIT_EXPECT_EQ(test, t->device->waiting, 0);
	KUNIT_ASSERT_EQ(test, kernel_read(file, &resp, sizeof(resp), &pos), sizeof(resp));
	KUNIT_EXPECT_EQ(test, resp.head.count, 2);
	KUNIT_EXPECT_EQ(test, resp.wc[0].wr_id, 50);
	KUNIT_EXPECT_EQ(test, resp.wc[1].wr_id, 51);
	KUNIT_EXPECT_EQ(test, poll_to(t, page), -EFAULT);
	fput(file);
}

/* If the driver fails after some completions, these are delivered, and the next poll fails. */
static void completions_before_failure(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	struct polled resp;

	complete_some(t, 2);
	t->device->poll = -EIO;
	KUNIT_EXPECT_EQ(test, poll_to(t, t->user + TU_FREE), 0);
	KUNIT_ASSERT_EQ(test, copy_from_user(&resp, tu_at(t, TU_FREE), sizeof(resp)), 0);
	KUNIT_EXPECT_EQ(test, resp.head.count, 2);
	KUNIT_EXPECT_EQ(test, resp.wc[1].wr_id, 51);
	tu_expect_refused(t, poll_to(t, t->user + TU_FREE), -EIO, "cannot poll");
}

/* ---- work requests ---- */

/* Work requests are not posted if the response cannot be written. */
static void posts_untold(struct kunit *test)
{
	struct {
		struct ib_uverbs_post_recv head;
		struct ib_uverbs_recv_wr wr[2];
	} req = {
		.head = { .wr_count = 2, .wqe_size = sizeof(struct ib_uverbs_recv_wr) },
		.wr = { { .wr_id = 1 }, { .wr_id = 2 } },
	};
	struct ib_uverbs_post_send send = { .wqe_size = sizeof(struct ib_uverbs_send_wr) };
	struct uverbs_test *t = test->priv;
	u32 bad_wr[3];

	KUNIT_ASSERT_EQ(test, tu_create_qp(t, IB_QPT_RC, -1, &req.head.qp_handle), 0);
	KUNIT_EXPECT_EQ(test, write_untold(t, IB_USER_VERBS_CMD_POST_RECV, &req, sizeof(req),
					   sizeof(*bad_wr)), -EFAULT);
	KUNIT_EXPECT_EQ(test, t->device->posted, 0);
	KUNIT_EXPECT_EQ(test, t->device->posts, 0);
	t->device->take = 1;
	t->device->answer = -ENOMEM;
	KUNIT_EXPECT_EQ(test, write_untold(t, IB_USER_VERBS_CMD_POST_RECV, &req, sizeof(req),
					   sizeof(*bad_wr)), -EFAULT);
	KUNIT_EXPECT_EQ(test, t->device->posted, 0);
	t->device->answer = 0;
	t->device->take = FAKE_WRS;

	/* Room behind the response is cleared, as for all other commands. */
	KUNIT_EXPECT_EQ(test, tu_write(t, IB_USER_VERBS_CMD_POST_RECV, &req, sizeof(req), bad_wr,
				       sizeof(bad_wr)), 0);
	KUNIT_EXPECT_EQ(test, t->device->posted, 2);
	for (int i = 0; i < ARRAY_SIZE(bad_wr); i++)
		KUNIT_EXPECT_EQ(test, bad_wr[i], 0);

	/* A doorbell posts nothing and may be rung again. */
	send.qp_handle = req.head.qp_handle;
	KUNIT_EXPECT_EQ(test, write_untold(t, IB_USER_VERBS_CMD_POST_SEND, &send, sizeof(send),
					   sizeof(*bad_wr)), -EFAULT);
	KUNIT_EXPECT_EQ(test, tu_write(t, IB_USER_VERBS_CMD_POST_SEND, &send, sizeof(send), bad_wr,
				       sizeof(*bad_wr)), 0);
	KUNIT_EXPECT_EQ(test, t->device->posts, 3);
}

static struct kunit_case undo_cases[] = {
	KUNIT_CASE(context_untold),
	KUNIT_CASE(context_refused),
	KUNIT_CASE(mr_untold),
	KUNIT_CASE(abort_refused),
	KUNIT_CASE(events_untold),
	KUNIT_CASE(completions_untold),
	KUNIT_CASE(completions_across_pages),
	KUNIT_CASE(completions_unmapped_meanwhile),
	KUNIT_CASE(completions_before_failure),
	KUNIT_CASE(posts_untold),
	{}
};

static struct kunit_suite undo_suite = {
	.name = "rdma_uverbs_undo",
	.init = tu_init,
	.exit = tu_exit,
	.test_cases = undo_cases,
};

kunit_test_suite(undo_suite);

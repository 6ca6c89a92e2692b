// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The helpers of test_uverbs.h: a program's requests and their responses.
 */
#include <linux/cred.h>
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/mman.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "../../device/device.h"
#include "test_uverbs.h"

/**
 * tu_at() - an address in the user memory
 * @t: the test
 * @offset: bytes from its start
 *
 * Return: the address.
 */
void __user *tu_at(struct uverbs_test *t, size_t offset)
{
	return u64_to_user_ptr(t->user + offset);
}

/* Fills the response with 0xa5, which shows the bytes that the kernel did not write. */
static int prepare_response(struct uverbs_test *t, size_t len)
{
	u8 __user *to = tu_at(t, TU_RESPONSE);

	for (size_t i = 0; i < len; i++)
		if (put_user(0xa5, to + i))
			return -EFAULT;
	return 0;
}

/* Enables fault injection: for the request only, not for the test's own copies. */
static void fail_begin(struct uverbs_test *t)
{
#ifdef CONFIG_FAULT_INJECTION
	current->fail_nth = t->fail_nth;
#endif
}

static void fail_end(struct uverbs_test *t)
{
#ifdef CONFIG_FAULT_INJECTION
	t->fail_nth = current->fail_nth;
	current->fail_nth = 0;
#endif
}

/* Sends the request in the buffer. */
static int send(struct uverbs_test *t, size_t len, void *resp, size_t resp_len)
{
	loff_t pos = 0;
	ssize_t done;

	if (copy_to_user(tu_at(t, TU_REQUEST), t->buf, len) || prepare_response(t, resp_len))
		return -EFAULT;
	fail_begin(t);
	done = uverbs_fops.write(t->filp, tu_at(t, TU_REQUEST), len, &pos);
	fail_end(t);
	if (resp && copy_from_user(resp, tu_at(t, TU_RESPONSE), resp_len))
		return -EFAULT;
	return done < 0 ? done : done == len ? 0 : -EIO;
}

/**
 * tu_write() - send a request in the write() form
 * @t: the test
 * @number: IB_USER_VERBS_CMD_*
 * @req: the structure and what follows it; a response's address is written into it
 * @len: its bytes, a multiple of four
 * @resp: receives the response, NULL if there is none
 * @resp_len: its bytes
 *
 * Return: 0 or a negative errno.
 */
int tu_write(struct uverbs_test *t, unsigned int number, const void *req, size_t len, void *resp,
	     size_t resp_len)
{
	struct ib_uverbs_cmd_hdr hdr = {
		.command = number, .in_words = (len + sizeof(hdr)) / 4, .out_words = resp_len / 4,
	};
	u64 where = (uintptr_t)tu_at(t, TU_RESPONSE);

	KUNIT_ASSERT_LE(t->test, len + sizeof(hdr), TU_LARGEST);
	memcpy(t->buf, &hdr, sizeof(hdr));
	memcpy(t->buf + sizeof(hdr), req, len);
	if (resp)
		memcpy(t->buf + sizeof(hdr), &where, sizeof(where));
	return send(t, len + sizeof(hdr), resp, resp_len);
}

/**
 * tu_write_ex() - send a request in the extended write() form
 * @t: the test
 * @number: IB_USER_VERBS_EX_CMD_*
 * @req: the structure
 * @len: its bytes, a multiple of eight
 * @resp: receives the response, NULL if there is none
 * @resp_len: its bytes
 *
 * Return: 0 or a negative errno.
 */
int tu_write_ex(struct uverbs_test *t, unsigned int number, const void *req, size_t len,
		void *resp, size_t resp_len)
{
	struct ib_uverbs_cmd_hdr hdr = {
		.command = number | IB_USER_VERBS_CMD_FLAG_EXTENDED,
		.in_words = len / 8, .out_words = resp_len / 8,
	};
	struct ib_uverbs_ex_cmd_hdr ex = {
		.response = resp ? (uintptr_t)tu_at(t, TU_RESPONSE) : 0,
	};

	KUNIT_ASSERT_LE(t->test, len + sizeof(hdr) + sizeof(ex), TU_LARGEST);
	memcpy(t->buf, &hdr, sizeof(hdr));
	memcpy(t->buf + sizeof(hdr), &ex, sizeof(ex));
	memcpy(t->buf + sizeof(hdr) + sizeof(ex), req, len);
	return send(t, len + sizeof(hdr) + sizeof(ex), resp, resp_len);
}

/**
 * tu_ioctl() - send a request by ioctl
 * @t: the test
 * @object: UVERBS_OBJECT_*
 * @method: UVERBS_METHOD_*
 * @attrs: its attributes; afterwards they hold the handles of new objects
 * @num: number of attributes
 *
 * Return: 0 or a negative errno.
 */
int tu_ioctl(struct uverbs_test *t, u16 object, u16 method, struct ib_uverbs_attr *attrs,
	     unsigned int num)
{
	struct ib_uverbs_ioctl_hdr hdr = {
		.length = struct_size(&hdr, attrs, num), .object_id = object, .method_id = method,
		.num_attrs = num, .driver_id = t->udev->uapi->driver_id,
	};
	size_t size = num * sizeof(*attrs);
	int ret;

	if (copy_to_user(tu_at(t, TU_REQUEST), &hdr, sizeof(hdr)) ||
	    copy_to_user(tu_at(t, TU_REQUEST + sizeof(hdr)), attrs, size))
		return -EFAULT;
	fail_begin(t);
	ret = uverbs_fops.unlocked_ioctl(t->filp, RDMA_VERBS_IOCTL, t->user + TU_REQUEST);
	fail_end(t);
	if (copy_from_user(attrs, tu_at(t, TU_REQUEST + sizeof(hdr)), size))
		return -EFAULT;
	return ret;
}

/**
 * tu_reason() - get the reason recorded for the last refused request
 * @t: the test
 *
 * Return: the text, which the next call overwrites.
 */
const char *tu_reason(struct uverbs_test *t)
{
	struct ib_uverbs_file *file = t->filp->private_data;
	s64 count = atomic64_read(&file->rejects.count);

	if (!count || !rdma_reject_text(&file->rejects, count - 1, t->reason, sizeof(t->reason)))
		return "";
	return t->reason;
}

/**
 * tu_read_event() - read one event from the asynchronous event file
 * @t: the test
 * @desc: receives it
 *
 * Return: 0 or a negative errno, -EAGAIN when there is none.
 */
int tu_read_event(struct uverbs_test *t, struct ib_uverbs_async_event_desc *desc)
{
	struct file *filp = fget(t->async_fd);
	loff_t pos = 0;
	ssize_t got;

	KUNIT_ASSERT_NOT_NULL(t->test, filp);
	filp->f_flags |= O_NONBLOCK;
	got = filp->f_op->read(filp, tu_at(t, TU_FREE), sizeof(*desc), &pos);
	fput(filp);
	if (got == sizeof(*desc) && copy_from_user(desc, tu_at(t, TU_FREE), sizeof(*desc)))
		return -EFAULT;
	return got < 0 ? got : 0;
}

/**
 * tu_expect_refused() - expect that a request was refused with an error and a reason
 * @t: the test
 * @ret: result of the request
 * @err: expected result
 * @reason: part of the text
 */
void tu_expect_refused(struct uverbs_test *t, int ret, int err, const char *reason)
{
	KUNIT_EXPECT_EQ_MSG(t->test, ret, err, "for '%s'", reason);
	KUNIT_EXPECT_NOT_NULL_MSG(t->test, strstr(tu_reason(t), reason), "'%s' has no '%s'",
				  tu_reason(t), reason);
}

#ifdef CONFIG_FAULT_INJECTION
/**
 * tu_starve() - send a request repeatedly, each time with another allocation or copy failing
 * @t: the test
 * @request: sends it; called until none of its allocations or copies was made to fail
 *
 * Return: the number of requests that failed; @t->served counts those that succeeded.
 */
unsigned int tu_starve(struct uverbs_test *t, int (*request)(struct uverbs_test *t))
{
	unsigned int failures = 0;
	bool fired = true;
	int ret;

	t->served = 0;

	for (unsigned int nth = 1; fired && nth < 200; nth++) {
		t->fail_nth = nth;
		ret = request(t);
		fired = !t->fail_nth;
		t->fail_nth = 0;
		failures += ret != 0;
		t->served += !ret;
		if (ret && ret != -ENOMEM && ret != -EFAULT)
			KUNIT_FAIL(t->test, "allocation %u: %d", nth, ret);
		if (!fired)
			KUNIT_EXPECT_EQ(t->test, ret, 0);
	}
	KUNIT_EXPECT_FALSE(t->test, fired);
	return failures;
}
#endif

/* ---- requests of many suites ---- */

/**
 * tu_create_pd() - ALLOC_PD
 * @t: the test
 * @handle: receives the handle
 *
 * Return: 0 or a negative errno.
 */
int tu_create_pd(struct uverbs_test *t, u32 *handle)
{
	struct ib_uverbs_alloc_pd req = {};
	struct ib_uverbs_alloc_pd_resp resp;
	int ret = tu_write(t, IB_USER_VERBS_CMD_ALLOC_PD, &req, sizeof(req), &resp, sizeof(resp));

	*handle = resp.pd_handle;
	return ret;
}

/**
 * tu_create_cq() - CREATE_CQ of 16 entries
 * @t: the test
 * @channel: descriptor of its completion channel, or -1
 * @handle: receives the handle
 *
 * Return: 0 or a negative errno.
 */
int tu_create_cq(struct uverbs_test *t, s32 channel, u32 *handle)
{
	struct ib_uverbs_create_cq req = {
		.user_handle = 0xcc, .cqe = 16, .comp_channel = channel,
	};
	struct ib_uverbs_create_cq_resp resp;
	int ret = tu_write(t, IB_USER_VERBS_CMD_CREATE_CQ, &req, sizeof(req), &resp, sizeof(resp));

	*handle = resp.cq_handle;
	return ret;
}

/**
 * tu_create_qp() - CREATE_QP with the test's PD and CQ
 * @t: the test
 * @type: its type
 * @srq: handle of its SRQ, or -1
 * @handle: receives the handle
 *
 * Return: 0 or a negative errno.
 */
int tu_create_qp(struct uverbs_test *t, enum ib_qp_type type, s64 srq, u32 *handle)
{
	struct ib_uverbs_create_qp req = {
		.user_handle = 0x99, .pd_handle = t->pd, .send_cq_handle = t->cq,
		.recv_cq_handle = t->cq, .srq_handle = srq < 0 ? 0 : srq, .is_srq = srq >= 0,
		.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1,
		.qp_type = type,
	};
	struct ib_uverbs_create_qp_resp resp;
	int ret = tu_write(t, IB_USER_VERBS_CMD_CREATE_QP, &req, sizeof(req), &resp, sizeof(resp));

	*handle = resp.qp_handle;
	return ret;
}

/**
 * tu_create_srq() - CREATE_SRQ in the test's PD
 * @t: the test
 * @max_wr: its size
 * @handle: receives the handle
 *
 * Return: 0 or a negative errno.
 */
int tu_create_srq(struct uverbs_test *t, u32 max_wr, u32 *handle)
{
	struct ib_uverbs_create_srq req = {
		.user_handle = 0x55, .pd_handle = t->pd, .max_wr = max_wr, .max_sge = 2,
		.srq_limit = 1,
	};
	struct ib_uverbs_create_srq_resp resp;
	int ret = tu_write(t, IB_USER_VERBS_CMD_CREATE_SRQ, &req, sizeof(req), &resp, sizeof(resp));

	*handle = resp.srq_handle;
	return ret;
}

/**
 * tu_create_ah() - CREATE_AH in the test's PD
 * @t: the test
 * @port: port of the address
 * @handle: receives the handle
 *
 * Return: 0 or a negative errno.
 */
int tu_create_ah(struct uverbs_test *t, u8 port, u32 *handle)
{
	struct ib_uverbs_create_ah req = {
		.user_handle = 0xaa, .pd_handle = t->pd,
		.attr = { .dlid = 0x12, .sl = 3, .src_path_bits = 1, .static_rate = 2,
			  .port_num = port },
	};
	struct ib_uverbs_create_ah_resp resp;
	int ret = tu_write(t, IB_USER_VERBS_CMD_CREATE_AH, &req, sizeof(req), &resp, sizeof(resp));

	*handle = resp.ah_handle;
	return ret;
}

/**
 * tu_destroy_qp() - DESTROY_QP
 * @t: the test
 * @handle: its handle
 *
 * Return: 0 or a negative errno.
 */
int tu_destroy_qp(struct uverbs_test *t, u32 handle)
{
	struct ib_uverbs_destroy_qp req = { .qp_handle = handle };
	struct ib_uverbs_destroy_qp_resp resp;

	return tu_write(t, IB_USER_VERBS_CMD_DESTROY_QP, &req, sizeof(req), &resp, sizeof(resp));
}

/**
 * tu_destroy_srq() - DESTROY_SRQ
 * @t: the test
 * @handle: its handle
 * @events: receives the number of events that were reported
 *
 * Return: 0 or a negative errno.
 */
int tu_destroy_srq(struct uverbs_test *t, u32 handle, u32 *events)
{
	struct ib_uverbs_destroy_srq req = { .srq_handle = handle };
	struct ib_uverbs_destroy_srq_resp resp;
	int ret = tu_write(t, IB_USER_VERBS_CMD_DESTROY_SRQ, &req, sizeof(req), &resp,
			   sizeof(resp));

	*events = resp.events_reported;
	return ret;
}

/**
 * tu_destroy_ah() - DESTROY_AH
 * @t: the test
 * @handle: its handle
 *
 * Return: 0 or a negative errno.
 */
int tu_destroy_ah(struct uverbs_test *t, u32 handle)
{
	struct ib_uverbs_destroy_ah req = { .ah_handle = handle };

	return tu_write(t, IB_USER_VERBS_CMD_DESTROY_AH, &req, sizeof(req), NULL, 0);
}

/* ---- beginning and end ---- */

static int open_context(struct uverbs_test *t)
{
	struct ib_uverbs_get_context req = {};
	struct ib_uverbs_get_context_resp resp;
	int ret = tu_write(t, IB_USER_VERBS_CMD_GET_CONTEXT, &req, sizeof(req), &resp,
			   sizeof(resp));

	if (!ret)
		t->async_fd = resp.async_fd;
	return ret;
}

/**
 * tu_open_file() - open the device's file, as another process would
 * @t: copy of the test, whose file it becomes, without a context; to be closed with tu_close()
 *
 * Return: 0 or a negative errno.
 */
int tu_open_file(struct uverbs_test *t)
{
	struct ib_client_nl_info info = { .port = -1 };
	int ret = ib_get_client_nl_info(&t->device->ib, "uverbs", &info);

	t->async_fd = -1;
	t->filp = NULL;
	if (ret)
		return ret;
	t->udev = container_of(info.cdev, struct ib_uverbs_device, dev);
	put_device(info.cdev);
	t->inode = kunit_kzalloc(t->test, sizeof(*t->inode), GFP_KERNEL);
	t->filp = kunit_kzalloc(t->test, sizeof(*t->filp), GFP_KERNEL);
	if (!t->inode || !t->filp)
		return -ENOMEM;
	t->inode->i_cdev = &t->udev->cdev;
	t->filp->f_cred = current_cred();
	return uverbs_fops.open(t->inode, t->filp);
}

/**
 * tu_open() - open the device's file and a context, as another process would
 * @t: copy of the test, whose file it becomes; to be closed with tu_close()
 *
 * Return: 0 or a negative errno.
 */
int tu_open(struct uverbs_test *t)
{
	return tu_open_file(t) ?: open_context(t);
}

/**
 * tu_init() - make device, file, context, PD and CQ; init of a suite
 * @test: the test; its priv becomes the struct uverbs_test
 *
 * Return: 0.
 */
int tu_init(struct kunit *test)
{
	struct uverbs_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->test = test;
	t->async_fd = -1;
	t->buf = kunit_kzalloc(test, TU_LARGEST, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->buf);
	test->priv = t;
	t->user = kunit_vm_mmap(test, NULL, 0, TU_BYTES, PROT_READ | PROT_WRITE,
				MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_NE(test, t->user, 0);
	t->device = fake_device_alloc();
	KUNIT_ASSERT_NOT_NULL(test, t->device);
	fake_steering_add(t->device);
	KUNIT_ASSERT_EQ(test, ib_register_device(&t->device->ib, "kt_uverbs", NULL), 0);
	KUNIT_ASSERT_EQ(test, tu_open_file(t), 0);
	KUNIT_ASSERT_EQ(test, open_context(t), 0);
	KUNIT_ASSERT_EQ(test, tu_create_pd(t, &t->pd), 0);
	KUNIT_ASSERT_EQ(test, tu_create_cq(t, -1, &t->cq), 0);
	return 0;
}

/**
 * tu_close_fd() - close a descriptor and wait until its release operation has run
 * @fd: the descriptor
 */
void tu_close_fd(int fd)
{
	close_fd(fd);
	/* In a kernel thread, a work item releases the file. */
	flush_delayed_fput();
}

/**
 * tu_close() - close the file
 * @t: the test
 */
void tu_close(struct uverbs_test *t)
{
	if (t->async_fd >= 0)
		tu_close_fd(t->async_fd);
	t->async_fd = -1;
	if (t->filp)
		uverbs_fops.release(t->inode, t->filp);
	t->filp = NULL;
}

/**
 * tu_remove_device() - remove the device while the file is open
 * @t: the test
 */
void tu_remove_device(struct uverbs_test *t)
{
	struct fake_made none = {};

	ib_unregister_device(&t->device->ib);
	KUNIT_EXPECT_MEMEQ(t->test, &t->device->made, &none, sizeof(none));
	ib_dealloc_device(&t->device->ib);
	t->device = NULL;
}

/**
 * tu_exit() - close the file, unless a test has, and remove the device; exit of a suite
 * @test: the test
 *
 * Expects that no object is left in the driver.
 */
void tu_exit(struct kunit *test)
{
	struct uverbs_test *t = test->priv;

	if (!t)
		return;
	tu_close(t);
	if (t->device)
		tu_remove_device(t);
}

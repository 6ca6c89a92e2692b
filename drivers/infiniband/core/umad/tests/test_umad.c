// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The helpers of test_umad.h: a program's requests and their results.
 */
#include <linux/mman.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "../../device/device.h"
#include "test_umad.h"

/**
 * ut_at() - an address in the user memory
 * @t: the test
 * @offset: bytes from its start
 *
 * Return: the address.
 */
void __user *ut_at(struct umad_test *t, size_t offset)
{
	return u64_to_user_ptr(t->user + offset);
}

/**
 * ut_ioctl() - send a request by ioctl
 * @t: the test
 * @cmd: its number
 * @arg: its argument, overwritten with what the kernel has written
 * @size: bytes at @arg
 * @compat: as a 32-bit program
 *
 * Return: result of the request.
 */
long ut_ioctl(struct umad_test *t, unsigned int cmd, void *arg, size_t size, bool compat)
{
	long ret;

	if (copy_to_user(ut_at(t, UT_REQUEST), arg, size))
		return -EFAULT;
	if (compat)
		ret = umad_fops.compat_ioctl(&t->filp, cmd, t->user + UT_REQUEST);
	else
		ret = umad_fops.unlocked_ioctl(&t->filp, cmd, t->user + UT_REQUEST);
	if (copy_from_user(arg, ut_at(t, UT_REQUEST), size))
		return -EFAULT;
	return ret;
}

/**
 * ut_register() - register an agent, with REGISTER_AGENT2
 * @t: the test
 * @qpn: its QP
 * @mgmt_class: class whose Gets it takes, 0 for none
 * @rmpp_version: its version of RMPP, 0 for none
 * @flags: IB_USER_MAD_USER_RMPP
 *
 * Return: its number, or a negative errno.
 */
int ut_register(struct umad_test *t, u8 qpn, u8 mgmt_class, u8 rmpp_version, u32 flags)
{
	struct ib_user_mad_reg_req2 req = {
		.id = ~0U, .qpn = qpn, .mgmt_class = mgmt_class, .mgmt_class_version = 1,
		.flags = flags, .rmpp_version = rmpp_version,
		.method_mask = { BIT(IB_MGMT_METHOD_GET) },
	};
	long ret = ut_ioctl(t, IB_USER_MAD_REGISTER_AGENT2, &req, sizeof(req), false);

	return ret ?: req.id;
}

/**
 * ut_unregister() - unregister an agent
 * @t: the test
 * @id: its number
 *
 * Return: 0 or a negative errno.
 */
long ut_unregister(struct umad_test *t, u32 id)
{
	return ut_ioctl(t, IB_USER_MAD_UNREGISTER_AGENT, &id, sizeof(id), false);
}

/**
 * ut_mad() - make a MAD to LID 9, QP 1
 * @id: number of its agent
 * @mgmt_class: its class
 * @method: its method
 * @tid: its transaction ID
 *
 * Return: the MAD, whose data is 0xab.
 */
struct ut_mad ut_mad(u32 id, u8 mgmt_class, u8 method, u64 tid)
{
	struct ut_mad mad = {
		.hdr = { .id = id, .timeout_ms = 100, .retries = 2, .qpn = cpu_to_be32(1),
			 .lid = cpu_to_be16(9), .sl = 4, .path_bits = 1, .pkey_index = 3 },
		.mad.mad_hdr = { .base_version = 1, .mgmt_class = mgmt_class, .class_version = 1,
				 .method = method, .tid = cpu_to_be64(tid) },
	};

	memset(mad.mad.data, 0xab, sizeof(mad.mad.data));
	return mad;
}

/**
 * ut_write() - write a MAD
 * @t: the test
 * @mad: header and MAD
 * @len: bytes of both
 *
 * Return: result of write().
 */
ssize_t ut_write(struct umad_test *t, const void *mad, size_t len)
{
	loff_t pos = 0;

	if (copy_to_user(ut_at(t, UT_REQUEST), mad, len))
		return -EFAULT;
	return umad_fops.write(&t->filp, ut_at(t, UT_REQUEST), len, &pos);
}

/**
 * ut_read() - read a MAD
 * @t: the test
 * @to: receives the whole buffer, which was filled with 0xa5 before; may be NULL
 * @len: bytes of the buffer
 *
 * Return: result of read().
 */
ssize_t ut_read(struct umad_test *t, void *to, size_t len)
{
	loff_t pos = 0;
	ssize_t ret;

	for (size_t i = 0; i < len; i++)
		if (put_user(0xa5, (u8 __user *)ut_at(t, UT_READ + i)))
			return -EFAULT;
	ret = umad_fops.read(&t->filp, ut_at(t, UT_READ), len, &pos);
	if (to && copy_from_user(to, ut_at(t, UT_READ), len))
		return -EFAULT;
	return ret;
}

/**
 * ut_polls() - check the result of poll()
 * @t: the test
 * @events: the events expected
 *
 * Return: true if poll() returns exactly these.
 */
bool ut_polls(struct umad_test *t, __poll_t events)
{
	return umad_fops.poll(&t->filp, NULL) == events;
}

/**
 * ut_reason() - get the reason recorded for the last refused request
 * @t: the test
 *
 * Return: the text, which the next call overwrites.
 */
const char *ut_reason(struct umad_test *t)
{
	struct rdma_reject_log *log = &ut_file(t)->rejects;
	s64 count = atomic64_read(&log->count);

	if (!count || !rdma_reject_text(log, count - 1, t->reason, sizeof(t->reason)))
		return "";
	return t->reason;
}

/**
 * ut_expect_refused() - expect that a request was refused with an error and a reason
 * @t: the test
 * @ret: result of the request
 * @err: expected result
 * @reason: part of the text
 */
void ut_expect_refused(struct umad_test *t, ssize_t ret, int err, const char *reason)
{
	KUNIT_EXPECT_EQ_MSG(t->test, ret, err, "for '%s'", reason);
	KUNIT_EXPECT_NOT_NULL_MSG(t->test, strstr(ut_reason(t), reason), "'%s' has no '%s'",
				  ut_reason(t), reason);
}

/**
 * ut_open() - open umadN of a port
 * @t: the test, whose file it becomes
 * @port: the port
 *
 * Return: 0 or a negative errno.
 */
int ut_open(struct umad_test *t, struct ib_umad_port *port)
{
	memset(&t->filp, 0, sizeof(t->filp));
	t->inode.i_cdev = &port->cdev;
	t->filp.f_flags = O_NONBLOCK;
	return umad_fops.open(&t->inode, &t->filp);
}

/**
 * ut_close() - close the file
 * @t: the test
 */
void ut_close(struct umad_test *t)
{
	if (t->filp.private_data)
		umad_fops.release(&t->inode, &t->filp);
	t->filp.private_data = NULL;
}

/**
 * ut_remove_device() - remove the device while the file is open
 * @t: the test
 *
 * Expects that no object of the file is left in the device and the MAD layer.
 */
void ut_remove_device(struct umad_test *t)
{
	struct fake_mads *fake = t->fake;

	t->fake = NULL;
	ib_unregister_device(&fake->ib);
	KUNIT_EXPECT_TRUE(t->test, list_empty(&fake->agents));
	KUNIT_EXPECT_TRUE(t->test, list_empty(&fake->sends));
	KUNIT_EXPECT_EQ(t->test, fake->made_sends, 0);
	KUNIT_EXPECT_EQ(t->test, fake->made_recvs, 0);
	KUNIT_EXPECT_EQ(t->test, fake->ahs, 0);
	ib_dealloc_device(&fake->ib);
}

static struct ib_umad_port *first_port(struct fake_mads *fake)
{
	struct ib_client_nl_info info = { .port = 1 };

	if (ib_get_client_nl_info(&fake->ib, "umad", &info))
		return NULL;
	return container_of(info.cdev, struct ib_umad_port, dev);
}

/**
 * ut_init() - make device and file; init of a suite
 * @test: the test; its priv becomes the struct umad_test
 *
 * Return: 0.
 */
int ut_init(struct kunit *test)
{
	struct umad_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->test = test;
	test->priv = t;
	/* Pointers of a 32-bit program must reach it. */
	t->user = kunit_vm_mmap(test, NULL, 0, UT_BYTES, PROT_READ | PROT_WRITE,
				MAP_ANONYMOUS | MAP_PRIVATE | MAP_32BIT, 0);
	KUNIT_ASSERT_NE(test, t->user, 0);
	t->fake = fake_mads_alloc();
	KUNIT_ASSERT_NOT_NULL(test, t->fake);
	KUNIT_ASSERT_EQ(test, ib_register_device(&t->fake->ib, "kt_umad", NULL), 0);
	fake_mads_play(test);
	t->port = first_port(t->fake);
	KUNIT_ASSERT_NOT_NULL(test, t->port);
	KUNIT_ASSERT_EQ(test, ut_open(t, t->port), 0);
	return 0;
}

/**
 * ut_exit() - close the file and remove the device, unless a test has; exit of a suite
 * @test: the test
 */
void ut_exit(struct kunit *test)
{
	struct umad_test *t = test->priv;

	if (!t)
		return;
	ut_close(t);
	if (t->fake)
		ut_remove_device(t);
	if (t->port)
		put_device(&t->port->dev);
}

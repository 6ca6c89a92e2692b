// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The helpers of test_ucma.h: a program's requests and what it gets for them.
 */
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/mman.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <rdma/ib.h>

#include "test_ucma.h"

MODULE_DESCRIPTION("KUnit tests of rdma_ucm");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);

/**
 * ut_at() - an address in the user memory
 * @t: the test
 * @offset: bytes from its start
 *
 * Return: the address.
 */
u64 ut_at(struct ucma_test *t, size_t offset)
{
	return t->user + offset;
}

#ifdef CONFIG_FAULT_INJECTION
static void begin_failing(struct ucma_test *t)
{
	current->fail_nth = t->fail_nth;
	t->fail_nth = 0;
}

static void end_failing(struct ucma_test *t)
{
	t->left = current->fail_nth;
	current->fail_nth = 0;
}
#else
static void begin_failing(struct ucma_test *t) {}
static void end_failing(struct ucma_test *t) {}
#endif

/**
 * ut_write() - write a request
 * @t: the test
 * @n: file
 * @cmd: command
 * @req: request
 * @in: its bytes
 * @out: bytes there is said to be room for in the response
 *
 * Return: what write() returned.
 */
ssize_t ut_write(struct ucma_test *t, int n, u32 cmd, const void *req, size_t in, size_t out)
{
	struct rdma_ucm_cmd_hdr hdr = { .cmd = cmd, .in = in, .out = out };
	void __user *to = u64_to_user_ptr(ut_at(t, UT_REQUEST));
	loff_t pos = 0;
	ssize_t ret;

	if (copy_to_user(to, &hdr, sizeof(hdr)) || copy_to_user(to + sizeof(hdr), req, in))
		return -EFAULT;
	begin_failing(t);
	ret = ucma_fops.write(t->filp[n], to, sizeof(hdr) + in, &pos);
	end_failing(t);
	return ret;
}

/**
 * ut_ask() - make a request
 * @t: the test
 * @n: file
 * @cmd: command
 * @req: request
 * @in: its bytes
 * @resp: receives the response, which was 0xa5 before, from UT_RESPONSE; NULL if there is none
 * @out: its bytes
 *
 * Return: 0 or a negative errno.
 */
int ut_ask(struct ucma_test *t, int n, u32 cmd, const void *req, size_t in, void *resp, size_t out)
{
	void __user *from = u64_to_user_ptr(ut_at(t, UT_RESPONSE));
	ssize_t ret;

	if (resp)
		memset(resp, 0xa5, out);
	if (resp && copy_to_user(from, resp, out))
		return -EFAULT;
	ret = ut_write(t, n, cmd, req, in, out);
	if (resp && copy_from_user(resp, from, out))
		return -EFAULT;
	if (ret < 0)
		return ret;
	KUNIT_EXPECT_EQ(t->test, ret, sizeof(struct rdma_ucm_cmd_hdr) + in);
	return 0;
}

/**
 * ut_create() - create an id
 * @t: the test
 * @n: file
 * @ps: port space
 *
 * Its uid is UT_UID.
 *
 * Return: its number or a negative errno.
 */
int ut_create(struct ucma_test *t, int n, u16 ps)
{
	struct rdma_ucm_create_id req = { .uid = UT_UID, .response = ut_at(t, UT_RESPONSE),
					  .ps = ps };
	struct rdma_ucm_create_id_resp resp;
	int ret = UT_ASK(t, n, CREATE_ID, req, &resp);

	return ret ?: resp.id;
}

/**
 * ut_bound() - create an id that has a device
 * @t: the test
 * @n: file
 * @id: receives its number
 *
 * Return: its CM id.
 */
struct rdma_cm_id *ut_bound(struct ucma_test *t, int n, u32 *id)
{
	int ret = ut_create(t, n, RDMA_PS_TCP);
	struct rdma_cm_id *cm;

	KUNIT_ASSERT_GE(t->test, ret, 0);
	*id = ret;
	cm = fake_cm_newest(t);
	cm->device = &t->ib;
	cm->port_num = 1;
	return cm;
}

/**
 * ut_listening() - create an id that listens
 * @t: the test
 * @n: file
 * @id: receives its number
 * @backlog: its backlog
 *
 * Return: its CM id.
 */
struct rdma_cm_id *ut_listening(struct ucma_test *t, int n, u32 *id, u32 backlog)
{
	struct rdma_cm_id *cm = ut_bound(t, n, id);
	struct rdma_ucm_listen req = { .id = *id, .backlog = backlog };

	KUNIT_ASSERT_EQ(t->test, UT_TELL(t, n, LISTEN, req), 0);
	return cm;
}

/**
 * ut_destroy() - destroy an id
 * @t: the test
 * @n: file
 * @id: its number
 *
 * Return: how many of its events were read, or a negative errno.
 */
int ut_destroy(struct ucma_test *t, int n, u32 id)
{
	struct rdma_ucm_destroy_id req = { .response = ut_at(t, UT_RESPONSE), .id = id };
	struct rdma_ucm_destroy_id_resp resp;
	int ret = UT_ASK(t, n, DESTROY_ID, req, &resp);

	return ret ?: resp.events_reported;
}

/**
 * ut_event() - read an event
 * @t: the test
 * @n: file
 * @resp: receives it
 *
 * Return: 0 or a negative errno.
 */
int ut_event(struct ucma_test *t, int n, struct rdma_ucm_event_resp *resp)
{
	struct rdma_ucm_get_event req = { .response = ut_at(t, UT_RESPONSE) };

	return UT_ASK(t, n, GET_EVENT, req, resp);
}

/**
 * ut_expect_event() - read an event that is to be there
 * @t: the test
 * @n: file
 * @id: whose it has to be, unless it is a connection request
 * @type: what it has to be
 *
 * Return: its id.
 */
int ut_expect_event(struct ucma_test *t, int n, u32 id, enum rdma_cm_event_type type)
{
	struct rdma_ucm_event_resp resp;

	KUNIT_ASSERT_EQ(t->test, ut_event(t, n, &resp), 0);
	KUNIT_EXPECT_EQ(t->test, resp.event, type);
	if (type != RDMA_CM_EVENT_CONNECT_REQUEST)
		KUNIT_EXPECT_EQ(t->test, resp.id, id);
	return resp.id;
}

/**
 * ut_accept() - accept a connection request
 * @t: the test
 * @n: file
 * @id: number of the new id
 * @uid: its name in events
 *
 * Return: 0 or a negative errno.
 */
int ut_accept(struct ucma_test *t, int n, u32 id, u64 uid)
{
	struct rdma_ucm_accept req = { .uid = uid, .conn_param.valid = 1, .id = id,
				       .ece = { 3, 4 } };

	return UT_TELL(t, n, ACCEPT, req);
}

/**
 * ut_disconnect() - disconnect an id
 * @t: the test
 * @n: file
 * @id: its number
 *
 * Return: 0 or a negative errno.
 */
int ut_disconnect(struct ucma_test *t, int n, u32 id)
{
	struct rdma_ucm_disconnect req = { .id = id };

	return UT_TELL(t, n, DISCONNECT, req);
}

/**
 * ut_readable() - does poll() say that there are events?
 * @t: the test
 * @n: file
 *
 * Return: true if so.
 */
bool ut_readable(struct ucma_test *t, int n)
{
	return ucma_fops.poll(t->filp[n], NULL) == (EPOLLIN | EPOLLRDNORM);
}

/**
 * ut_reason() - why the last request that was refused was refused
 * @t: the test
 * @n: file
 *
 * Return: the text, which the next call overwrites.
 */
const char *ut_reason(struct ucma_test *t, int n)
{
	struct rdma_reject_log *log = &ut_file(t, n)->rejects;
	s64 count = atomic64_read(&log->count);

	if (!count || !rdma_reject_text(log, count - 1, t->reason, sizeof(t->reason)))
		return "";
	return t->reason;
}

/* A file that no program has: what is opened and closed is ucma's part. */
static struct file *open_file(struct ucma_test *t)
{
	struct file *filp = anon_inode_getfile("[ucma_test]", &ucma_fops, NULL,
					       O_RDWR | O_NONBLOCK);

	KUNIT_ASSERT_FALSE(t->test, IS_ERR(filp));
	KUNIT_ASSERT_EQ(t->test, ucma_fops.open(file_inode(filp), filp), 0);
	return filp;
}

/**
 * ut_close() - close a file
 * @t: the test
 * @n: file
 *
 * Return: when it is closed.
 */
void ut_close(struct ucma_test *t, int n)
{
	if (t->filp[n])
		__fput_sync(t->filp[n]);
	t->filp[n] = NULL;
}

static void init_device(struct ucma_test *t)
{
	t->ports = kunit_kcalloc(t->test, 2, sizeof(*t->ports), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(t->test, t->ports);
	t->ports[1].immutable.core_cap_flags = RDMA_CORE_PORT_IBA_IB;
	t->ib.port_data = t->ports;
	t->ib.phys_port_cnt = 1;
	t->ib.index = 9;
	t->ib.node_guid = cpu_to_be64(0x1122);
}

/**
 * ut_init() - make connection manager and files; init of a suite
 * @test: the test; its priv becomes the struct ucma_test
 *
 * Return: 0.
 */
int ut_init(struct kunit *test)
{
	struct ucma_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->test = test;
	mutex_init(&t->lock);
	INIT_LIST_HEAD(&t->cms);
	INIT_LIST_HEAD(&t->dead);
	t->user = kunit_vm_mmap(test, NULL, 0, 2 * UT_BYTES, PROT_READ | PROT_WRITE,
				MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_NE(test, t->user, 0);
	init_device(t);
	fake_cm_play(t);
	test->priv = t;
	for (int n = 0; n < ARRAY_SIZE(t->filp); n++)
		t->filp[n] = open_file(t);
	return 0;
}

/**
 * ut_exit() - close the files, unless a test has; exit of a suite
 * @test: the test
 *
 * No CM id is left then.
 */
void ut_exit(struct kunit *test)
{
	struct ucma_test *t = test->priv;

	if (!t)
		return;
	for (int n = 0; n < ARRAY_SIZE(t->filp); n++)
		ut_close(t, n);
	KUNIT_EXPECT_EQ(test, t->made, 0);
	fake_cm_play(NULL);
}

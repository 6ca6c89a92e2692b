// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: devices that are added, and removed while files are open; issmN.
 */
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/sched/signal.h>

#include "../../device/device.h"
#include "test_umad.h"

#define FIRST_LEN	(sizeof(struct ib_user_mad_hdr) + IB_MGMT_MAD_SIZE)

/* ---- removal ---- */

/* Sends and unread MADs are freed when the device is removed, not when the file is closed. */
static void open_file(struct kunit *test)
{
	struct umad_test *t = test->priv;
	struct ut_mad mad = ut_mad(0, IB_MGMT_CLASS_PERF_MGMT, IB_MGMT_METHOD_GET, 7);
	struct umad_test *other = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, other);
	memcpy(other, t, sizeof(*t));
	KUNIT_ASSERT_EQ(test, ut_register(t, 1, 0, 0, 0), 0);
	KUNIT_ASSERT_EQ(test, ut_register(t, 0, 0, 0, 0), 1);
	KUNIT_EXPECT_EQ(test, ut_write(t, &mad, FIRST_LEN), FIRST_LEN);
	mad.mad.mad_hdr.tid = cpu_to_be64(8);
	KUNIT_EXPECT_EQ(test, ut_write(t, &mad, FIRST_LEN), FIRST_LEN);
	fake_mads_complete(t, fake_mads_oldest(t), IB_WC_RESP_TIMEOUT_ERR);
	fake_mads_receive(t, 1, fake_mads_mad(t->fake, IB_MGMT_CLASS_PERF_MGMT, IB_MGMT_MAD_SIZE));
	KUNIT_EXPECT_EQ(test, ut_open(other, t->port), 0);
	KUNIT_ASSERT_EQ(test, ut_register(other, 1, 0, 0, 0), 0);

	ut_remove_device(t);
	KUNIT_EXPECT_EQ(test, ut_file(t)->asked, 0);
	KUNIT_EXPECT_EQ(test, ut_file(t)->kept, 0);
	ut_expect_refused(t, ut_read(t, NULL, FIRST_LEN), -EIO, "removed");
	ut_expect_refused(t, ut_write(t, &mad, FIRST_LEN), -EIO, "no agent 0");
	KUNIT_EXPECT_TRUE(test, ut_polls(t, EPOLLERR | EPOLLHUP));
	ut_expect_refused(t, ut_register(t, 1, 0, 0, 0), -EPIPE, "removed");
	ut_expect_refused(t, ut_unregister(t, 1), -EINVAL, "no agent 1");
	KUNIT_EXPECT_TRUE(test, ut_polls(other, EPOLLERR | EPOLLHUP));
	ut_close(other);
	KUNIT_EXPECT_EQ(test, ut_open(other, t->port), -ENXIO);
}

/**
 * struct remover - a thread that removes the device when the test waits for a MAD
 * @t: the test
 * @done: the device is removed
 */
struct remover {
	struct umad_test *t;
	struct completion done;
};

static int remove_from_waiting(void *data)
{
	struct remover *remover = data;

	/* Static stubs apply only to tasks whose kunit_test is set. */
	current->kunit_test = remover->t->test;
	while (!wq_has_sleeper(&ut_file(remover->t)->wait))
		schedule_timeout_uninterruptible(1);
	ut_remove_device(remover->t);
	complete(&remover->done);
	return 0;
}

static void waiting_reader(struct kunit *test)
{
	struct umad_test *t = test->priv;
	struct remover remover = { .t = t };

	init_completion(&remover.done);
	KUNIT_ASSERT_EQ(test, ut_register(t, 1, 0, 0, 0), 0);
	t->filp.f_flags = 0;
	KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(remove_from_waiting, &remover, "kt_remove")));
	KUNIT_EXPECT_EQ(test, ut_read(t, NULL, FIRST_LEN), -EIO);
	wait_for_completion(&remover.done);
}

/* ---- devices ---- */

static struct device *nl_cdev(struct umad_test *t, const char *client, u32 port_num, int *ret)
{
	struct ib_client_nl_info info = { .port = port_num };

	*ret = ib_get_client_nl_info(&t->fake->ib, client, &info);
	if (*ret)
		return NULL;
	KUNIT_EXPECT_EQ(t->test, info.abi, IB_USER_MAD_ABI_VERSION);
	return info.cdev;
}

static void expect_none(struct umad_test *t, const char *client, u32 port_num, int err)
{
	int ret;

	KUNIT_EXPECT_NULL(t->test, nl_cdev(t, client, port_num, &ret));
	KUNIT_EXPECT_EQ_MSG(t->test, ret, err, "%s of port %u", client, port_num);
}

static void expect_cdev(struct umad_test *t, const char *client, u32 port_num, int number,
			int minor)
{
	char name[16];
	int ret;
	struct device *dev = nl_cdev(t, client, port_num, &ret);

	KUNIT_ASSERT_NOT_NULL(t->test, dev);
	snprintf(name, sizeof(name), "%s%d", client, number);
	KUNIT_EXPECT_STREQ(t->test, dev_name(dev), name);
	KUNIT_EXPECT_EQ(t->test, dev->devt, MKDEV(231, minor));
	put_device(dev);
}

/* Each port with MADs has umadN, with subnet management issmN too; netlink finds them. */
static void names(struct kunit *test)
{
	struct umad_test *t = test->priv;
	int number = t->port->number;

	KUNIT_ASSERT_LT(test, number, 32);
	expect_cdev(t, "umad", 1, number, number);
	expect_cdev(t, "issm", 1, number, 64 + number);
	expect_cdev(t, "umad", 2, number + 1, number + 1);
	expect_none(t, "issm", 2, -EOPNOTSUPP);
	expect_none(t, "umad", 3, -EOPNOTSUPP);
	expect_none(t, "issm", 3, -EOPNOTSUPP);
	expect_none(t, "umad", 4, -EINVAL);
	expect_none(t, "umad", -1, -EINVAL);
}

/* A device that is added again gets its old numbers, although an old file is still open. */
static void comes_back(struct kunit *test)
{
	struct umad_test *t = test->priv;
	int number = t->port->number;

	ut_remove_device(t);
	t->fake = fake_mads_alloc();
	KUNIT_ASSERT_NOT_NULL(test, t->fake);
	KUNIT_ASSERT_EQ(test, ib_register_device(&t->fake->ib, "kt_umad", NULL), 0);
	expect_cdev(t, "umad", 1, number, number);
	expect_cdev(t, "issm", 1, number, 64 + number);
	KUNIT_EXPECT_TRUE(test, ut_polls(t, EPOLLERR | EPOLLHUP));
}

/* Removes umad from the device; the next add() sets the client data again. */
static void lose_device(struct ib_device *ib)
{
	umad_client.remove(ib, ib_get_client_data(ib, &umad_client));
}

#ifdef CONFIG_FAULT_INJECTION
/*
 * One allocation after the other fails while umad adds a device, which takes some 90, most of them
 * in sysfs. The device itself stays registered, since its registration takes longer than that.
 */
static void starved(struct kunit *test)
{
	struct umad_test *t = test->priv;
	struct ib_device *ib = &t->fake->ib;
	bool fired = true;
	int failed = 0;

	ut_close(t);
	lose_device(ib);
	for (int nth = 1; fired && nth < 1000; nth++) {
		int ret;

		current->fail_nth = nth;
		ret = umad_client.add(ib);
		fired = !current->fail_nth;
		current->fail_nth = 0;
		if (ret) {
			KUNIT_EXPECT_TRUE(test, fired);
			failed++;
		} else if (fired) {
			lose_device(ib);
		}
	}
	KUNIT_EXPECT_FALSE(test, fired);
	KUNIT_EXPECT_GT(test, failed, 10);
}
#endif

/* ---- issmN ---- */

static int sm_open(struct umad_test *t, struct file *filp, unsigned int flags)
{
	memset(filp, 0, sizeof(*filp));
	filp->f_flags = flags;
	t->sm_inode.i_cdev = &t->port->sm_cdev;
	return umad_sm_fops.open(&t->sm_inode, filp);
}

static void sm_close(struct file *filp)
{
	umad_sm_fops.release(NULL, filp);
}

static void is_sm(struct kunit *test)
{
	struct umad_test *t = test->priv;
	struct file filp, other;

	KUNIT_ASSERT_EQ(test, sm_open(t, &filp, 0), 0);
	KUNIT_EXPECT_EQ(test, t->fake->caps[1], IB_PORT_SM);
	KUNIT_EXPECT_EQ(test, sm_open(t, &other, O_NONBLOCK), -EAGAIN);
	sm_close(&filp);
	KUNIT_EXPECT_EQ(test, t->fake->caps[1], 0);

	/* After an open that the device has failed, others can open it. */
	t->fake->modify = -EOPNOTSUPP;
	KUNIT_EXPECT_EQ(test, sm_open(t, &filp, O_NONBLOCK), -EOPNOTSUPP);
	t->fake->modify = 0;
	KUNIT_EXPECT_EQ(test, sm_open(t, &filp, O_NONBLOCK), 0);
	KUNIT_EXPECT_EQ(test, t->fake->caps[1], IB_PORT_SM);
	ut_remove_device(t);
	sm_close(&filp);
	KUNIT_EXPECT_EQ(test, sm_open(t, &filp, 0), -ENXIO);
}

/* A device that moves to another network namespace is not reset, so IsSM must be cleared. */
static void is_sm_no_more(struct kunit *test)
{
	struct umad_test *t = test->priv;
	struct ib_device *ib = &t->fake->ib;
	struct file filp;

	KUNIT_ASSERT_EQ(test, sm_open(t, &filp, 0), 0);
	KUNIT_EXPECT_EQ(test, t->fake->caps[1], IB_PORT_SM);
	lose_device(ib);
	KUNIT_EXPECT_EQ(test, t->fake->caps[1], 0);
	KUNIT_ASSERT_EQ(test, umad_client.add(ib), 0);
	/* Closing the old file does not clear IsSM, since the new issmN may be open. */
	t->fake->caps[1] = IB_PORT_SM;
	sm_close(&filp);
	KUNIT_EXPECT_EQ(test, t->fake->caps[1], IB_PORT_SM);
}

/**
 * struct second - a second subnet manager
 * @t: the test
 * @filp: its file
 * @ret: result of open
 * @done: open has returned
 */
struct second {
	struct umad_test *t;
	struct file filp;
	int ret;
	struct completion done;
};

static int open_second(void *data)
{
	struct second *second = data;

	allow_signal(SIGUSR1);
	second->ret = sm_open(second->t, &second->filp, 0);
	kthread_complete_and_exit(&second->done, 0);
}

/* Begins a second open, which waits. */
static struct task_struct *begin_second(struct kunit *test, struct second *second)
{
	struct task_struct *task;

	second->t = test->priv;
	init_completion(&second->done);
	task = kthread_run(open_second, second, "kt_second_sm");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	while (!wq_has_sleeper(&second->t->port->sm_wait))
		schedule_timeout_uninterruptible(1);
	KUNIT_EXPECT_FALSE(test, completion_done(&second->done));
	return task;
}

static void second_sm(struct kunit *test)
{
	struct umad_test *t = test->priv;
	struct second second = {};
	struct file filp;

	KUNIT_ASSERT_EQ(test, sm_open(t, &filp, 0), 0);
	begin_second(test, &second);
	sm_close(&filp);
	wait_for_completion(&second.done);
	KUNIT_EXPECT_EQ(test, second.ret, 0);
	KUNIT_EXPECT_EQ(test, t->fake->caps[1], IB_PORT_SM);
	KUNIT_EXPECT_EQ(test, sm_open(t, &filp, O_NONBLOCK), -EAGAIN);
	sm_close(&second.filp);
	KUNIT_EXPECT_EQ(test, t->fake->caps[1], 0);
}

static void second_gives_up(struct kunit *test)
{
	struct umad_test *t = test->priv;
	struct second second = {};
	struct task_struct *task;
	struct file filp;

	KUNIT_ASSERT_EQ(test, sm_open(t, &filp, 0), 0);
	task = begin_second(test, &second);
	send_sig(SIGUSR1, task, 1);
	wait_for_completion(&second.done);
	KUNIT_EXPECT_EQ(test, second.ret, -ERESTARTSYS);
	KUNIT_EXPECT_EQ(test, t->fake->caps[1], IB_PORT_SM);
	sm_close(&filp);
	KUNIT_EXPECT_EQ(test, t->fake->caps[1], 0);
}

static void second_without_device(struct kunit *test)
{
	struct umad_test *t = test->priv;
	struct second second = {};
	struct file filp;

	KUNIT_ASSERT_EQ(test, sm_open(t, &filp, 0), 0);
	begin_second(test, &second);
	ut_remove_device(t);
	wait_for_completion(&second.done);
	KUNIT_EXPECT_EQ(test, second.ret, -ENXIO);
	sm_close(&filp);
}

static struct kunit_case removal_cases[] = {
	KUNIT_CASE(open_file),
	KUNIT_CASE(waiting_reader),
	KUNIT_CASE(names),
	KUNIT_CASE(comes_back),
#ifdef CONFIG_FAULT_INJECTION
	KUNIT_CASE_SLOW(starved),
#endif
	KUNIT_CASE(is_sm),
	KUNIT_CASE(is_sm_no_more),
	KUNIT_CASE(second_sm),
	KUNIT_CASE(second_gives_up),
	KUNIT_CASE(second_without_device),
	{}
};

static struct kunit_suite removal_suite = {
	.name = "rdma_umad_removal",
	.init = ut_init,
	.exit = ut_exit,
	.test_cases = removal_cases,
};

kunit_test_suite(removal_suite);

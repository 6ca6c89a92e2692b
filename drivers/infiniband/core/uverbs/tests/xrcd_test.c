// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: XRC domains of user space: private ones and those bound to a file and shared between
 * processes, the SRQs and target QPs in them, and their destruction.
 */
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/shmem_fs.h>

#include "test_uverbs.h"

/* A file with an inode of its own. */
static int new_file(struct kunit *test)
{
	struct file *file = shmem_file_setup("domain", 0, 0);
	int fd;

	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	fd = get_unused_fd_flags(O_CLOEXEC);
	KUNIT_ASSERT_GE(test, fd, 0);
	fd_install(fd, file);
	return fd;
}

static int open_domain(struct uverbs_test *t, int fd, u32 oflags, u32 *handle)
{
	struct ib_uverbs_open_xrcd req = { .fd = fd, .oflags = oflags };
	struct ib_uverbs_open_xrcd_resp resp;
	int ret = tu_write(t, IB_USER_VERBS_CMD_OPEN_XRCD, &req, sizeof(req), &resp, sizeof(resp));

	*handle = resp.xrcd_handle;
	return ret;
}

static int close_domain(struct uverbs_test *t, u32 handle)
{
	struct ib_uverbs_close_xrcd req = { .xrcd_handle = handle };

	return tu_write(t, IB_USER_VERBS_CMD_CLOSE_XRCD, &req, sizeof(req), NULL, 0);
}

static int create_srq(struct uverbs_test *t, u32 xrcd, struct ib_uverbs_create_srq_resp *resp)
{
	struct ib_uverbs_create_xsrq req = {
		.srq_type = IB_SRQT_XRC, .pd_handle = t->pd, .cq_handle = t->cq,
		.xrcd_handle = xrcd, .max_wr = 1, .max_sge = 1,
	};

	return tu_write(t, IB_USER_VERBS_CMD_CREATE_XSRQ, &req, sizeof(req), resp, sizeof(*resp));
}

static int create_target(struct uverbs_test *t, u32 xrcd, struct ib_uverbs_create_qp_resp *resp)
{
	struct ib_uverbs_create_qp req = { .pd_handle = xrcd, .qp_type = IB_QPT_XRC_TGT };

	return tu_write(t, IB_USER_VERBS_CMD_CREATE_QP, &req, sizeof(req), resp, sizeof(*resp));
}

static int open_target(struct uverbs_test *t, u32 xrcd, u32 qpn, u8 type,
		       struct ib_uverbs_create_qp_resp *resp)
{
	struct ib_uverbs_open_qp req = { .pd_handle = xrcd, .qpn = qpn, .qp_type = type };

	return tu_write(t, IB_USER_VERBS_CMD_OPEN_QP, &req, sizeof(req), resp, sizeof(*resp));
}

static void expect_refused(struct uverbs_test *t, int ret, int err, const char *reason)
{
	KUNIT_EXPECT_EQ(t->test, ret, err);
	KUNIT_EXPECT_NOT_NULL_MSG(t->test, strstr(tu_reason(t), reason), "'%s' has no '%s'",
				  tu_reason(t), reason);
}

/* Without a file each request makes a domain of its own. */
static void private_domains(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	u32 one, two;

	KUNIT_EXPECT_EQ(test, open_domain(t, -1, O_CREAT, &one), 0);
	KUNIT_EXPECT_EQ(test, open_domain(t, -1, O_CREAT | O_EXCL, &two), 0);
	KUNIT_EXPECT_EQ(test, t->device->made.xrcds, 2);
	KUNIT_EXPECT_EQ(test, close_domain(t, one), 0);
	KUNIT_EXPECT_EQ(test, close_domain(t, two), 0);
	KUNIT_EXPECT_EQ(test, t->device->made.xrcds, 0);
	expect_refused(t, close_domain(t, one), -ENOENT, "xrcd_handle");
	t->device->answer = -ENOSPC;
	expect_refused(t, open_domain(t, -1, 0, &one), -ENOSPC, "the driver refused");
	t->device->answer = 0;
}

/* O_CREAT and O_EXCL have the same meaning for domains as for files. */
static void named(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	int fd = new_file(test), other = new_file(test);
	u32 one, two, three;

	expect_refused(t, open_domain(t, 4000, O_CREAT, &one), -EBADF, "fd 4000");
	expect_refused(t, open_domain(t, fd, 0, &one), -EAGAIN, "O_CREAT");
	t->device->answer = -ENOSPC;
	expect_refused(t, open_domain(t, fd, O_CREAT, &one), -ENOSPC, "the driver refused");
	t->device->answer = 0;
	KUNIT_EXPECT_EQ(test, open_domain(t, fd, O_CREAT | O_EXCL, &one), 0);
	expect_refused(t, open_domain(t, fd, O_CREAT | O_EXCL, &two), -EINVAL, "O_EXCL");
	KUNIT_EXPECT_EQ(test, open_domain(t, fd, 0, &two), 0);
	KUNIT_EXPECT_EQ(test, t->device->made.xrcds, 1);
	KUNIT_EXPECT_EQ(test, open_domain(t, other, O_CREAT, &three), 0);
	KUNIT_EXPECT_EQ(test, t->device->made.xrcds, 2);

	/* The domain outlives the descriptor, and is freed with its last handle. */
	tu_close_fd(fd);
	KUNIT_EXPECT_EQ(test, close_domain(t, one), 0);
	KUNIT_EXPECT_EQ(test, t->device->made.xrcds, 2);
	t->device->destroy = -EIO;
	expect_refused(t, close_domain(t, two), -EIO, "xrcd_handle");
	t->device->destroy = 0;
	KUNIT_EXPECT_EQ(test, close_domain(t, two), 0);
	KUNIT_EXPECT_EQ(test, close_domain(t, three), 0);
	KUNIT_EXPECT_EQ(test, t->device->made.xrcds, 0);
	tu_close_fd(other);
}

struct rival {
	struct uverbs_test t;
	int fd;
	u32 domain;
};

static void open_first(struct fake_device *fake)
{
	struct rival *rival = fake->priv;

	KUNIT_EXPECT_EQ(rival->t.test, open_domain(&rival->t, rival->fd, O_CREAT, &rival->domain),
			0);
}

/*
 * While the driver makes a domain, another program makes one for the same file: both use the domain
 * of the other program.
 */
static void named_by_two(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	struct rival *rival = kunit_kzalloc(test, sizeof(*rival), GFP_KERNEL);
	int fd = new_file(test);
	u32 domain;

	KUNIT_ASSERT_NOT_NULL(test, rival);
	rival->t = *t;
	rival->fd = fd;
	rival->t.buf = kunit_kzalloc(test, TU_LARGEST, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rival->t.buf);
	KUNIT_ASSERT_EQ(test, tu_open(&rival->t), 0);
	t->device->priv = rival;

	t->device->meanwhile = open_first;
	KUNIT_EXPECT_EQ(test, open_domain(t, fd, O_CREAT, &domain), 0);
	KUNIT_EXPECT_EQ(test, t->device->made.xrcds, 1);
	KUNIT_EXPECT_EQ(test, close_domain(&rival->t, rival->domain), 0);
	KUNIT_EXPECT_EQ(test, t->device->made.xrcds, 1);
	KUNIT_EXPECT_EQ(test, close_domain(t, domain), 0);
	KUNIT_EXPECT_EQ(test, t->device->made.xrcds, 0);

	/* A program that asks for a domain of its own does not get another's. */
	t->device->meanwhile = open_first;
	expect_refused(t, open_domain(t, fd, O_CREAT | O_EXCL, &domain), -EINVAL, "O_EXCL");
	KUNIT_EXPECT_EQ(test, t->device->made.xrcds, 1);
	tu_close(&rival->t);
	KUNIT_EXPECT_EQ(test, t->device->made.xrcds, 0);
	tu_close_fd(fd);
}

/* Objects of a domain keep the handle by which they were made from being closed. */
static void in_use(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	struct ib_uverbs_create_srq_resp srq;
	struct ib_uverbs_create_qp_resp qp;
	u32 xrcd, plain, events;

	KUNIT_ASSERT_EQ(test, open_domain(t, -1, 0, &xrcd), 0);
	KUNIT_ASSERT_EQ(test, create_srq(t, xrcd, &srq), 0);
	KUNIT_EXPECT_EQ(test, srq.srqn, 0x321);
	expect_refused(t, close_domain(t, xrcd), -EBUSY, "1 QPs and SRQs");
	KUNIT_ASSERT_EQ(test, create_target(t, xrcd, &qp), 0);
	KUNIT_EXPECT_EQ(test, qp.qpn, t->device->last_qp->qp_num);
	KUNIT_EXPECT_PTR_EQ(test, t->device->last_qp->pd, NULL);
	KUNIT_EXPECT_EQ(test, t->device->udata_in, 0);
	KUNIT_EXPECT_EQ(test, tu_destroy_srq(t, srq.srq_handle, &events), 0);
	expect_refused(t, close_domain(t, xrcd), -EBUSY, "1 QPs and SRQs");
	KUNIT_EXPECT_EQ(test, tu_destroy_qp(t, qp.qp_handle), 0);

	/* An initiator has a PD and no domain; the handle of a PD names no domain. */
	KUNIT_EXPECT_EQ(test, tu_create_qp(t, IB_QPT_XRC_INI, -1, &plain), 0);
	KUNIT_EXPECT_PTR_EQ(test, t->device->last_qp->recv_cq, NULL);
	KUNIT_EXPECT_EQ(test, tu_destroy_qp(t, plain), 0);
	expect_refused(t, create_target(t, t->pd, &qp), -EINVAL, "xrcd_handle");
	expect_refused(t, create_srq(t, t->pd, &srq), -EINVAL, "xrcd_handle");
	expect_refused(t, open_target(t, t->pd, 0x100, IB_QPT_XRC_TGT, &qp), -EINVAL,
		       "xrcd_handle");
	expect_refused(t, open_target(t, xrcd, 0x999, IB_QPT_XRC_TGT, &qp), -EINVAL, "no target");
	KUNIT_EXPECT_EQ(test, close_domain(t, xrcd), 0);
}

/* One process makes domain and target QP, another one opens both; the first exits. */
static void shared(struct kunit *test)
{
	struct uverbs_test *t = test->priv, other = *t;
	struct ib_uverbs_create_qp_resp made, opened;
	int fd = new_file(test);
	u32 mine, theirs;

	KUNIT_ASSERT_EQ(test, tu_open(&other), 0);
	KUNIT_ASSERT_EQ(test, open_domain(&other, fd, O_CREAT | O_EXCL, &theirs), 0);
	KUNIT_ASSERT_EQ(test, open_domain(t, fd, O_CREAT, &mine), 0);
	KUNIT_EXPECT_EQ(test, t->device->made.xrcds, 1);
	KUNIT_ASSERT_EQ(test, create_target(&other, theirs, &made), 0);
	expect_refused(t, open_target(t, mine, made.qpn, IB_QPT_RC, &opened), -EINVAL, "qp_type");
	KUNIT_ASSERT_EQ(test, open_target(t, mine, made.qpn, IB_QPT_XRC_TGT, &opened), 0);
	KUNIT_EXPECT_EQ(test, opened.qpn, made.qpn);
	KUNIT_EXPECT_EQ(test, t->device->made.qps, 1);

	tu_close(&other);
	KUNIT_EXPECT_EQ(test, t->device->made.qps, 1);
	KUNIT_EXPECT_EQ(test, t->device->made.xrcds, 1);
	expect_refused(t, close_domain(t, mine), -EBUSY, "1 QPs and SRQs");
	KUNIT_EXPECT_EQ(test, tu_destroy_qp(t, opened.qp_handle), 0);
	KUNIT_EXPECT_EQ(test, t->device->made.qps, 0);
	expect_refused(t, open_target(t, mine, made.qpn, IB_QPT_XRC_TGT, &opened), -EINVAL,
		       "no target");
	KUNIT_EXPECT_EQ(test, close_domain(t, mine), 0);
	KUNIT_EXPECT_EQ(test, t->device->made.xrcds, 0);
	tu_close_fd(fd);
}

/* No object is left, whether the process exits or the device is removed first. */
static void left_behind(struct kunit *test)
{
	struct uverbs_test *t = test->priv, other = *t;
	struct ib_uverbs_create_srq_resp srq;
	struct ib_uverbs_create_qp_resp qp;
	int fd = new_file(test);
	u32 mine, theirs;

	KUNIT_ASSERT_EQ(test, tu_open(&other), 0);
	KUNIT_ASSERT_EQ(test, open_domain(t, fd, O_CREAT, &mine), 0);
	KUNIT_ASSERT_EQ(test, open_domain(&other, fd, O_CREAT, &theirs), 0);
	KUNIT_ASSERT_EQ(test, create_srq(t, mine, &srq), 0);
	KUNIT_ASSERT_EQ(test, create_target(t, mine, &qp), 0);
	KUNIT_ASSERT_EQ(test, open_target(&other, theirs, qp.qpn, IB_QPT_XRC_TGT, &qp), 0);
	tu_remove_device(t);
	tu_close(&other);
	tu_close_fd(fd);
}

#ifdef CONFIG_FAULT_INJECTION
static int starving_fd;
static u32 starving_xrcd;

static int open_starving(struct uverbs_test *t)
{
	u32 handle;
	int ret = open_domain(t, starving_fd, O_CREAT, &handle);
	int fail_nth = t->fail_nth;

	/* The domain is closed at once, so that the next request makes a new one. */
	t->fail_nth = 0;
	if (!ret)
		KUNIT_EXPECT_EQ(t->test, close_domain(t, handle), 0);
	t->fail_nth = fail_nth;
	return ret;
}

static int target_starving(struct uverbs_test *t)
{
	struct ib_uverbs_create_qp_resp qp;

	return create_target(t, starving_xrcd, &qp);
}

static void without_memory(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	int fd = new_file(test);

	starving_fd = fd;
	KUNIT_EXPECT_GT(test, tu_starve(t, open_starving), 2);
	KUNIT_EXPECT_EQ(test, t->device->made.xrcds, 0);
	KUNIT_ASSERT_EQ(test, open_domain(t, fd, O_CREAT, &starving_xrcd), 0);
	KUNIT_EXPECT_GT(test, tu_starve(t, target_starving), 3);
	KUNIT_EXPECT_EQ(test, t->device->made.qps, t->served);
	tu_close_fd(fd);
}
#endif

static struct kunit_case xrcd_cases[] = {
	KUNIT_CASE(private_domains),
	KUNIT_CASE(named),
	KUNIT_CASE(named_by_two),
	KUNIT_CASE(in_use),
	KUNIT_CASE(shared),
	KUNIT_CASE(left_behind),
#ifdef CONFIG_FAULT_INJECTION
	KUNIT_CASE(without_memory),
#endif
	{}
};

static struct kunit_suite xrcd_suite = {
	.name = "rdma_uverbs_xrcd",
	.init = tu_init,
	.exit = tu_exit,
	.test_cases = xrcd_cases,
};

kunit_test_suite(xrcd_suite);

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: completion queues, their channels and memory regions of user space.
 */
#include <linux/file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "test_uverbs.h"

/* ---- polling and arming through the kernel ---- */

struct polled {
	struct ib_uverbs_poll_cq_resp head;
	struct ib_uverbs_wc wc[3];
};

static int poll_cq(struct uverbs_test *t, u32 cq, u32 ne, struct polled *resp, size_t room)
{
	struct ib_uverbs_poll_cq req = { .cq_handle = cq, .ne = ne };

	return tu_write(t, IB_USER_VERBS_CMD_POLL_CQ, &req, sizeof(req), resp, room);
}

static void polled(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	struct polled resp;
	u32 qp;

	KUNIT_ASSERT_EQ(test, tu_create_qp(t, IB_QPT_RC, -1, &qp), 0);
	t->device->waiting = 2;
	t->device->next_wc = 1ULL << 40;
	KUNIT_EXPECT_EQ(test, poll_cq(t, t->cq, 3, &resp, sizeof(resp)), 0);
	KUNIT_EXPECT_EQ(test, resp.head.count, 2);
	KUNIT_EXPECT_EQ(test, resp.wc[0].wr_id, 1ULL << 40);
	KUNIT_EXPECT_EQ(test, resp.wc[1].wr_id, (1ULL << 40) + 1);
	KUNIT_EXPECT_EQ(test, resp.wc[0].qp_num, t->device->last_qp->qp_num);
	KUNIT_EXPECT_EQ(test, resp.wc[0].opcode, IB_WC_RECV);
	KUNIT_EXPECT_EQ(test, resp.wc[0].byte_len, 100);
	KUNIT_EXPECT_EQ(test, resp.wc[0].slid, 7);
	KUNIT_EXPECT_EQ(test, poll_cq(t, t->cq, 3, &resp, sizeof(resp)), 0);
	KUNIT_EXPECT_EQ(test, resp.head.count, 0);
}

/* Completions for which the response has no room stay in the queue. */
static void poll_refused(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	struct polled resp;
	u32 qp;

	KUNIT_ASSERT_EQ(test, tu_create_qp(t, IB_QPT_RC, -1, &qp), 0);
	t->device->waiting = 1;
	KUNIT_EXPECT_EQ(test, poll_cq(t, t->cq, 4, &resp, sizeof(resp)), -ENOSPC);
	KUNIT_EXPECT_NOT_NULL(test, strstr(tu_reason(t), "ne 4, the response has room for 3"));
	KUNIT_EXPECT_EQ(test, poll_cq(t, t->cq, 1, &resp, sizeof(resp.head)), -ENOSPC);
	KUNIT_EXPECT_EQ(test, poll_cq(t, 4711, 1, &resp, sizeof(resp)), -ENOENT);
	KUNIT_EXPECT_EQ(test, t->device->waiting, 1);
	KUNIT_EXPECT_EQ(test, poll_cq(t, t->cq, 1, &resp, sizeof(resp)), 0);
	KUNIT_EXPECT_EQ(test, resp.head.count, 1);
	t->device->poll = -EIO;
	KUNIT_EXPECT_EQ(test, poll_cq(t, t->cq, 1, &resp, sizeof(resp)), -EIO);
	KUNIT_EXPECT_NOT_NULL(test, strstr(tu_reason(t), "cannot poll"));
}

static void armed(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	struct ib_uverbs_req_notify_cq req = { .cq_handle = t->cq };

	KUNIT_EXPECT_EQ(test, tu_write(t, IB_USER_VERBS_CMD_REQ_NOTIFY_CQ, &req, sizeof(req), NULL,
				       0), 0);
	KUNIT_EXPECT_EQ(test, t->device->armed, IB_CQ_NEXT_COMP);
	req.solicited_only = 1;
	KUNIT_EXPECT_EQ(test, tu_write(t, IB_USER_VERBS_CMD_REQ_NOTIFY_CQ, &req, sizeof(req), NULL,
				       0), 0);
	KUNIT_EXPECT_EQ(test, t->device->armed, IB_CQ_SOLICITED);
	req.cq_handle = t->pd;
	KUNIT_EXPECT_EQ(test, tu_write(t, IB_USER_VERBS_CMD_REQ_NOTIFY_CQ, &req, sizeof(req), NULL,
				       0), -EINVAL);
}

/* ---- size and moderation ---- */

static void resized(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	struct {
		struct ib_uverbs_resize_cq req;
		u64 driver;
	} resize = { .req = { .cq_handle = t->cq, .cqe = 64 } };
	struct ib_uverbs_resize_cq_resp resp;

	KUNIT_EXPECT_EQ(test, tu_write(t, IB_USER_VERBS_CMD_RESIZE_CQ, &resize, sizeof(resize),
				       &resp, sizeof(resp)), 0);
	KUNIT_EXPECT_EQ(test, resp.cqe, 64);
	KUNIT_EXPECT_EQ(test, t->device->last_cq->cqe, 64);
	KUNIT_EXPECT_EQ(test, t->device->udata_in, 8);
	t->device->answer = -EINVAL;
	resize.req.cqe = 2;
	KUNIT_EXPECT_EQ(test, tu_write(t, IB_USER_VERBS_CMD_RESIZE_CQ, &resize, sizeof(resize),
				       &resp, sizeof(resp)), -EINVAL);
	KUNIT_EXPECT_NOT_NULL(test, strstr(tu_reason(t), "cqe 2"));
	t->device->answer = 0;
	KUNIT_EXPECT_EQ(test, t->device->last_cq->cqe, 64);
}

static void moderated(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	struct ib_uverbs_ex_modify_cq req = {
		.cq_handle = t->cq, .attr_mask = IB_CQ_MODERATE,
		.attr = { .cq_count = 16, .cq_period = 100 },
	};

#define MODERATE() tu_write_ex(t, IB_USER_VERBS_EX_CMD_MODIFY_CQ, &req, sizeof(req), NULL, 0)
	KUNIT_EXPECT_EQ(test, MODERATE(), 0);
	t->device->answer = -EINVAL;
	KUNIT_EXPECT_EQ(test, MODERATE(), -EINVAL);
	KUNIT_EXPECT_NOT_NULL(test, strstr(tu_reason(t), "cq_count 16, cq_period 100"));
	t->device->answer = 0;
	req.attr_mask = 0;
	KUNIT_EXPECT_EQ(test, MODERATE(), -EINVAL);
	req.attr_mask = IB_CQ_MODERATE | 2;
	KUNIT_EXPECT_EQ(test, MODERATE(), -EOPNOTSUPP);
	req.attr_mask = IB_CQ_MODERATE;
	req.reserved = 1;
	KUNIT_EXPECT_EQ(test, MODERATE(), -EINVAL);
#undef MODERATE
}

/* ---- channels ---- */

static int new_channel(struct uverbs_test *t)
{
	struct ib_uverbs_create_comp_channel req = {};
	struct ib_uverbs_create_comp_channel_resp resp;
	int ret = tu_write(t, IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, &req, sizeof(req), &resp,
			   sizeof(resp));

	return ret ?: (int)resp.fd;
}

/* Reads the next event and returns the handle of its CQ. */
static s64 read_channel(struct uverbs_test *t, int fd)
{
	struct file *filp = fget(fd);
	loff_t pos = 0;
	ssize_t got;
	u64 handle;

	KUNIT_ASSERT_NOT_NULL(t->test, filp);
	filp->f_flags |= O_NONBLOCK;
	got = filp->f_op->read(filp, tu_at(t, TU_FREE), sizeof(handle), &pos);
	fput(filp);
	if (got == sizeof(handle) && copy_from_user(&handle, tu_at(t, TU_FREE), sizeof(handle)))
		return -EFAULT;
	return got < 0 ? got : handle;
}

static int destroy_cq(struct uverbs_test *t, u32 cq, struct ib_uverbs_destroy_cq_resp *resp)
{
	struct ib_uverbs_destroy_cq req = { .cq_handle = cq };

	return tu_write(t, IB_USER_VERBS_CMD_DESTROY_CQ, &req, sizeof(req), resp, sizeof(*resp));
}

static void raise(struct ib_cq *cq)
{
	cq->comp_handler(cq, cq->cq_context);
}

static void raise_error(struct ib_cq *cq)
{
	struct ib_event event = { .device = cq->device, .element.cq = cq,
				  .event = IB_EVENT_CQ_ERR };

	cq->event_handler(&event, cq->cq_context);
}

/* Events of both kinds are counted, each kind on its own. */
static void channel_events(struct kunit *test)
{
	struct ib_uverbs_destroy_cq_resp resp;
	struct uverbs_test *t = test->priv;
	int channel = new_channel(t);
	struct ib_cq *a, *b;
	u32 cq_a, cq_b;

	KUNIT_ASSERT_GE(test, channel, 0);
	KUNIT_ASSERT_EQ(test, tu_create_cq(t, channel, &cq_a), 0);
	a = t->device->last_cq;
	KUNIT_ASSERT_EQ(test, tu_create_cq(t, channel, &cq_b), 0);
	b = t->device->last_cq;
	KUNIT_EXPECT_EQ(test, read_channel(t, channel), -EAGAIN);
	raise(a);
	raise(a);
	raise(a);
	raise(b);
	for (int i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, read_channel(t, channel), 0xcc);
	raise_error(a);
	KUNIT_EXPECT_EQ(test, read_channel(t, t->async_fd), -EINVAL);
	/* One event of the first CQ is unread, and is discarded with the CQ. */
	KUNIT_EXPECT_EQ(test, destroy_cq(t, cq_a, &resp), 0);
	KUNIT_EXPECT_EQ(test, resp.comp_events_reported, 2);
	KUNIT_EXPECT_EQ(test, resp.async_events_reported, 0);
	KUNIT_EXPECT_EQ(test, read_channel(t, channel), -EAGAIN);
	KUNIT_EXPECT_EQ(test, destroy_cq(t, cq_b, &resp), 0);
	KUNIT_EXPECT_EQ(test, resp.comp_events_reported, 1);
	/* A channel stays when one of its CQs is destroyed. */
	tu_close_fd(channel);
	KUNIT_EXPECT_EQ(test, tu_create_cq(t, channel, &cq_a), -EBADF);
}

/* ---- memory regions ---- */

static int reg_mr(struct uverbs_test *t, u64 start, u64 va, u32 access, u32 *handle)
{
	struct ib_uverbs_reg_mr req = {
		.start = start, .length = 4096, .hca_va = va, .pd_handle = t->pd,
		.access_flags = access,
	};
	struct ib_uverbs_reg_mr_resp resp;
	int ret = tu_write(t, IB_USER_VERBS_CMD_REG_MR, &req, sizeof(req), &resp, sizeof(resp));

	*handle = resp.mr_handle;
	return ret;
}

static int rereg_mr(struct uverbs_test *t, u32 mr, u32 flags, u32 access, u32 pd,
		    struct ib_uverbs_rereg_mr_resp *resp)
{
	struct ib_uverbs_rereg_mr req = {
		.mr_handle = mr, .flags = flags, .start = 0x1000, .length = 4096, .hca_va = 0x1000,
		.pd_handle = pd, .access_flags = access,
	};

	return tu_write(t, IB_USER_VERBS_CMD_REREG_MR, &req, sizeof(req), resp, sizeof(*resp));
}

static int dereg_mr(struct uverbs_test *t, u32 mr)
{
	struct ib_uverbs_dereg_mr req = { .mr_handle = mr };

	return tu_write(t, IB_USER_VERBS_CMD_DEREG_MR, &req, sizeof(req), NULL, 0);
}

static void registered(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	u32 mr;

	KUNIT_EXPECT_EQ(test, reg_mr(t, 0x1008, 0x5000, 0, &mr), -EINVAL);
	KUNIT_EXPECT_NOT_NULL(test, strstr(tu_reason(t), "differ within the page"));
	KUNIT_EXPECT_EQ(test, reg_mr(t, 0x1000, 0x5000, IB_ACCESS_REMOTE_WRITE, &mr), -EINVAL);
	t->device->answer = -ENOMEM;
	KUNIT_EXPECT_EQ(test, reg_mr(t, 0x1000, 0x5000, 0, &mr), -ENOMEM);
	t->device->answer = 0;
	KUNIT_EXPECT_EQ(test, t->device->made.mrs, 0);
	KUNIT_EXPECT_EQ(test, reg_mr(t, 0x1008, 0x5008, 0, &mr), 0);
	t->device->destroy = -EIO;
	KUNIT_EXPECT_EQ(test, dereg_mr(t, mr), -EIO);
	t->device->destroy = 0;
	KUNIT_EXPECT_EQ(test, dereg_mr(t, mr), 0);
	KUNIT_EXPECT_EQ(test, dereg_mr(t, mr), -ENOENT);
}

/* A region is changed in place, or replaced by another one under the same handle. */
static void reregistered(struct kunit *test)
{
	struct ib_uverbs_rereg_mr_resp resp;
	struct uverbs_test *t = test->priv;
	u32 mr, pd;

	KUNIT_ASSERT_EQ(test, reg_mr(t, 0x1000, 0x1000, 0, &mr), 0);
	KUNIT_ASSERT_EQ(test, tu_create_pd(t, &pd), 0);
	KUNIT_EXPECT_EQ(test, rereg_mr(t, mr, 0, 0, 0, &resp), -EINVAL);
	KUNIT_EXPECT_EQ(test, rereg_mr(t, mr, 1 << 20, 0, 0, &resp), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, rereg_mr(t, mr, IB_MR_REREG_ACCESS, IB_ACCESS_REMOTE_WRITE, 0,
				       &resp), -EINVAL);
	KUNIT_EXPECT_EQ(test, rereg_mr(t, mr, IB_MR_REREG_PD, 0, 4711, &resp), -ENOENT);
	t->device->answer = -ENOSPC;
	KUNIT_EXPECT_EQ(test, rereg_mr(t, mr, IB_MR_REREG_PD, 0, pd, &resp), -ENOSPC);
	t->device->answer = 0;

	KUNIT_EXPECT_EQ(test, rereg_mr(t, mr, IB_MR_REREG_TRANS, 0, 0, &resp), 0);
	KUNIT_EXPECT_EQ(test, resp.lkey, 0x1201);
	t->device->replaces = true;
	KUNIT_EXPECT_EQ(test, rereg_mr(t, mr, IB_MR_REREG_PD | IB_MR_REREG_TRANS, 0, pd, &resp),
			0);
	KUNIT_EXPECT_EQ(test, resp.lkey, 0x1202);
	KUNIT_EXPECT_EQ(test, t->device->made.mrs, 1);
	KUNIT_EXPECT_EQ(test, dereg_mr(t, mr), 0);
}

static void advised(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	struct ib_sge list[2] = { { .lkey = 1 }, { .lkey = 2 } };
	struct ib_uverbs_attr good[] = {
		TU_HANDLE(UVERBS_ATTR_ADVISE_MR_PD_HANDLE, t->pd),
		TU_VALUE(UVERBS_ATTR_ADVISE_MR_ADVICE, 8, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH),
		TU_VALUE(UVERBS_ATTR_ADVISE_MR_FLAGS, 4, 0),
		TU_VALUE(UVERBS_ATTR_ADVISE_MR_SGE_LIST, sizeof(list), t->user + TU_FREE),
	}, attrs[4];

	KUNIT_ASSERT_EQ(test, copy_to_user(tu_at(t, TU_FREE), list, sizeof(list)), 0);
#define ADVISE() tu_ioctl(t, UVERBS_OBJECT_MR, UVERBS_METHOD_ADVISE_MR, attrs, ARRAY_SIZE(attrs))
	memcpy(attrs, good, sizeof(attrs));
	KUNIT_EXPECT_EQ(test, ADVISE(), 0);
	KUNIT_EXPECT_EQ(test, t->device->posted, 2);
	KUNIT_EXPECT_EQ(test, t->device->wr[0].sge[0].lkey, 2);
	attrs[3].len = sizeof(list) - 4;
	KUNIT_EXPECT_EQ(test, ADVISE(), -EINVAL);
	KUNIT_EXPECT_NOT_NULL(test, strstr(tu_reason(t), "whole number of entries"));
	memcpy(attrs, good, sizeof(attrs));
	attrs[2].data = 2;
	KUNIT_EXPECT_EQ(test, ADVISE(), -EINVAL);
	memcpy(attrs, good, sizeof(attrs));
	attrs[3].data = 8;
	KUNIT_EXPECT_EQ(test, ADVISE(), -EFAULT);
	memcpy(attrs, good, sizeof(attrs));
	t->device->answer = -EOPNOTSUPP;
	KUNIT_EXPECT_EQ(test, ADVISE(), -EOPNOTSUPP);
	t->device->answer = 0;
#undef ADVISE
}

#ifdef CONFIG_FAULT_INJECTION
static u32 starving_mr;

static int rereg_starving(struct uverbs_test *t)
{
	struct ib_uverbs_rereg_mr_resp resp;

	return rereg_mr(t, starving_mr, IB_MR_REREG_TRANS, 0, 0, &resp);
}

static int cq_starving(struct uverbs_test *t)
{
	u32 cq;

	return tu_create_cq(t, -1, &cq);
}

/* Whether the request succeeds or not, the handle names one region. */
static void without_memory(struct kunit *test)
{
	struct uverbs_test *t = test->priv;

	KUNIT_ASSERT_EQ(test, reg_mr(t, 0x1000, 0x1000, 0, &starving_mr), 0);
	t->device->replaces = true;
	KUNIT_EXPECT_GT(test, tu_starve(t, rereg_starving), 2);
	KUNIT_EXPECT_EQ(test, t->device->made.mrs, 1);
	KUNIT_EXPECT_EQ(test, dereg_mr(t, starving_mr), 0);
	KUNIT_EXPECT_GT(test, tu_starve(t, cq_starving), 2);
	KUNIT_EXPECT_EQ(test, t->device->made.cqs, 1 + t->served);
}
#endif

static struct kunit_case cq_mr_cases[] = {
	KUNIT_CASE(polled),
	KUNIT_CASE(poll_refused),
	KUNIT_CASE(armed),
	KUNIT_CASE(resized),
	KUNIT_CASE(moderated),
	KUNIT_CASE(channel_events),
	KUNIT_CASE(registered),
	KUNIT_CASE(reregistered),
	KUNIT_CASE(advised),
#ifdef CONFIG_FAULT_INJECTION
	KUNIT_CASE(without_memory),
#endif
	{}
};

static struct kunit_suite cq_mr_suite = {
	.name = "rdma_uverbs_cq_mr",
	.init = tu_init,
	.exit = tu_exit,
	.test_cases = cq_mr_cases,
};

kunit_test_suite(cq_mr_suite);

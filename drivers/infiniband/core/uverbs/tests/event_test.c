// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: the object that an event names. A program may give a new object the user_handle of a
 * destroyed one, for example because malloc() returned the same memory; unread events of the old
 * object must not be taken for events of the new one.
 */
#include <linux/file.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "test_uverbs.h"

#define SAME	0x77	/* user_handle of all objects, the old ones and the next ones */
#define OTHER	0x88
#define NOTHING	-EAGAIN

/**
 * struct bench - what the objects under test are made from
 * @t: device, file, PD and CQ
 * @xrcd: handle of an XRC domain
 * @channel: descriptor of a completion channel
 */
struct bench {
	struct uverbs_test *t;
	u32 xrcd;
	int channel;
};

static struct bench *bench_of(struct kunit *test)
{
	return ((struct uverbs_test *)test->priv)->device->priv;
}

/**
 * struct source - a kind of object that reports events
 * @name: name of the kind
 * @type: the event it reports
 * @make: makes one; *handle becomes its handle
 * @raise: makes the object that was made last report the event
 * @end: destroys it; *told becomes the number of its events that were read
 * @channel: the event is a completion event, which is read from the channel
 */
struct source {
	const char *name;
	enum ib_event_type type;
	int (*make)(struct bench *b, u32 *handle);
	void (*raise)(struct bench *b, enum ib_event_type type);
	int (*end)(struct bench *b, u32 handle, u32 *told);
	bool channel;
};

/* ---- CQs ---- */

static int make_cq(struct bench *b, u32 *handle)
{
	struct ib_uverbs_create_cq req = {
		.user_handle = SAME, .cqe = 4, .comp_channel = b->channel,
	};
	struct ib_uverbs_create_cq_resp resp = {};
	int ret = tu_write(b->t, IB_USER_VERBS_CMD_CREATE_CQ, &req, sizeof(req), &resp,
			   sizeof(resp));

	*handle = resp.cq_handle;
	return ret;
}

static void raise_cq(struct bench *b, enum ib_event_type type)
{
	struct ib_cq *cq = b->t->device->last_cq;
	struct ib_event event = { .device = cq->device, .element.cq = cq, .event = type };

	cq->event_handler(&event, cq->cq_context);
}

static void complete_cq(struct bench *b, enum ib_event_type type)
{
	struct ib_cq *cq = b->t->device->last_cq;

	cq->comp_handler(cq, cq->cq_context);
}

static int destroy_cq(struct bench *b, u32 handle, struct ib_uverbs_destroy_cq_resp *resp)
{
	struct ib_uverbs_destroy_cq req = { .cq_handle = handle };

	return tu_write(b->t, IB_USER_VERBS_CMD_DESTROY_CQ, &req, sizeof(req), resp,
			sizeof(*resp));
}

static int end_cq(struct bench *b, u32 handle, u32 *told)
{
	struct ib_uverbs_destroy_cq_resp resp = {};
	int ret = destroy_cq(b, handle, &resp);

	*told = resp.async_events_reported;
	return ret;
}

static int end_completed_cq(struct bench *b, u32 handle, u32 *told)
{
	struct ib_uverbs_destroy_cq_resp resp = {};
	int ret = destroy_cq(b, handle, &resp);

	*told = resp.comp_events_reported;
	return ret;
}

/* ---- QPs ---- */

static int create_qp(struct bench *b, struct ib_uverbs_create_qp *req, u32 *handle)
{
	struct ib_uverbs_create_qp_resp resp = {};
	int ret = tu_write(b->t, IB_USER_VERBS_CMD_CREATE_QP, req, sizeof(*req), &resp,
			   sizeof(resp));

	*handle = resp.qp_handle;
	return ret;
}

static int make_qp(struct bench *b, u32 *handle)
{
	struct ib_uverbs_create_qp req = {
		.user_handle = SAME, .pd_handle = b->t->pd, .send_cq_handle = b->t->cq,
		.recv_cq_handle = b->t->cq, .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1,
		.max_recv_sge = 1, .qp_type = IB_QPT_RC,
	};

	return create_qp(b, &req, handle);
}

static int make_target_as(struct bench *b, u64 user_handle, u32 *handle)
{
	struct ib_uverbs_create_qp req = {
		.user_handle = user_handle, .pd_handle = b->xrcd, .qp_type = IB_QPT_XRC_TGT,
	};

	return create_qp(b, &req, handle);
}

static int make_target(struct bench *b, u32 *handle)
{
	return make_target_as(b, SAME, handle);
}

static void raise_qp(struct bench *b, enum ib_event_type type)
{
	struct ib_qp *qp = b->t->device->last_qp;
	struct ib_event event = { .device = qp->device, .element.qp = qp, .event = type };

	qp->event_handler(&event, qp->qp_context);
}

static int end_qp(struct bench *b, u32 handle, u32 *told)
{
	struct ib_uverbs_destroy_qp req = { .qp_handle = handle };
	struct ib_uverbs_destroy_qp_resp resp = {};
	int ret = tu_write(b->t, IB_USER_VERBS_CMD_DESTROY_QP, &req, sizeof(req), &resp,
			   sizeof(resp));

	*told = resp.events_reported;
	return ret;
}

/* ---- SRQs ---- */

static int create_srq(struct bench *b, enum ib_srq_type type, u32 *handle)
{
	struct ib_uverbs_create_xsrq req = {
		.user_handle = SAME, .srq_type = type, .pd_handle = b->t->pd,
		.cq_handle = b->t->cq, .xrcd_handle = b->xrcd, .max_wr = 1, .max_sge = 1,
	};
	struct ib_uverbs_create_srq_resp resp = {};
	int ret = tu_write(b->t, IB_USER_VERBS_CMD_CREATE_XSRQ, &req, sizeof(req), &resp,
			   sizeof(resp));

	*handle = resp.srq_handle;
	return ret;
}

static int make_srq(struct bench *b, u32 *handle)
{
	return create_srq(b, IB_SRQT_BASIC, handle);
}

static int make_xrc_srq(struct bench *b, u32 *handle)
{
	return create_srq(b, IB_SRQT_XRC, handle);
}

static void raise_srq(struct bench *b, enum ib_event_type type)
{
	struct ib_srq *srq = b->t->device->last_srq;
	struct ib_event event = { .device = srq->device, .element.srq = srq, .event = type };

	srq->event_handler(&event, srq->srq_context);
}

static int end_srq(struct bench *b, u32 handle, u32 *told)
{
	return tu_destroy_srq(b->t, handle, told);
}

/* ---- work queues ---- */

static int make_wq(struct bench *b, u32 *handle)
{
	struct ib_uverbs_ex_create_wq req = {
		.user_handle = SAME, .pd_handle = b->t->pd, .cq_handle = b->t->cq, .max_wr = 4,
		.max_sge = 1,
	};
	struct ib_uverbs_ex_create_wq_resp resp = {};
	int ret = tu_write_ex(b->t, IB_USER_VERBS_EX_CMD_CREATE_WQ, &req, sizeof(req), &resp,
			      sizeof(resp));

	*handle = resp.wq_handle;
	return ret;
}

static void raise_wq(struct bench *b, enum ib_event_type type)
{
	struct ib_wq *wq = b->t->device->asked.wq;
	struct ib_event event = { .device = wq->device, .element.wq = wq, .event = type };

	wq->event_handler(&event, wq->wq_context);
}

static int end_wq(struct bench *b, u32 handle, u32 *told)
{
	struct ib_uverbs_ex_destroy_wq req = { .wq_handle = handle };
	struct ib_uverbs_ex_destroy_wq_resp resp = {};
	int ret = tu_write_ex(b->t, IB_USER_VERBS_EX_CMD_DESTROY_WQ, &req, sizeof(req), &resp,
			      sizeof(resp));

	*told = resp.events_reported;
	return ret;
}

/* ---- the cases ---- */

static const struct source sources[] = {
	{ "CQ, completion", 0, make_cq, complete_cq, end_completed_cq, true },
	{ "CQ, error", IB_EVENT_CQ_ERR, make_cq, raise_cq, end_cq },
	{ "QP", IB_EVENT_QP_FATAL, make_qp, raise_qp, end_qp },
	{ "XRC target", IB_EVENT_QP_LAST_WQE_REACHED, make_target, raise_qp, end_qp },
	{ "SRQ", IB_EVENT_SRQ_LIMIT_REACHED, make_srq, raise_srq, end_srq },
	{ "XRC SRQ", IB_EVENT_SRQ_ERR, make_xrc_srq, raise_srq, end_srq },
	{ "WQ", IB_EVENT_WQ_FATAL, make_wq, raise_wq, end_wq },
};

static void source_name(const struct source *source, char *name)
{
	strscpy(name, source->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(source, sources, source_name);

/* Reads @len bytes from a file into @buf. Returns 0 or a negative errno. */
static int read_fd(struct bench *b, int fd, void *buf, size_t len)
{
	struct file *filp = fget(fd);
	loff_t pos = 0;
	ssize_t got;

	if (!filp)
		return -EBADF;
	filp->f_flags |= O_NONBLOCK;
	got = filp->f_op->read(filp, tu_at(b->t, TU_FREE), len, &pos);
	fput(filp);
	if (got < 0)
		return got;
	return copy_from_user(buf, tu_at(b->t, TU_FREE), len) ? -EFAULT : 0;
}

/* Expects an event of @source that names @element, or the error @ret if there is none. */
static void expect_read(struct kunit *test, const struct source *source, int ret, u64 element)
{
	struct ib_uverbs_async_event_desc desc = {};
	struct ib_uverbs_comp_event_desc comp = {};
	struct bench *b = bench_of(test);

	if (source->channel) {
		KUNIT_EXPECT_EQ(test, read_fd(b, b->channel, &comp, sizeof(comp)), ret);
		KUNIT_EXPECT_EQ(test, comp.cq_handle, element);
		return;
	}
	KUNIT_EXPECT_EQ(test, read_fd(b, b->t->async_fd, &desc, sizeof(desc)), ret);
	KUNIT_EXPECT_EQ(test, desc.element, element);
	if (!ret)
		KUNIT_EXPECT_EQ(test, desc.event_type, source->type);
}

/* One of three events of the old object is read; the new object gets only its own events. */
static void next_gets_its_own(struct kunit *test)
{
	const struct source *source = test->param_value;
	struct bench *b = bench_of(test);
	u32 old, next, told;

	KUNIT_ASSERT_EQ(test, source->make(b, &old), 0);
	expect_read(test, source, NOTHING, 0);
	source->raise(b, source->type);
	source->raise(b, source->type);
	source->raise(b, source->type);
	expect_read(test, source, 0, SAME);
	KUNIT_EXPECT_EQ(test, source->end(b, old, &told), 0);
	KUNIT_EXPECT_EQ(test, told, 1);

	KUNIT_ASSERT_EQ(test, source->make(b, &next), 0);
	expect_read(test, source, NOTHING, 0);
	source->raise(b, source->type);
	expect_read(test, source, 0, SAME);
	expect_read(test, source, NOTHING, 0);
	KUNIT_EXPECT_EQ(test, source->end(b, next, &told), 0);
	KUNIT_EXPECT_EQ(test, told, 1);
}

/* An object that the driver refuses to destroy keeps its events. */
static void kept_object_keeps_them(struct kunit *test)
{
	const struct source *source = test->param_value;
	struct bench *b = bench_of(test);
	u32 handle, told;

	KUNIT_ASSERT_EQ(test, source->make(b, &handle), 0);
	source->raise(b, source->type);
	b->t->device->destroy = -EIO;
	KUNIT_EXPECT_EQ(test, source->end(b, handle, &told), -EIO);
	b->t->device->destroy = 0;
	expect_read(test, source, 0, SAME);
	source->raise(b, source->type);
	expect_read(test, source, 0, SAME);
	KUNIT_EXPECT_EQ(test, source->end(b, handle, &told), 0);
	KUNIT_EXPECT_EQ(test, told, 2);
}

/* A process that opens a target QP gets no events of an opener that closed it before. */
static void opened_target(struct kunit *test)
{
	const struct source *source = &sources[3];
	struct bench *b = bench_of(test);
	struct ib_uverbs_open_qp req = { .user_handle = SAME, .qp_type = IB_QPT_XRC_TGT };
	struct ib_uverbs_create_qp_resp resp = {};
	u32 made, told;

	KUNIT_ASSERT_EQ(test, make_target_as(b, OTHER, &made), 0);
	req.pd_handle = b->xrcd;
	req.qpn = b->t->device->last_qp->qp_num;
	KUNIT_ASSERT_EQ(test, tu_write(b->t, IB_USER_VERBS_CMD_OPEN_QP, &req, sizeof(req), &resp,
				       sizeof(resp)), 0);
	raise_qp(b, source->type);
	KUNIT_EXPECT_EQ(test, end_qp(b, resp.qp_handle, &told), 0);
	KUNIT_EXPECT_EQ(test, told, 0);
	KUNIT_ASSERT_EQ(test, tu_write(b->t, IB_USER_VERBS_CMD_OPEN_QP, &req, sizeof(req), &resp,
				       sizeof(resp)), 0);
	expect_read(test, source, 0, OTHER);
	expect_read(test, source, NOTHING, 0);
	raise_qp(b, source->type);
	expect_read(test, source, 0, OTHER);
	expect_read(test, source, 0, SAME);
	expect_read(test, source, NOTHING, 0);
	KUNIT_EXPECT_EQ(test, end_qp(b, resp.qp_handle, &told), 0);
	KUNIT_EXPECT_EQ(test, told, 1);
	KUNIT_EXPECT_EQ(test, end_qp(b, made, &told), 0);
	KUNIT_EXPECT_EQ(test, told, 2);
}

static int new_async_file(struct bench *b)
{
	struct ib_uverbs_attr attrs[] = {
		TU_HANDLE(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, 0),
	};
	int ret = tu_ioctl(b->t, UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC,
			   attrs, ARRAY_SIZE(attrs));

	return ret ?: (int)attrs[0].data_s64;
}

static int make_cq_for(struct bench *b, int async, u32 *handle)
{
	u64 resp = b->t->user + TU_RESPONSE;
	struct ib_uverbs_attr attrs[] = {
		TU_HANDLE(UVERBS_ATTR_CREATE_CQ_HANDLE, 0),
		TU_VALUE(UVERBS_ATTR_CREATE_CQ_CQE, 4, 4),
		TU_VALUE(UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 8, SAME),
		TU_VALUE(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 4, 0),
		TU_VALUE(UVERBS_ATTR_CREATE_CQ_RESP_CQE, 4, resp),
		TU_HANDLE(UVERBS_ATTR_CREATE_CQ_EVENT_FD, async),
	};
	int ret = tu_ioctl(b->t, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, attrs,
			   ARRAY_SIZE(attrs));

	*handle = attrs[0].data_s64;
	return ret;
}

/*
 * An object stays with the event file that it was made for: neither the next file of the same
 * descriptor nor the default one gets its events when that file is closed.
 */
static void next_async_file(struct kunit *test)
{
	struct ib_uverbs_async_event_desc desc;
	struct bench *b = bench_of(test);
	u32 old, next, told;
	int fd, again;

	fd = new_async_file(b);
	KUNIT_ASSERT_GE(test, fd, 0);
	KUNIT_ASSERT_EQ(test, make_cq_for(b, fd, &old), 0);
	raise_cq(b, IB_EVENT_CQ_ERR);
	KUNIT_EXPECT_EQ(test, read_fd(b, fd, &desc, sizeof(desc)), 0);
	KUNIT_EXPECT_EQ(test, desc.element, SAME);
	raise_cq(b, IB_EVENT_CQ_ERR);
	tu_close_fd(fd);
	again = new_async_file(b);
	KUNIT_ASSERT_EQ(test, again, fd);
	KUNIT_EXPECT_EQ(test, read_fd(b, again, &desc, sizeof(desc)), NOTHING);
	raise_cq(b, IB_EVENT_CQ_ERR);
	KUNIT_EXPECT_EQ(test, read_fd(b, again, &desc, sizeof(desc)), NOTHING);
	KUNIT_EXPECT_EQ(test, read_fd(b, b->t->async_fd, &desc, sizeof(desc)), NOTHING);
	KUNIT_ASSERT_EQ(test, make_cq_for(b, again, &next), 0);
	KUNIT_EXPECT_EQ(test, end_cq(b, old, &told), 0);
	KUNIT_EXPECT_EQ(test, told, 1);
	KUNIT_EXPECT_EQ(test, read_fd(b, again, &desc, sizeof(desc)), NOTHING);
	raise_cq(b, IB_EVENT_CQ_ERR);
	KUNIT_EXPECT_EQ(test, read_fd(b, again, &desc, sizeof(desc)), 0);
	KUNIT_EXPECT_EQ(test, read_fd(b, b->t->async_fd, &desc, sizeof(desc)), NOTHING);
	KUNIT_EXPECT_EQ(test, end_cq(b, next, &told), 0);
	KUNIT_EXPECT_EQ(test, told, 1);
	tu_close_fd(again);
}

/* A program that arms a CQ and never reads may get more than 2^32 unread events. */
static void unread_for_long(struct kunit *test)
{
	struct bench *b = bench_of(test);
	struct ib_uverbs_comp_event_desc desc;
	struct ib_ucq_object *ucq;
	u32 handle, told;

	KUNIT_ASSERT_EQ(test, make_cq(b, &handle), 0);
	ucq = b->t->device->last_cq->uobject;
	complete_cq(b, 0);
	ucq->comp_pending = U32_MAX;
	complete_cq(b, 0);
	KUNIT_EXPECT_EQ(test, ucq->comp_pending, (u64)U32_MAX + 1);
	complete_cq(b, 0);
	KUNIT_EXPECT_TRUE(test, list_is_singular(&ucq->channel->queue.list));
	KUNIT_EXPECT_EQ(test, read_fd(b, b->channel, &desc, sizeof(desc)), 0);
	KUNIT_EXPECT_EQ(test, desc.cq_handle, SAME);
	KUNIT_EXPECT_TRUE(test, list_is_singular(&ucq->channel->queue.list));
	KUNIT_EXPECT_EQ(test, end_completed_cq(b, handle, &told), 0);
	KUNIT_EXPECT_EQ(test, told, 1);
	KUNIT_EXPECT_EQ(test, read_fd(b, b->channel, &desc, sizeof(desc)), NOTHING);
}

/* Reads all events of the asynchronous event file, and returns their number. */
static unsigned int read_all(struct bench *b)
{
	struct ib_uverbs_async_event_desc desc;
	unsigned int n = 0;

	while (!read_fd(b, b->t->async_fd, &desc, sizeof(desc)))
		n++;
	return n;
}

/* fdinfo of the asynchronous file says how many events it has lost. */
static void expect_dropped(struct bench *b, const char *says)
{
	struct kunit *test = b->t->test;
	struct file *filp = fget(b->t->async_fd);
	struct seq_file seq = { .size = 128 };

	KUNIT_ASSERT_NOT_NULL(test, filp);
	seq.buf = kunit_kzalloc(test, seq.size, GFP_KERNEL);
	if (seq.buf && filp->f_op->show_fdinfo)
		filp->f_op->show_fdinfo(&seq, filp);
	fput(filp);
	KUNIT_ASSERT_NOT_NULL(test, seq.buf);
	KUNIT_EXPECT_STREQ(test, seq.buf, says);
}

/*
 * The number of unread events of an object is limited, as a program may cause any number. The limit
 * holds per object, and reading makes room again. DEVICE_FATAL is always delivered. Events beyond
 * the limit are counted.
 */
static void unread_for_ever(struct kunit *test)
{
	struct bench *b = bench_of(test);
	struct ib_event device = {
		.device = &b->t->device->ib, .event = IB_EVENT_CLIENT_REREGISTER,
	};
	const int events = 1000;
	u32 cq, srq, told;

	KUNIT_ASSERT_EQ(test, make_cq(b, &cq), 0);
	KUNIT_ASSERT_EQ(test, make_srq(b, &srq), 0);
	for (int i = 0; i < 256; i++)
		raise_srq(b, IB_EVENT_SRQ_LIMIT_REACHED);
	expect_dropped(b, "uverbs-dropped:\t0\n");
	for (int i = 256; i < events; i++)
		raise_srq(b, IB_EVENT_SRQ_LIMIT_REACHED);
	expect_dropped(b, "uverbs-dropped:\t744\n");
	raise_cq(b, IB_EVENT_CQ_ERR);
	KUNIT_EXPECT_EQ(test, read_all(b), 256 + 1);
	raise_srq(b, IB_EVENT_SRQ_LIMIT_REACHED);
	KUNIT_EXPECT_EQ(test, read_all(b), 1);
	KUNIT_EXPECT_EQ(test, end_srq(b, srq, &told), 0);
	KUNIT_EXPECT_EQ(test, told, 257);
	KUNIT_EXPECT_EQ(test, end_cq(b, cq, &told), 0);
	expect_dropped(b, "uverbs-dropped:\t744\n");

	for (int i = 0; i < events; i++)
		ib_dispatch_event(&device);
	flush_workqueue(ib_wq);
	KUNIT_EXPECT_EQ(test, read_all(b), 256);
	expect_dropped(b, "uverbs-dropped:\t1488\n");
	for (int i = 0; i < events; i++)
		ib_dispatch_event(&device);
	flush_workqueue(ib_wq);
	tu_remove_device(b->t);
	KUNIT_EXPECT_EQ(test, read_all(b), 256 + 1);
	expect_dropped(b, "uverbs-dropped:\t2232\n");
	tu_close_fd(b->channel);
}

static int event_test_init(struct kunit *test)
{
	struct ib_uverbs_create_comp_channel channel = {};
	struct ib_uverbs_create_comp_channel_resp channel_resp = {};
	struct ib_uverbs_open_xrcd domain = { .fd = -1 };
	struct ib_uverbs_open_xrcd_resp domain_resp = {};
	struct bench *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, b);
	KUNIT_ASSERT_EQ(test, tu_init(test), 0);
	b->t = test->priv;
	KUNIT_ASSERT_EQ(test, tu_write(b->t, IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, &channel,
				       sizeof(channel), &channel_resp, sizeof(channel_resp)), 0);
	KUNIT_ASSERT_EQ(test, tu_write(b->t, IB_USER_VERBS_CMD_OPEN_XRCD, &domain, sizeof(domain),
				       &domain_resp, sizeof(domain_resp)), 0);
	b->channel = channel_resp.fd;
	b->xrcd = domain_resp.xrcd_handle;
	b->t->device->priv = b;
	return 0;
}

static void event_test_exit(struct kunit *test)
{
	struct uverbs_test *t = test->priv;

	if (t && t->device && t->device->priv)
		tu_close_fd(bench_of(test)->channel);
	tu_exit(test);
}

static struct kunit_case event_cases[] = {
	KUNIT_CASE_PARAM(next_gets_its_own, source_gen_params),
	KUNIT_CASE_PARAM(kept_object_keeps_them, source_gen_params),
	KUNIT_CASE(opened_target),
	KUNIT_CASE(next_async_file),
	KUNIT_CASE(unread_for_long),
	KUNIT_CASE(unread_for_ever),
	{}
};

static struct kunit_suite event_suite = {
	.name = "rdma_uverbs_event",
	.init = event_test_init,
	.exit = event_test_exit,
	.test_cases = event_cases,
};

kunit_test_suite(event_suite);

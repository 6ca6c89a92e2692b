// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: shared receive queues of user space: creation, modification, use by QPs, events, and
 * destruction by request, by closing the file and by removal of the device.
 */
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "test_uverbs.h"

static void made_by_write(struct kunit *test)
{
	struct ib_uverbs_create_srq req = {
		.user_handle = 1, .max_wr = 100, .max_sge = 3, .srq_limit = 7,
	};
	struct ib_uverbs_create_xsrq xreq = {
		.user_handle = 2, .srq_type = IB_SRQT_BASIC, .max_wr = 5, .max_sge = 1,
	};
	struct uverbs_test *t = test->priv;
	struct ib_uverbs_create_srq_resp resp;
	u32 events;

	req.pd_handle = t->pd;
	KUNIT_EXPECT_EQ(test, tu_write(t, IB_USER_VERBS_CMD_CREATE_SRQ, &req, sizeof(req), &resp,
				       sizeof(resp)), 0);
	/* The driver gets the wanted size, and its answer is returned. */
	KUNIT_EXPECT_EQ(test, t->device->srq_attr.max_wr, 100);
	KUNIT_EXPECT_EQ(test, t->device->srq_attr.srq_limit, 7);
	KUNIT_EXPECT_EQ(test, resp.max_wr, 128);
	KUNIT_EXPECT_EQ(test, resp.max_sge, 3);
	KUNIT_EXPECT_EQ(test, resp.srqn, 0);
	KUNIT_EXPECT_EQ(test, tu_destroy_srq(t, resp.srq_handle, &events), 0);

	xreq.pd_handle = t->pd;
	KUNIT_EXPECT_EQ(test, tu_write(t, IB_USER_VERBS_CMD_CREATE_XSRQ, &xreq, sizeof(xreq),
				       &resp, sizeof(resp)), 0);
	KUNIT_EXPECT_EQ(test, resp.max_wr, 8);
	KUNIT_EXPECT_EQ(test, t->device->last_srq->srq_type, IB_SRQT_BASIC);
	KUNIT_EXPECT_EQ(test, tu_destroy_srq(t, resp.srq_handle, &events), 0);
	KUNIT_EXPECT_EQ(test, t->device->made.srqs, 0);
}

/* SRQ_CREATE, with one more attribute unless @extra is 0. */
static int create_by_ioctl(struct uverbs_test *t, u64 type, u16 extra, s64 extra_data, u16 len,
			   s64 *handle)
{
	struct ib_uverbs_attr attrs[] = {
		TU_HANDLE(UVERBS_ATTR_CREATE_SRQ_HANDLE, 0),
		TU_HANDLE(UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, t->pd),
		TU_VALUE(UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, 8, 0x55),
		TU_VALUE(UVERBS_ATTR_CREATE_SRQ_MAX_WR, 4, 9),
		TU_VALUE(UVERBS_ATTR_CREATE_SRQ_MAX_SGE, 4, 2),
		TU_VALUE(UVERBS_ATTR_CREATE_SRQ_LIMIT, 4, 3),
		TU_VALUE(UVERBS_ATTR_CREATE_SRQ_TYPE, 8, type),
		TU_VALUE(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, 4, t->user + TU_FREE),
		TU_VALUE(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, 4, t->user + TU_FREE + 4),
		TU_VALUE(extra, len, extra_data),
	};
	int ret = tu_ioctl(t, UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE, attrs,
			   ARRAY_SIZE(attrs) - !extra);

	*handle = attrs[0].data_s64;
	return ret;
}

static void made_by_ioctl(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	struct ib_uverbs_attr destroy[] = {
		TU_HANDLE(UVERBS_ATTR_DESTROY_SRQ_HANDLE, 0),
		TU_VALUE(UVERBS_ATTR_DESTROY_SRQ_RESP, 4, t->user + TU_FREE),
	};
	u32 resp[3];
	s64 handle;

	/* Only an XRC SRQ returns a number. */
	KUNIT_ASSERT_EQ(test, put_user(0x77, (u32 __user *)tu_at(t, TU_FREE + 8)), 0);
	KUNIT_EXPECT_EQ(test, create_by_ioctl(t, IB_UVERBS_SRQT_BASIC,
					      UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM,
					      t->user + TU_FREE + 8, 4, &handle), 0);
	KUNIT_ASSERT_EQ(test, copy_from_user(resp, tu_at(t, TU_FREE), sizeof(resp)), 0);
	KUNIT_EXPECT_EQ(test, resp[0], 16);
	KUNIT_EXPECT_EQ(test, resp[1], 2);
	KUNIT_EXPECT_EQ(test, resp[2], 0x77);
	KUNIT_EXPECT_EQ(test, t->device->srq_attr.srq_limit, 3);

	destroy[0].data_s64 = handle;
	KUNIT_EXPECT_EQ(test, tu_ioctl(t, UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY, destroy,
				       ARRAY_SIZE(destroy)), 0);
	KUNIT_ASSERT_EQ(test, copy_from_user(resp, tu_at(t, TU_FREE), 4), 0);
	KUNIT_EXPECT_EQ(test, resp[0], 0);
	KUNIT_EXPECT_EQ(test, t->device->made.srqs, 0);
}

static void expect_refused(struct uverbs_test *t, int ret, int err, const char *reason)
{
	KUNIT_EXPECT_EQ(t->test, ret, err);
	KUNIT_EXPECT_NOT_NULL_MSG(t->test, strstr(tu_reason(t), reason), "'%s' has no '%s'",
				  tu_reason(t), reason);
	KUNIT_EXPECT_EQ(t->test, t->device->made.srqs, 0);
}

static int create_x(struct uverbs_test *t, u32 type, u32 pd, u32 cq)
{
	struct ib_uverbs_create_xsrq req = {
		.srq_type = type, .pd_handle = pd, .cq_handle = cq, .max_wr = 1, .max_sge = 1,
	};
	struct ib_uverbs_create_srq_resp resp;

	return tu_write(t, IB_USER_VERBS_CMD_CREATE_XSRQ, &req, sizeof(req), &resp, sizeof(resp));
}

static void refused(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	s64 handle;

	/* Handle 0 names no domain. */
	expect_refused(t, create_x(t, IB_SRQT_XRC, t->pd, t->cq), -EINVAL, "xrcd_handle");
	expect_refused(t, create_x(t, IB_SRQT_TM, t->pd, 4711), -ENOENT, "cq_handle 4711");
	expect_refused(t, create_x(t, IB_SRQT_BASIC, 4712, 0), -ENOENT, "pd_handle 4712");
	expect_refused(t, create_x(t, IB_SRQT_BASIC, t->cq, 0), -EINVAL, "right type");
	t->device->answer = -ENOSPC;
	expect_refused(t, create_x(t, IB_SRQT_BASIC, t->pd, 0), -ENOSPC, "srq_type 0, 1 WRs");
	t->device->answer = 0;

	expect_refused(t, create_by_ioctl(t, 3, 0, 0, 0, &handle), -EINVAL, "srq_type 3");
	expect_refused(t, create_by_ioctl(t, 1ULL << 32, 0, 0, 0, &handle), -EINVAL, "srq_type");
	expect_refused(t, create_by_ioctl(t, IB_UVERBS_SRQT_XRC, 0, 0, 0, &handle), -ENOENT,
		       "cq_handle is missing");
	expect_refused(t, create_by_ioctl(t, IB_UVERBS_SRQT_XRC, UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE,
					  t->cq, 0, &handle), -ENOENT, "xrcd_handle is missing");
	expect_refused(t, create_by_ioctl(t, IB_UVERBS_SRQT_TM, UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE,
					  t->cq, 0, &handle), -ENOENT, "max_num_tags is missing");
	expect_refused(t, create_by_ioctl(t, IB_UVERBS_SRQT_BASIC,
					  UVERBS_ATTR_CREATE_SRQ_EVENT_FD, -1, 0, &handle), -EBADF,
		       "event_fd -1");
}

static void modified_and_queried(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	struct {
		struct ib_uverbs_modify_srq req;
		u64 driver[2];
	} modify = { .req = { .attr_mask = IB_SRQ_MAX_WR | IB_SRQ_LIMIT, .max_wr = 50,
			      .srq_limit = 20 } };
	struct ib_uverbs_query_srq query = {};
	struct ib_uverbs_query_srq_resp resp;
	u32 srq, events;

	KUNIT_ASSERT_EQ(test, tu_create_srq(t, 8, &srq), 0);
	modify.req.srq_handle = srq;
	KUNIT_EXPECT_EQ(test, tu_write(t, IB_USER_VERBS_CMD_MODIFY_SRQ, &modify, sizeof(modify),
				       NULL, 0), 0);
	KUNIT_EXPECT_EQ(test, t->device->srq_mask, IB_SRQ_MAX_WR | IB_SRQ_LIMIT);
	KUNIT_EXPECT_EQ(test, t->device->srq_attr.max_wr, 50);
	KUNIT_EXPECT_EQ(test, t->device->srq_attr.srq_limit, 20);
	KUNIT_EXPECT_EQ(test, t->device->udata_in, sizeof(modify.driver));

	query.srq_handle = srq;
	KUNIT_EXPECT_EQ(test, tu_write(t, IB_USER_VERBS_CMD_QUERY_SRQ, &query, sizeof(query), &resp,
				       sizeof(resp)), 0);
	KUNIT_EXPECT_EQ(test, resp.max_wr, 50);
	KUNIT_EXPECT_EQ(test, resp.srq_limit, 20);

	t->device->answer = -EINVAL;
	KUNIT_EXPECT_EQ(test, tu_write(t, IB_USER_VERBS_CMD_MODIFY_SRQ, &modify, sizeof(modify),
				       NULL, 0), -EINVAL);
	KUNIT_EXPECT_NOT_NULL(test, strstr(tu_reason(t), "max_wr 50, srq_limit 20"));
	KUNIT_EXPECT_EQ(test, tu_write(t, IB_USER_VERBS_CMD_QUERY_SRQ, &query, sizeof(query), &resp,
				       sizeof(resp)), -EINVAL);
	t->device->answer = 0;
	modify.req.srq_handle = t->cq;
	KUNIT_EXPECT_EQ(test, tu_write(t, IB_USER_VERBS_CMD_MODIFY_SRQ, &modify, sizeof(modify),
				       NULL, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, tu_destroy_srq(t, srq, &events), 0);
	KUNIT_EXPECT_EQ(test, tu_destroy_srq(t, srq, &events), -ENOENT);
}

static void used_by_qps(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	u32 srq, qp, events;

	KUNIT_ASSERT_EQ(test, tu_create_srq(t, 8, &srq), 0);
	KUNIT_ASSERT_EQ(test, tu_create_qp(t, IB_QPT_RC, srq, &qp), 0);
	KUNIT_EXPECT_PTR_EQ(test, t->device->last_qp->srq, t->device->last_srq);
	KUNIT_EXPECT_EQ(test, tu_destroy_srq(t, srq, &events), -EBUSY);
	KUNIT_EXPECT_NOT_NULL(test, strstr(tu_reason(t), "is used by 1 other object"));
	KUNIT_EXPECT_EQ(test, tu_destroy_qp(t, qp), 0);
	/* If the driver refuses, the SRQ stays as it was. */
	t->device->destroy = -EIO;
	KUNIT_EXPECT_EQ(test, tu_destroy_srq(t, srq, &events), -EIO);
	t->device->destroy = 0;
	KUNIT_EXPECT_EQ(test, tu_destroy_srq(t, srq, &events), 0);
	KUNIT_EXPECT_EQ(test, tu_create_qp(t, IB_QPT_RC, 4711, &qp), -ENOENT);
	KUNIT_EXPECT_NOT_NULL(test, strstr(tu_reason(t), "srq_handle 4711"));
}

/* ---- events ---- */

static void raise(struct ib_srq *srq, enum ib_event_type type)
{
	struct ib_event event = { .device = srq->device, .element.srq = srq, .event = type };

	srq->event_handler(&event, srq->srq_context);
}

/* DESTROY_SRQ returns the number of events read; unread ones are discarded. */
static void events(struct kunit *test)
{
	struct ib_uverbs_async_event_desc desc;
	struct uverbs_test *t = test->priv;
	u32 srq, events;

	KUNIT_ASSERT_EQ(test, tu_create_srq(t, 8, &srq), 0);
	KUNIT_EXPECT_EQ(test, tu_read_event(t, &desc), -EAGAIN);
	raise(t->device->last_srq, IB_EVENT_SRQ_LIMIT_REACHED);
	raise(t->device->last_srq, IB_EVENT_SRQ_ERR);
	raise(t->device->last_srq, IB_EVENT_SRQ_LIMIT_REACHED);
	KUNIT_EXPECT_EQ(test, tu_read_event(t, &desc), 0);
	KUNIT_EXPECT_EQ(test, desc.event_type, IB_EVENT_SRQ_LIMIT_REACHED);
	KUNIT_EXPECT_EQ(test, desc.element, 0x55);
	KUNIT_EXPECT_EQ(test, tu_read_event(t, &desc), 0);
	KUNIT_EXPECT_EQ(test, desc.event_type, IB_EVENT_SRQ_ERR);
	KUNIT_EXPECT_EQ(test, tu_destroy_srq(t, srq, &events), 0);
	KUNIT_EXPECT_EQ(test, events, 2);
	KUNIT_EXPECT_EQ(test, tu_read_event(t, &desc), -EAGAIN);
}

/* ---- ends ---- */

static void closed_with_file(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	u32 srq, qp;

	KUNIT_ASSERT_EQ(test, tu_create_srq(t, 8, &srq), 0);
	KUNIT_ASSERT_EQ(test, tu_create_qp(t, IB_QPT_UD, srq, &qp), 0);
	raise(t->device->last_srq, IB_EVENT_SRQ_LIMIT_REACHED);
	tu_close(t);
	KUNIT_EXPECT_EQ(test, t->device->made.srqs + t->device->made.qps, 0);
}

/* The handles stay without objects, and return the event counts that libraries wait for. */
static void gone_with_device(struct kunit *test)
{
	struct ib_uverbs_async_event_desc desc;
	struct uverbs_test *t = test->priv;
	u32 srq, other, events;

	KUNIT_ASSERT_EQ(test, tu_create_srq(t, 8, &srq), 0);
	raise(t->device->last_srq, IB_EVENT_SRQ_LIMIT_REACHED);
	KUNIT_EXPECT_EQ(test, tu_read_event(t, &desc), 0);
	tu_remove_device(t);
	KUNIT_EXPECT_EQ(test, tu_read_event(t, &desc), 0);
	KUNIT_EXPECT_EQ(test, desc.event_type, IB_EVENT_DEVICE_FATAL);
	KUNIT_EXPECT_EQ(test, tu_read_event(t, &desc), -EIO);
	KUNIT_EXPECT_EQ(test, tu_create_srq(t, 8, &other), -EIO);
	KUNIT_EXPECT_EQ(test, tu_destroy_srq(t, srq, &events), 0);
	KUNIT_EXPECT_EQ(test, events, 1);
}

static void device_says(struct uverbs_test *t, enum ib_event_type type)
{
	struct ib_event event = { .device = &t->device->ib, .event = type };

	ib_dispatch_event(&event);
	flush_workqueue(ib_wq);
}

/* DEVICE_FATAL is delivered once, whether or not it was read before the removal. */
static void fatal_once(struct kunit *test)
{
	struct ib_uverbs_async_event_desc desc;
	struct uverbs_test *t = test->priv;

	device_says(t, IB_EVENT_DEVICE_FATAL);
	KUNIT_EXPECT_EQ(test, tu_read_event(t, &desc), 0);
	KUNIT_EXPECT_EQ(test, desc.event_type, IB_EVENT_DEVICE_FATAL);
	KUNIT_EXPECT_EQ(test, tu_read_event(t, &desc), -EAGAIN);
	device_says(t, IB_EVENT_PORT_ACTIVE);
	device_says(t, IB_EVENT_DEVICE_FATAL);
	tu_remove_device(t);
	KUNIT_EXPECT_EQ(test, tu_read_event(t, &desc), 0);
	KUNIT_EXPECT_EQ(test, desc.event_type, IB_EVENT_PORT_ACTIVE);
	KUNIT_EXPECT_EQ(test, tu_read_event(t, &desc), 0);
	KUNIT_EXPECT_EQ(test, desc.event_type, IB_EVENT_DEVICE_FATAL);
	KUNIT_EXPECT_EQ(test, tu_read_event(t, &desc), -EIO);
}

/* If a device recovers from an error and is removed later, DEVICE_FATAL is reported again. */
static void fatal_again(struct kunit *test)
{
	struct ib_uverbs_async_event_desc desc;
	struct uverbs_test *t = test->priv;

	device_says(t, IB_EVENT_DEVICE_FATAL);
	device_says(t, IB_EVENT_PORT_ACTIVE);
	tu_remove_device(t);
	KUNIT_EXPECT_EQ(test, tu_read_event(t, &desc), 0);
	KUNIT_EXPECT_EQ(test, desc.event_type, IB_EVENT_DEVICE_FATAL);
	KUNIT_EXPECT_EQ(test, tu_read_event(t, &desc), 0);
	KUNIT_EXPECT_EQ(test, desc.event_type, IB_EVENT_PORT_ACTIVE);
	KUNIT_EXPECT_EQ(test, tu_read_event(t, &desc), 0);
	KUNIT_EXPECT_EQ(test, desc.event_type, IB_EVENT_DEVICE_FATAL);
	KUNIT_EXPECT_EQ(test, tu_read_event(t, &desc), -EIO);
}

#ifdef CONFIG_FAULT_INJECTION
static int create_starving(struct uverbs_test *t)
{
	u32 srq;

	return tu_create_srq(t, 8, &srq);
}

static int create_starving_ioctl(struct uverbs_test *t)
{
	s64 handle;

	return create_by_ioctl(t, IB_UVERBS_SRQT_BASIC, 0, 0, 0, &handle);
}

/* Requests that fail are undone: the driver has as many SRQs as requests succeeded. */
static void without_memory(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	unsigned int served;

	KUNIT_EXPECT_GT(test, tu_starve(t, create_starving), 2);
	KUNIT_EXPECT_EQ(test, t->device->made.srqs, t->served);
	served = t->served;
	KUNIT_EXPECT_GT(test, tu_starve(t, create_starving_ioctl), 2);
	KUNIT_EXPECT_EQ(test, t->device->made.srqs, served + t->served);
}
#endif

static struct kunit_case srq_cases[] = {
	KUNIT_CASE(made_by_write),
	KUNIT_CASE(made_by_ioctl),
	KUNIT_CASE(refused),
	KUNIT_CASE(modified_and_queried),
	KUNIT_CASE(used_by_qps),
	KUNIT_CASE(events),
	KUNIT_CASE(closed_with_file),
	KUNIT_CASE(gone_with_device),
	KUNIT_CASE(fatal_once),
	KUNIT_CASE(fatal_again),
#ifdef CONFIG_FAULT_INJECTION
	KUNIT_CASE(without_memory),
#endif
	{}
};

static struct kunit_suite srq_suite = {
	.name = "rdma_uverbs_srq",
	.init = tu_init,
	.exit = tu_exit,
	.test_cases = srq_cases,
};

kunit_test_suite(srq_suite);

MODULE_DESCRIPTION("KUnit tests of user verbs: their commands");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);

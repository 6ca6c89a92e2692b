// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: work queues of user space and their indirection tables: creation in both forms,
 * modification, use by QPs, events, and destruction by request, by closing the file and by removal
 * of the device.
 */
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "test_uverbs.h"

static int create_wq(struct uverbs_test *t, struct ib_uverbs_ex_create_wq *req,
		     struct ib_uverbs_ex_create_wq_resp *resp)
{
	return tu_write_ex(t, IB_USER_VERBS_EX_CMD_CREATE_WQ, req, sizeof(*req), resp,
			   sizeof(*resp));
}

static int make_wq(struct uverbs_test *t, u32 *handle)
{
	struct ib_uverbs_ex_create_wq req = {
		.user_handle = 0x66, .pd_handle = t->pd, .cq_handle = t->cq, .max_wr = 5,
		.max_sge = 2,
	};
	struct ib_uverbs_ex_create_wq_resp resp;
	int ret = create_wq(t, &req, &resp);

	*handle = resp.wq_handle;
	return ret;
}

static int destroy_wq(struct uverbs_test *t, u32 wq, u32 comp_mask, u32 *events)
{
	struct ib_uverbs_ex_destroy_wq req = { .wq_handle = wq, .comp_mask = comp_mask };
	struct ib_uverbs_ex_destroy_wq_resp resp;
	int ret = tu_write_ex(t, IB_USER_VERBS_EX_CMD_DESTROY_WQ, &req, sizeof(req), &resp,
			      sizeof(resp));

	if (!ret)
		KUNIT_EXPECT_EQ(t->test, resp.response_length, sizeof(resp));
	*events = resp.events_reported;
	return ret;
}

static void made_by_write(struct kunit *test)
{
	struct {
		struct ib_uverbs_ex_create_wq req;
		u64 behind;
	} create = { .req = { .user_handle = 1, .max_wr = 5, .max_sge = 2, .create_flags = 9 } };
	struct ib_uverbs_ex_create_wq_resp resp;
	struct uverbs_test *t = test->priv;
	struct ib_uverbs_dealloc_pd pd = {};
	u32 events;

	KUNIT_ASSERT_EQ(test, tu_create_pd(t, &pd.pd_handle), 0);
	create.req.pd_handle = pd.pd_handle;
	create.req.cq_handle = t->cq;
	KUNIT_ASSERT_EQ(test, create_wq(t, &create.req, &resp), 0);
	KUNIT_EXPECT_EQ(test, resp.response_length, sizeof(resp));
	KUNIT_EXPECT_EQ(test, resp.comp_mask, 0);
	KUNIT_EXPECT_EQ(test, resp.max_wr, 8);
	KUNIT_EXPECT_EQ(test, resp.max_sge, 2);
	KUNIT_EXPECT_EQ(test, resp.wqn, 0x701);
	KUNIT_EXPECT_EQ(test, t->device->asked.wq_flags, 9);
	KUNIT_EXPECT_PTR_EQ(test, t->device->asked.wq->cq, t->device->last_cq);
	KUNIT_EXPECT_EQ(test, tu_write(t, IB_USER_VERBS_CMD_DEALLOC_PD, &pd, sizeof(pd), NULL, 0),
			-EBUSY);

	t->device->destroy = -EIO;
	KUNIT_EXPECT_EQ(test, destroy_wq(t, resp.wq_handle, 0, &events), -EIO);
	t->device->destroy = 0;
	tu_expect_refused(t, destroy_wq(t, resp.wq_handle, 2, &events), -EOPNOTSUPP, "comp_mask");
	KUNIT_EXPECT_EQ(test, destroy_wq(t, resp.wq_handle, 0, &events), 0);
	KUNIT_EXPECT_EQ(test, destroy_wq(t, resp.wq_handle, 0, &events), -ENOENT);
	KUNIT_EXPECT_EQ(test, tu_write(t, IB_USER_VERBS_CMD_DEALLOC_PD, &pd, sizeof(pd), NULL, 0),
			0);

	/* Requests longer and shorter than the structure, as newer and older programs send. */
	KUNIT_EXPECT_EQ(test, tu_write_ex(t, IB_USER_VERBS_EX_CMD_CREATE_WQ, &create,
					  sizeof(create), &resp, sizeof(resp)), -ENOENT);
	create.req.pd_handle = t->pd;
	create.behind = 1;
	KUNIT_EXPECT_EQ(test, tu_write_ex(t, IB_USER_VERBS_EX_CMD_CREATE_WQ, &create,
					  sizeof(create), &resp, sizeof(resp)), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, tu_write_ex(t, IB_USER_VERBS_EX_CMD_CREATE_WQ, &create,
					  offsetof(struct ib_uverbs_ex_create_wq, create_flags),
					  &resp, sizeof(resp)), 0);
	KUNIT_EXPECT_EQ(test, t->device->asked.wq_flags, 0);
}

/* WQ_CREATE; of the attributes without a value, the first are left out. */
static int create_by_ioctl(struct uverbs_test *t, u64 type, u64 flags, bool cq, s64 *handle)
{
	struct ib_uverbs_attr attrs[] = {
		TU_HANDLE(UVERBS_ATTR_CREATE_WQ_HANDLE, 0),
		TU_HANDLE(UVERBS_ATTR_CREATE_WQ_PD_HANDLE, t->pd),
		TU_VALUE(UVERBS_ATTR_CREATE_WQ_USER_HANDLE, 8, 0x66),
		TU_VALUE(UVERBS_ATTR_CREATE_WQ_TYPE, 8, type),
		TU_VALUE(UVERBS_ATTR_CREATE_WQ_MAX_WR, 4, 9),
		TU_VALUE(UVERBS_ATTR_CREATE_WQ_MAX_SGE, 4, 3),
		TU_VALUE(UVERBS_ATTR_CREATE_WQ_FLAGS, 8, flags),
		TU_VALUE(UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, 4, t->user + TU_FREE),
		TU_VALUE(UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, 4, t->user + TU_FREE + 4),
		TU_VALUE(UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, 4, t->user + TU_FREE + 8),
		TU_HANDLE(UVERBS_ATTR_CREATE_WQ_CQ_HANDLE, t->cq),
	};
	int ret = tu_ioctl(t, UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_CREATE, attrs,
			   ARRAY_SIZE(attrs) - !cq);

	*handle = attrs[0].data_s64;
	return ret;
}

static void made_by_ioctl(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	struct ib_uverbs_attr destroy[] = {
		TU_HANDLE(UVERBS_ATTR_DESTROY_WQ_HANDLE, 0),
		TU_VALUE(UVERBS_ATTR_DESTROY_WQ_RESP, 4, t->user + TU_FREE),
	};
	u32 resp[3];
	s64 handle;

	KUNIT_ASSERT_EQ(test, create_by_ioctl(t, IB_UVERBS_WQT_RQ,
					      IB_UVERBS_WQ_FLAGS_SCATTER_FCS, true, &handle), 0);
	KUNIT_ASSERT_EQ(test, copy_from_user(resp, tu_at(t, TU_FREE), sizeof(resp)), 0);
	KUNIT_EXPECT_EQ(test, resp[0], 16);
	KUNIT_EXPECT_EQ(test, resp[1], 3);
	KUNIT_EXPECT_EQ(test, resp[2], 0x701);
	KUNIT_EXPECT_EQ(test, t->device->asked.wq_flags, IB_UVERBS_WQ_FLAGS_SCATTER_FCS);

	destroy[0].data_s64 = handle;
	KUNIT_EXPECT_EQ(test, tu_ioctl(t, UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_DESTROY, destroy,
				       ARRAY_SIZE(destroy)), 0);
	KUNIT_ASSERT_EQ(test, copy_from_user(resp, tu_at(t, TU_FREE), 4), 0);
	KUNIT_EXPECT_EQ(test, resp[0], 0);
	KUNIT_EXPECT_EQ(test, t->device->made.wqs, 0);
}

static void refused(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	struct ib_uverbs_ex_create_wq req = { .pd_handle = t->pd, .cq_handle = t->cq }, bad;
	struct ib_uverbs_ex_create_wq_resp resp;
	s64 handle;

	bad = req;
	bad.comp_mask = 1;
	tu_expect_refused(t, create_wq(t, &bad, &resp), -EOPNOTSUPP, "comp_mask");
	bad = req;
	bad.pd_handle = 4711;
	tu_expect_refused(t, create_wq(t, &bad, &resp), -ENOENT, "pd_handle 4711");
	bad = req;
	bad.cq_handle = t->pd;
	tu_expect_refused(t, create_wq(t, &bad, &resp), -EINVAL, "cq_handle");
	t->device->answer = -ENOSPC;
	tu_expect_refused(t, create_wq(t, &req, &resp), -ENOSPC, "wq_type 0, 0 WRs");
	t->device->answer = 0;

	tu_expect_refused(t, create_by_ioctl(t, 1, 0, true, &handle), -EINVAL, "wq_type 1");
	tu_expect_refused(t, create_by_ioctl(t, 0, 16, true, &handle), -EINVAL, "flags");
	tu_expect_refused(t, create_by_ioctl(t, 0, 0, false, &handle), -ENOENT,
			  "cq_handle is missing");
	KUNIT_EXPECT_EQ(test, t->device->made.wqs, 0);
}

static int modify_wq(struct uverbs_test *t, const struct ib_uverbs_ex_modify_wq *modify)
{
	struct {
		struct ib_uverbs_ex_modify_wq req;
		u64 zero;
	} m = { .req = *modify };

	return tu_write_ex(t, IB_USER_VERBS_EX_CMD_MODIFY_WQ, &m, sizeof(m), NULL, 0);
}

static void modified(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	struct ib_uverbs_ex_modify_wq req = {
		.attr_mask = IB_WQ_STATE | IB_WQ_FLAGS, .wq_state = IB_WQS_RDY, .flags = 3,
		.flags_mask = 7, .curr_wq_state = 99,
	}, bad;
	struct fake_asked *asked = &t->device->asked;

	KUNIT_ASSERT_EQ(test, make_wq(t, &req.wq_handle), 0);
	KUNIT_EXPECT_EQ(test, modify_wq(t, &req), 0);
	KUNIT_EXPECT_EQ(test, asked->wq_mask, IB_WQ_STATE | IB_WQ_FLAGS);
	KUNIT_EXPECT_EQ(test, asked->wq_attr.curr_wq_state, IB_WQS_RESET);
	KUNIT_EXPECT_EQ(test, asked->wq_attr.wq_state, IB_WQS_RDY);
	KUNIT_EXPECT_EQ(test, asked->wq_attr.flags, 3);
	KUNIT_EXPECT_EQ(test, asked->wq_attr.flags_mask, 7);

	/* Attributes that the mask does not name are unchanged. */
	req.attr_mask = IB_WQ_CUR_STATE;
	req.curr_wq_state = IB_WQS_ERR;
	KUNIT_EXPECT_EQ(test, modify_wq(t, &req), 0);
	KUNIT_EXPECT_EQ(test, asked->wq_attr.curr_wq_state, IB_WQS_ERR);
	KUNIT_EXPECT_EQ(test, asked->wq_attr.wq_state, IB_WQS_ERR);
	KUNIT_EXPECT_EQ(test, asked->wq_attr.flags, 0);

	bad = req;
	bad.attr_mask = 0;
	tu_expect_refused(t, modify_wq(t, &bad), -EINVAL, "nothing to change");
	bad.attr_mask = 8 | IB_WQ_STATE;
	tu_expect_refused(t, modify_wq(t, &bad), -EINVAL, "unknown bits 0x8");
	bad.attr_mask = IB_WQ_STATE;
	bad.wq_state = IB_WQS_ERR + 1;
	tu_expect_refused(t, modify_wq(t, &bad), -EINVAL, "wq_state 3");
	bad.attr_mask = IB_WQ_CUR_STATE;
	bad.curr_wq_state = IB_WQS_ERR + 1;
	tu_expect_refused(t, modify_wq(t, &bad), -EINVAL, "curr_wq_state 3");
	bad.wq_handle = t->cq;
	tu_expect_refused(t, modify_wq(t, &bad), -EINVAL, "right type");
	t->device->answer = -EACCES;
	tu_expect_refused(t, modify_wq(t, &req), -EACCES, "attr_mask 0x2");
	t->device->answer = 0;
}

static void events(struct kunit *test)
{
	struct ib_uverbs_async_event_desc desc;
	struct uverbs_test *t = test->priv;
	struct ib_event event = { .event = IB_EVENT_WQ_FATAL };
	u32 wq, events;

	KUNIT_ASSERT_EQ(test, make_wq(t, &wq), 0);
	event.device = &t->device->ib;
	event.element.wq = t->device->asked.wq;
	event.element.wq->event_handler(&event, event.element.wq->wq_context);
	event.element.wq->event_handler(&event, event.element.wq->wq_context);
	KUNIT_EXPECT_EQ(test, tu_read_event(t, &desc), 0);
	KUNIT_EXPECT_EQ(test, desc.event_type, IB_EVENT_WQ_FATAL);
	KUNIT_EXPECT_EQ(test, desc.element, 0x66);
	KUNIT_EXPECT_EQ(test, destroy_wq(t, wq, 0, &events), 0);
	KUNIT_EXPECT_EQ(test, events, 1);
	KUNIT_EXPECT_EQ(test, tu_read_event(t, &desc), -EAGAIN);
}

/* ---- tables ---- */

struct table_request {
	struct ib_uverbs_ex_create_rwq_ind_table req;
	u32 wqs[4];
};

static int create_table(struct uverbs_test *t, const struct table_request *table, size_t len,
			struct ib_uverbs_ex_create_rwq_ind_table_resp *resp)
{
	return tu_write_ex(t, IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL, table, len, resp,
			   sizeof(*resp));
}

static int destroy_table(struct uverbs_test *t, u32 table, u32 comp_mask)
{
	struct ib_uverbs_ex_destroy_rwq_ind_table req = {
		.comp_mask = comp_mask, .ind_tbl_handle = table,
	};

	return tu_write_ex(t, IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL, &req, sizeof(req), NULL,
			   0);
}

/* Makes a table with two entries for one queue. */
static int make_table(struct uverbs_test *t, u32 wq, u32 *handle)
{
	struct table_request table = { .req.log_ind_tbl_size = 1, .wqs = { wq, wq } };
	struct ib_uverbs_ex_create_rwq_ind_table_resp resp;
	int ret = create_table(t, &table, sizeof(table.req) + 8, &resp);

	*handle = resp.ind_tbl_handle;
	return ret;
}

static void tables(struct kunit *test)
{
	struct ib_uverbs_ex_create_rwq_ind_table_resp resp;
	struct table_request table = { .req.log_ind_tbl_size = 2 };
	struct uverbs_test *t = test->priv;
	struct ib_uverbs_attr attrs[1];
	struct ib_rwq_ind_table *made;
	u32 first, second, events, other;

	KUNIT_ASSERT_EQ(test, make_wq(t, &first), 0);
	KUNIT_ASSERT_EQ(test, make_wq(t, &second), 0);
	memcpy(table.wqs, (u32 []){ first, first, second, first }, sizeof(table.wqs));
	KUNIT_ASSERT_EQ(test, create_table(t, &table, sizeof(table), &resp), 0);
	KUNIT_EXPECT_EQ(test, resp.response_length, sizeof(resp));
	KUNIT_EXPECT_EQ(test, resp.ind_tbl_num, 0x800);
	made = t->device->asked.table;
	KUNIT_EXPECT_EQ(test, made->log_ind_tbl_size, 2);
	KUNIT_EXPECT_PTR_EQ(test, made->ind_tbl[2], t->device->asked.wq);
	KUNIT_EXPECT_PTR_EQ(test, made->ind_tbl[0], made->ind_tbl[3]);
	KUNIT_EXPECT_PTR_NE(test, made->ind_tbl[0], made->ind_tbl[2]);

	KUNIT_EXPECT_EQ(test, destroy_wq(t, second, 0, &events), -EBUSY);
	tu_expect_refused(t, destroy_wq(t, first, 0, &events), -EBUSY, "by 3 other object");
	tu_expect_refused(t, destroy_table(t, resp.ind_tbl_handle, 1), -EOPNOTSUPP, "comp_mask");
	t->device->destroy = -EIO;
	KUNIT_EXPECT_EQ(test, destroy_table(t, resp.ind_tbl_handle, 0), -EIO);
	t->device->destroy = 0;
	KUNIT_EXPECT_EQ(test, destroy_table(t, resp.ind_tbl_handle, 0), 0);
	KUNIT_EXPECT_EQ(test, destroy_wq(t, second, 0, &events), 0);

	KUNIT_ASSERT_EQ(test, make_table(t, first, &other), 0);
	attrs[0] = (struct ib_uverbs_attr)TU_HANDLE(UVERBS_ATTR_DESTROY_RWQ_IND_TBL_HANDLE, other);
	KUNIT_EXPECT_EQ(test, tu_ioctl(t, UVERBS_OBJECT_RWQ_IND_TBL,
				       UVERBS_METHOD_RWQ_IND_TBL_DESTROY, attrs, 1), 0);
	KUNIT_EXPECT_EQ(test, destroy_wq(t, first, 0, &events), 0);
}

static void tables_refused(struct kunit *test)
{
	struct ib_uverbs_ex_create_rwq_ind_table_resp resp;
	struct uverbs_test *t = test->priv;
	struct table_request good = { .req.log_ind_tbl_size = 1 }, bad;
	u32 wq, events;

	KUNIT_ASSERT_EQ(test, make_wq(t, &wq), 0);
	good.wqs[0] = wq;
	good.wqs[1] = wq;
	bad = good;
	bad.req.comp_mask = 1;
	tu_expect_refused(t, create_table(t, &bad, 16, &resp), -EOPNOTSUPP, "comp_mask");
	bad = good;
	bad.req.log_ind_tbl_size = IB_USER_VERBS_MAX_LOG_IND_TBL_SIZE + 1;
	tu_expect_refused(t, create_table(t, &bad, 16, &resp), -EINVAL, "log_ind_tbl_size 14");
	bad.req.log_ind_tbl_size = 2;
	tu_expect_refused(t, create_table(t, &bad, 16, &resp), -ENOSPC, "wq_handles");
	tu_expect_refused(t, create_table(t, &bad, 0, &resp), -ENOSPC, "needs 8");
	bad = good;
	bad.wqs[3] = 1;
	tu_expect_refused(t, create_table(t, &bad, sizeof(bad), &resp), -EOPNOTSUPP, "behind it");
	bad.wqs[3] = 0;
	bad.wqs[1] = 4711;
	tu_expect_refused(t, create_table(t, &bad, 16, &resp), -ENOENT, "wq_handles 4711");
	bad.wqs[1] = t->cq;
	tu_expect_refused(t, create_table(t, &bad, 16, &resp), -EINVAL, "right type");
	t->device->answer = -ENOSPC;
	tu_expect_refused(t, create_table(t, &good, 16, &resp), -ENOSPC, "log_ind_tbl_size 1");
	t->device->answer = 0;
	KUNIT_EXPECT_EQ(test, t->device->made.tables, 0);
	/* None of the failed requests holds a reference on the queue. */
	KUNIT_EXPECT_EQ(test, destroy_wq(t, wq, 0, &events), 0);
}

static int create_qp_over(struct uverbs_test *t, u32 table, u32 *handle)
{
	struct ib_uverbs_ex_create_qp req = {
		.pd_handle = t->pd, .qp_type = IB_QPT_UD,
		.comp_mask = IB_UVERBS_CREATE_QP_MASK_IND_TABLE, .rwq_ind_tbl_handle = table,
	};
	struct ib_uverbs_ex_create_qp_resp resp;
	int ret = tu_write_ex(t, IB_USER_VERBS_EX_CMD_CREATE_QP, &req, sizeof(req), &resp,
			      sizeof(resp));

	*handle = resp.base.qp_handle;
	return ret;
}

static void used_by_qps(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	u32 wq, table, qp;

	KUNIT_ASSERT_EQ(test, make_wq(t, &wq), 0);
	KUNIT_ASSERT_EQ(test, make_table(t, wq, &table), 0);
	tu_expect_refused(t, create_qp_over(t, wq, &qp), -EINVAL, "rwq_ind_tbl_handle");
	KUNIT_ASSERT_EQ(test, create_qp_over(t, table, &qp), 0);
	KUNIT_EXPECT_PTR_EQ(test, t->device->last_qp->rwq_ind_tbl, t->device->asked.table);
	tu_expect_refused(t, destroy_table(t, table, 0), -EBUSY, "is used by 1 other object");
	KUNIT_EXPECT_EQ(test, tu_destroy_qp(t, qp), 0);
	KUNIT_EXPECT_EQ(test, destroy_table(t, table, 0), 0);
}

/* ---- ends ---- */

static void closed_with_file(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	u32 wq, table, qp;

	KUNIT_ASSERT_EQ(test, make_wq(t, &wq), 0);
	KUNIT_ASSERT_EQ(test, make_table(t, wq, &table), 0);
	KUNIT_ASSERT_EQ(test, create_qp_over(t, table, &qp), 0);
	tu_close(t);
	KUNIT_EXPECT_EQ(test, t->device->made.wqs + t->device->made.tables, 0);
}

static void gone_with_device(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	u32 wq, table, other, events;

	KUNIT_ASSERT_EQ(test, make_wq(t, &wq), 0);
	KUNIT_ASSERT_EQ(test, make_table(t, wq, &table), 0);
	tu_remove_device(t);
	KUNIT_EXPECT_EQ(test, make_wq(t, &other), -EIO);
	KUNIT_EXPECT_EQ(test, destroy_table(t, table, 0), 0);
	KUNIT_EXPECT_EQ(test, destroy_wq(t, wq, 0, &events), 0);
}

#ifdef CONFIG_FAULT_INJECTION
static u32 starving_wq;

static int wq_starving(struct uverbs_test *t)
{
	u32 wq;

	return make_wq(t, &wq);
}

static int ioctl_starving(struct uverbs_test *t)
{
	s64 wq;

	return create_by_ioctl(t, IB_UVERBS_WQT_RQ, 0, true, &wq);
}

static int table_starving(struct uverbs_test *t)
{
	u32 table;

	return make_table(t, starving_wq, &table);
}

static void without_memory(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	unsigned int served;

	KUNIT_EXPECT_GT(test, tu_starve(t, wq_starving), 2);
	served = t->served;
	KUNIT_EXPECT_GT(test, tu_starve(t, ioctl_starving), 2);
	KUNIT_EXPECT_EQ(test, t->device->made.wqs, served + t->served);
	KUNIT_ASSERT_EQ(test, make_wq(t, &starving_wq), 0);
	KUNIT_EXPECT_GT(test, tu_starve(t, table_starving), 4);
	KUNIT_EXPECT_EQ(test, t->device->made.tables, t->served);
}
#endif

static struct kunit_case wq_cases[] = {
	KUNIT_CASE(made_by_write),
	KUNIT_CASE(made_by_ioctl),
	KUNIT_CASE(refused),
	KUNIT_CASE(modified),
	KUNIT_CASE(events),
	KUNIT_CASE(tables),
	KUNIT_CASE(tables_refused),
	KUNIT_CASE(used_by_qps),
	KUNIT_CASE(closed_with_file),
	KUNIT_CASE(gone_with_device),
#ifdef CONFIG_FAULT_INJECTION
	KUNIT_CASE(without_memory),
#endif
	{}
};

static struct kunit_suite wq_suite = {
	.name = "rdma_uverbs_wq",
	.init = tu_init,
	.exit = tu_exit,
	.test_cases = wq_cases,
};

kunit_test_suite(wq_suite);

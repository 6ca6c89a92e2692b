// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands that the HCA refuses, one for each kind of object: the caller gets the errno of the
 * device's status and a reason that names the command, no object is left, and the same call
 * succeeds when it is repeated.
 */
#include <rdma/rdma_counter.h>
#include <rdma/rdma_reject.h>

#include "../cmd/cmd.h"
#include "../verbs/pd.h"
#include "hca_test.h"

/* A device, and one object of each kind, from which others are made. */
struct objects {
	struct hca_test *h;
	struct ib_device *dev;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
	struct ib_srq *srq;
	struct ib_qp *ud;
	struct rdma_counter counter;
};

static int start(struct objects *w, struct kunit *test)
{
	w->h = test->priv;
	hca_need_faults(w->h);
	w->dev = &hca_need_device(w->h)->ibdev;
	return 0;
}

/* ---- the calls ---- */

static int make_pd(struct objects *w)
{
	struct ib_pd *pd = ib_alloc_pd(w->dev, 0);

	if (IS_ERR(pd))
		return PTR_ERR(pd);
	w->pd = pd;
	return 0;
}

static int make_cq(struct objects *w)
{
	struct ib_cq_init_attr attr = { .cqe = 16 };
	struct ib_cq *cq = ib_create_cq(w->dev, NULL, NULL, NULL, &attr);

	if (IS_ERR(cq))
		return PTR_ERR(cq);
	w->cq = cq;
	return 0;
}

static int make_qp(struct objects *w)
{
	struct ib_qp_init_attr attr = {
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
		.send_cq = w->cq,
		.recv_cq = w->cq,
		.qp_type = IB_QPT_RC,
	};
	struct ib_qp *qp = ib_create_qp(w->pd, &attr);

	if (IS_ERR(qp))
		return PTR_ERR(qp);
	w->qp = qp;
	return 0;
}

static int to_init(struct objects *w)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT, .port_num = 1 };

	return ib_modify_qp(w->qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
			    IB_QP_ACCESS_FLAGS);
}

static int ask_qp(struct objects *w)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	return ib_query_qp(w->qp, &attr, IB_QP_STATE, &init);
}

static int ask_port(struct objects *w)
{
	struct ib_port_attr attr;

	return ib_query_port(w->dev, 1, &attr);
}

static int ask_gid(struct objects *w)
{
	union ib_gid gid;

	return w->dev->ops.query_gid(w->dev, 1, 0, &gid);
}

static int ask_pkey(struct objects *w)
{
	u16 pkey;

	return ib_query_pkey(w->dev, 1, 0, &pkey);
}

static int rename_node(struct objects *w)
{
	struct ib_device_modify modify = { .node_desc = "kunit" };

	return ib_modify_device(w->dev, IB_DEVICE_MODIFY_NODE_DESC, &modify);
}

static int make_srq(struct objects *w)
{
	struct ib_srq_init_attr attr = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ib_srq *srq = ib_create_srq(w->pd, &attr);

	if (IS_ERR(srq))
		return PTR_ERR(srq);
	w->srq = srq;
	return 0;
}

static int limit_srq(struct objects *w)
{
	return ib_modify_srq(w->srq, &(struct ib_srq_attr){}, IB_SRQ_LIMIT);
}

static int resize_srq(struct objects *w)
{
	return ib_modify_srq(w->srq, &(struct ib_srq_attr){ .max_wr = 16 }, IB_SRQ_MAX_WR);
}

static int ask_srq(struct objects *w)
{
	struct ib_srq_attr attr;

	return ib_query_srq(w->srq, &attr);
}

static int drop_srq(struct objects *w)
{
	int err = ib_destroy_srq_user(w->srq, NULL);

	if (!err)
		w->srq = NULL;
	return err;
}

static int ask_clock(struct objects *w)
{
	u64 now;

	return vhca_cmd_query_clock(&to_vdev(w->dev)->hw, &now);
}

static int resize_cq(struct objects *w)
{
	return ib_resize_cq(w->cq, 64);
}

static int moderate_cq(struct objects *w)
{
	return rdma_set_cq_moderation(w->cq, 2, 10);
}

static union ib_gid group = { .raw = { 0xff, 0x12, [15] = 9 } };

static int join(struct objects *w)
{
	struct ib_qp_init_attr attr = {
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
		.send_cq = w->cq,
		.recv_cq = w->cq,
		.qp_type = IB_QPT_UD,
	};
	struct ib_qp *qp = w->ud ?: ib_create_qp(w->pd, &attr);

	if (IS_ERR(qp))
		return PTR_ERR(qp);
	w->ud = qp;
	return ib_attach_mcast(qp, &group, 0xc009);
}

static int leave(struct objects *w)
{
	return ib_detach_mcast(w->ud, &group, 0xc009);
}

static int count_qp(struct objects *w)
{
	w->counter.device = w->dev;
	w->counter.port = 1;
	return w->dev->ops.counter_bind_qp(&w->counter, w->qp);
}

static int read_counter(struct objects *w)
{
	w->counter.stats = w->counter.stats ?: w->dev->ops.counter_alloc_stats(&w->counter);
	return w->counter.stats ? w->dev->ops.counter_update_stats(&w->counter) : -EBADMSG;
}

static int drop_counter(struct objects *w)
{
	int err = w->dev->ops.counter_unbind_qp(w->qp) ?:
		  w->dev->ops.counter_dealloc(&w->counter);

	if (!err)
		w->counter.id = 0;
	return err;
}

static int drop_qp(struct objects *w)
{
	int err = ib_destroy_qp(w->qp);

	if (!err)
		w->qp = NULL;
	return err;
}

static int drop_cq(struct objects *w)
{
	int err;

	if (w->ud && !ib_destroy_qp(w->ud))
		w->ud = NULL;
	err = ib_destroy_cq_user(w->cq, NULL);
	if (!err)
		w->cq = NULL;
	return err;
}

/* The calls in their order; each may use the objects that those before it have made. */
static const struct {
	const char *opcode;
	int (*try)(struct objects *w);
} steps[] = {
	{ "CREATE_PD", make_pd },
	{ "CREATE_MKEY", make_pd },	/* of the kernel's key in the PD */
	{ "CREATE_CQ", make_cq },
	{ "CREATE_QP", make_qp },
	{ "MODIFY_QP", to_init },
	{ "QUERY_QP", ask_qp },
	{ "QUERY_GIDS", ask_gid },
	{ "QUERY_PORT", ask_port },	/* it queries a GID, too */
	{ "QUERY_PKEYS", ask_pkey },
	{ "SET_NODE_DESC", rename_node },
	{ "QUERY_CLOCK", ask_clock },
	{ "CREATE_SRQ", make_srq },
	{ "MODIFY_SRQ", limit_srq },
	{ "RESIZE_SRQ", resize_srq },
	{ "QUERY_SRQ", ask_srq },
	{ "DESTROY_SRQ", drop_srq },
	{ "RESIZE_CQ", resize_cq },
	{ "MODIFY_CQ", moderate_cq },
	{ "ATTACH_MCG", join },
	{ "DETACH_MCG", leave },
	{ "CREATE_COUNTER", count_qp },
	{ "QUERY_COUNTER", read_counter },
	{ "DESTROY_COUNTER", drop_counter },
	{ "DESTROY_QP", drop_qp },
	{ "DESTROY_CQ", drop_cq },
};

static void finish(void *data)
{
	struct objects *w = data;

	/* Faults that a failed test has left armed would keep objects from being destroyed. */
	if (w->h->faults)
		hca_ctl(w->h, "fault clear @");
	if (w->ud)
		KUNIT_EXPECT_EQ(w->h->test, ib_destroy_qp(w->ud), 0);
	if (w->counter.id)
		KUNIT_EXPECT_EQ(w->h->test, drop_counter(w), 0);
	rdma_free_hw_stats_struct(w->counter.stats);
	if (w->srq)
		KUNIT_EXPECT_EQ(w->h->test, ib_destroy_srq_user(w->srq, NULL), 0);
	if (w->qp)
		KUNIT_EXPECT_EQ(w->h->test, ib_destroy_qp(w->qp), 0);
	if (w->cq)
		KUNIT_EXPECT_EQ(w->h->test, ib_destroy_cq_user(w->cq, NULL), 0);
	if (w->pd)
		ib_dealloc_pd(w->pd);
}

static void refused(struct kunit *test, struct objects *w, int (*try)(struct objects *w), int err,
		    const char *reason)
{
	struct rdma_reject_log *log = kunit_kzalloc(test, sizeof(*log), GFP_KERNEL);
	struct rdma_reject_scope scope;
	char text[RDMA_REJECT_TEXT] = "";

	KUNIT_ASSERT_NOT_NULL(test, log);
	rdma_reject_enter(log, &scope);
	KUNIT_EXPECT_EQ_MSG(test, try(w), err, "%s", reason);
	rdma_reject_leave(&scope);
	KUNIT_EXPECT_EQ(test, rdma_reject_text(log, 0, text, sizeof(text)), err);
	KUNIT_EXPECT_STREQ(test, text, reason);
}

static void test_refused_commands(struct kunit *test)
{
	struct objects *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	char *words = kunit_kzalloc(test, SZ_4K, GFP_KERNEL), *reason;
	unsigned int len = 0;

	KUNIT_ASSERT_NOT_NULL(test, w);
	KUNIT_ASSERT_NOT_NULL(test, words);
	start(w, test);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, finish, w), 0);
	/* Each fault applies to the first command of its kind. */
	for (unsigned int i = 0; i < ARRAY_SIZE(steps); i++)
		len += scnprintf(words + len, SZ_4K - len,
				 "%scommand @ opcode=%s status=NO_RESOURCE",
				 i ? " , fault " : "", steps[i].opcode);
	hca_fault(w->h, "%s", words);
	for (unsigned int i = 0; i < ARRAY_SIZE(steps); i++) {
		reason = kunit_kzalloc(test, RDMA_REJECT_TEXT, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, reason);
		snprintf(reason, RDMA_REJECT_TEXT, "device refused %s: limit reached",
			 steps[i].opcode);
		refused(test, w, steps[i].try, -ENOMEM, reason);
		/* The call uses another command as well, whose fault comes next. */
		if (i + 1 < ARRAY_SIZE(steps) && steps[i + 1].try == steps[i].try)
			continue;
		KUNIT_ASSERT_EQ_MSG(test, steps[i].try(w), 0, "%s", steps[i].opcode);
		/* No object is left of the refused call, and one of the successful call. */
		if (steps[i].try == make_qp)
			hca_expect_objects(w->h, 1, 1, 1, 1);
	}
	hca_struck(w->h);
	hca_expect_objects(w->h, 1, 1, 0, 0);
}

/* The errno that a caller gets for each status of the device. */
static void test_statuses(struct kunit *test)
{
	static const struct {
		const char *status;
		int err;
		const char *reason;
	} cases[] = {
		{ "BAD_OPCODE", -EOPNOTSUPP, "device refused QUERY_PKEYS: command unknown" },
		{ "BAD_FIELD", -EINVAL, "device refused QUERY_PKEYS: out of range" },
		{ "BAD_HANDLE", -EINVAL, "device refused QUERY_PKEYS: no such object" },
		{ "BUSY", -EBUSY, "device refused QUERY_PKEYS: still in use" },
		{ "NO_RESOURCE", -ENOMEM, "device refused QUERY_PKEYS: limit reached" },
		{ "BAD_STATE", -EINVAL, "device refused QUERY_PKEYS: not in this state" },
		{ "BAD_ADDRESS", -EFAULT,
		  "device refused QUERY_PKEYS: DMA address not accessible" },
		{ "UNSUPPORTED", -EOPNOTSUPP, "device refused QUERY_PKEYS: not supported" },
		{ "INTERNAL", -EIO, "device refused QUERY_PKEYS: device failing" },
	};
	char *words = kunit_kzalloc(test, SZ_4K, GFP_KERNEL);
	unsigned int len = 0;
	struct objects w = {};

	KUNIT_ASSERT_NOT_NULL(test, words);
	start(&w, test);
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++)
		len += scnprintf(words + len, SZ_4K - len,
				 "%scommand @ opcode=QUERY_PKEYS status=%s",
				 i ? " , fault " : "", cases[i].status);
	hca_fault(w.h, "%s", words);
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++)
		refused(test, &w, ask_pkey, cases[i].err, cases[i].reason);
	hca_struck(w.h);
	KUNIT_EXPECT_EQ(test, ask_pkey(&w), 0);
}

/* If the device refuses to destroy a key or PD, the driver keeps it unchanged. */
static void test_refused_destroy_of_key_and_pd(struct kunit *test)
{
	struct objects w = {};
	struct vhca_pd *pd = kunit_kzalloc(test, sizeof(*pd), GFP_KERNEL);
	struct ib_mr *mr;

	KUNIT_ASSERT_NOT_NULL(test, pd);
	start(&w, test);
	/* This bypasses the core, which warns of a kernel object that cannot be destroyed. */
	pd->ibpd.device = w.dev;
	KUNIT_ASSERT_EQ(test, w.dev->ops.alloc_pd(&pd->ibpd, NULL), 0);
	mr = w.dev->ops.get_dma_mr(&pd->ibpd, IB_ACCESS_LOCAL_WRITE);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mr);
	mr->device = w.dev;
	mr->pd = &pd->ibpd;

	hca_fault(w.h, "command @ opcode=DESTROY_MKEY status=INTERNAL ,\n"
		       "fault command @ opcode=DESTROY_PD status=INTERNAL skip=1");
	KUNIT_EXPECT_EQ(test, w.dev->ops.dereg_mr(mr, NULL), -EIO);
	/* The device itself reports that the PD is in use. */
	KUNIT_EXPECT_EQ(test, w.dev->ops.dealloc_pd(&pd->ibpd, NULL), -EBUSY);
	KUNIT_EXPECT_EQ(test, w.dev->ops.dereg_mr(mr, NULL), 0);
	KUNIT_EXPECT_EQ(test, w.dev->ops.dealloc_pd(&pd->ibpd, NULL), -EIO);
	hca_struck(w.h);
	KUNIT_EXPECT_EQ(test, w.dev->ops.dealloc_pd(&pd->ibpd, NULL), 0);
	hca_expect_objects(w.h, 0, 0, 0, 0);
}

struct cq_list {
	struct ib_cq *cq[VHCA_DB_PAIRS];
	unsigned int n;
};

static void drop_cqs(void *data)
{
	struct cq_list *l = data;

	while (l->n)
		ib_destroy_cq(l->cq[--l->n]);
}

/* A doorbell page is full, and the device refuses another one. */
static void test_refused_doorbell_page(struct kunit *test)
{
	struct cq_list *l = kunit_kzalloc(test, sizeof(*l), GFP_KERNEL);
	struct objects w = {};
	int err;

	KUNIT_ASSERT_NOT_NULL(test, l);
	start(&w, test);
	hca_fault(w.h, "command @ opcode=ADD_DB_PAGE status=NO_RESOURCE");
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, drop_cqs, l), 0);
	for (;;) {
		err = make_cq(&w);
		if (err)
			break;
		KUNIT_ASSERT_LT(test, l->n, ARRAY_SIZE(l->cq));
		l->cq[l->n++] = w.cq;
	}
	KUNIT_EXPECT_EQ(test, err, -ENOMEM);
	/* Now the device accepts one, and no object is left of the refused calls. */
	KUNIT_ASSERT_EQ(test, make_cq(&w), 0);
	hca_expect_objects(w.h, 0, 0, l->n + 1, 0);
	KUNIT_EXPECT_EQ(test, drop_cq(&w), 0);
}

static struct kunit_case command_cases[] = {
	KUNIT_CASE_SLOW(test_refused_commands),
	KUNIT_CASE(test_statuses),
	KUNIT_CASE(test_refused_destroy_of_key_and_pd),
	KUNIT_CASE_SLOW(test_refused_doorbell_page),
	{}
};

struct kunit_suite hca_command_suite = {
	.name = "vhca_hca_command",
	.suite_init = rdma_kunit_again,
	.init = hca_test_init,
	.test_cases = command_cases,
};

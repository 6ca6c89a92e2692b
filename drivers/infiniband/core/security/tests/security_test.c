// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: P_Keys that a security module denies. The module is a fake: the security context of a task
 * that creates or opens a QP is a number, and one P_Key is denied to one of them.
 */
#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <linux/slab.h>
#include <rdma/rdma_reject.h>

#include "../../cache/cache.h"
#include "../../device/tests/test_device.h"
#include "../../verbs/verbs.h"
#include "../security.h"

#define PUBLIC	0x8011
#define SECRET	0x8012
#define PREFIX	(0xfe80ULL << 48)
#define TOO_MANY	100

/**
 * struct policy - state and answers of the security module
 * @running: context of the task that creates or opens QPs
 * @suspect: context that may not use SECRET
 * @asked: number of its checks of a P_Key
 * @prefix: subnet of its last check
 * @refuse_blob: error of requests for a context, or 0
 * @last: QP that @end destroys, or NULL
 * @end: queued by the check with number TOO_MANY
 */
static struct policy {
	int running, suspect;
	unsigned int asked;
	u64 prefix;
	int refuse_blob;
	struct ib_qp *last;
	struct work_struct end;
} policy;

/* Calls of the driver, and the resulting events. */
static struct {
	unsigned int modified;
	enum ib_qp_state state;
	int refuse;
	unsigned int fatal;
	u32 qpn;	/* of the next QP */
} seen;

static int play_blob_alloc(void **blob)
{
	if (policy.refuse_blob)
		return policy.refuse_blob;
	*blob = kmemdup(&policy.running, sizeof(policy.running), GFP_KERNEL);
	return *blob ? 0 : -ENOMEM;
}

static int play_pkey_access(void *blob, u64 subnet_prefix, u16 pkey)
{
	if (++policy.asked == TOO_MANY)
		queue_work(system_unbound_wq, &policy.end);
	policy.prefix = subnet_prefix;
	return pkey == SECRET && *(int *)blob == policy.suspect ? -EACCES : 0;
}

static int fake_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int fake_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int fake_create_qp(struct ib_qp *qp, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	qp->qp_num = seen.qpn++;
	return 0;
}

static int fake_modify_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
			  struct ib_udata *udata)
{
	if (seen.refuse)
		return seen.refuse;
	seen.modified++;
	if (mask & IB_QP_STATE)
		seen.state = attr->qp_state;
	return 0;
}

static int fake_destroy_qp(struct ib_qp *qp, struct ib_udata *udata)
{
	return 0;
}

static int fake_xrcd(struct ib_xrcd *xrcd, struct ib_udata *udata)
{
	return 0;
}

static const struct ib_device_ops qp_ops = {
	.alloc_pd = fake_alloc_pd,
	.dealloc_pd = fake_dealloc_pd,
	.create_qp = fake_create_qp,
	.modify_qp = fake_modify_qp,
	.destroy_qp = fake_destroy_qp,
	.alloc_xrcd = fake_xrcd,
	.dealloc_xrcd = fake_xrcd,
	.size_ib_pd = sizeof(struct ib_pd),
	.size_ib_qp = sizeof(struct ib_qp),
	.size_ib_xrcd = sizeof(struct ib_xrcd),
};

static void destroy_last(struct work_struct *work)
{
	ib_destroy_qp(policy.last);
	policy.last = NULL;
}

/* Port 1 has PUBLIC at index 1, SECRET at index 2. */
static int played_init(struct kunit *test)
{
	struct test_device *device = test_device_alloc();

	KUNIT_ASSERT_NOT_NULL(test, device);
	test->priv = device;
	memset(&policy, 0, sizeof(policy));
	policy.suspect = 7;
	INIT_WORK(&policy.end, destroy_last);
	memset(&seen, 0, sizeof(seen));
	seen.qpn = 100;
	kunit_activate_static_stub(test, ib_security_blob_alloc, play_blob_alloc);
	kunit_activate_static_stub(test, ib_security_pkey_access, play_pkey_access);
	ib_set_device_ops(&device->ib, &qp_ops);
	device->port[1].pkey[1] = PUBLIC;
	device->port[1].pkey[2] = SECRET;
	KUNIT_ASSERT_EQ(test, ib_register_device(&device->ib, "kt_security", NULL), 0);
	device->ib.attrs.kernel_cap_flags |= IBK_LOCAL_DMA_LKEY;
	return 0;
}

static void played_exit(struct kunit *test)
{
	test_device_gone(test->priv);
}

static void hear(struct ib_event *event, void *context)
{
	seen.fatal += event->event == IB_EVENT_QP_FATAL;
}

static struct ib_qp *make_qp(struct kunit *test, struct ib_pd *pd, int who)
{
	struct ib_qp_init_attr attr = { .qp_type = IB_QPT_RC, .event_handler = hear };
	struct ib_qp *qp;

	policy.running = who;
	qp = ib_create_qp(pd, &attr);
	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
	return qp;
}

static struct ib_pd *make_pd(struct kunit *test)
{
	struct test_device *device = test->priv;
	struct ib_pd *pd = ib_alloc_pd(&device->ib, 0);

	KUNIT_ASSERT_FALSE(test, IS_ERR(pd));
	return pd;
}

static int to_init(struct ib_qp *qp, u16 pkey_index)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT, .port_num = 1, .pkey_index = pkey_index,
	};

	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PORT | IB_QP_PKEY_INDEX |
			    IB_QP_ACCESS_FLAGS);
}

static int load_alternate(struct ib_qp *qp, u16 pkey_index)
{
	struct ib_qp_attr attr = { .alt_port_num = 1, .alt_pkey_index = pkey_index };

	rdma_ah_set_port_num(&attr.alt_ah_attr, 1);
	attr.alt_ah_attr.type = RDMA_AH_ATTR_TYPE_IB;
	return ib_modify_qp(qp, &attr, IB_QP_ALT_PATH);
}

static int to_state(struct ib_qp *qp, enum ib_qp_state state)
{
	struct ib_qp_attr attr = { .qp_state = state };

	return ib_modify_qp(qp, &attr, IB_QP_STATE);
}

/* Simulates the subnet manager's write of an entry, which the device reports. */
static void change_pkey(struct kunit *test, unsigned int index, u16 pkey)
{
	struct test_device *device = test->priv;
	struct ib_event event = { .device = &device->ib, .event = IB_EVENT_PKEY_CHANGE };

	device->port[1].pkey[index] = pkey;
	event.element.port_num = 1;
	ib_cache_event(&event);
	ib_security_event(&event);
}

static void pkey_is_asked_for(struct kunit *test)
{
	struct rdma_reject_log *log = kunit_kzalloc(test, sizeof(*log), GFP_KERNEL);
	struct ib_pd *pd = make_pd(test);
	struct ib_qp *good = make_qp(test, pd, 1), *bad = make_qp(test, pd, 7);
	struct rdma_reject_scope scope;
	char text[RDMA_REJECT_TEXT];

	KUNIT_ASSERT_NOT_NULL(test, log);
	KUNIT_EXPECT_EQ(test, policy.asked, 0);
	KUNIT_EXPECT_EQ(test, to_init(good, 2), 0);
	KUNIT_EXPECT_EQ(test, policy.asked, 1);
	KUNIT_EXPECT_EQ(test, policy.prefix, PREFIX);
	KUNIT_EXPECT_EQ(test, to_init(bad, 1), 0);
	KUNIT_EXPECT_EQ(test, seen.modified, 2);

	rdma_reject_enter(log, &scope);
	KUNIT_EXPECT_EQ(test, to_init(bad, 2), -EACCES);
	rdma_reject_leave(&scope);
	rdma_reject_text(log, 0, text, sizeof(text));
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "0x8012"));
	KUNIT_EXPECT_EQ(test, to_init(bad, TEST_PKEYS), -EINVAL);
	KUNIT_EXPECT_EQ(test, seen.modified, 2);
	/* A modification without a new P_Key is not checked. */
	policy.asked = 0;
	KUNIT_EXPECT_EQ(test, to_state(bad, IB_QPS_RTR), 0);
	KUNIT_EXPECT_EQ(test, policy.asked, 0);
	ib_destroy_qp(good);
	ib_destroy_qp(bad);
	ib_dealloc_pd(pd);
}

static void alternate_paths_are_asked_for(struct kunit *test)
{
	struct ib_pd *pd = make_pd(test);
	struct ib_qp *qp = make_qp(test, pd, 7);

	KUNIT_EXPECT_EQ(test, to_init(qp, 0), 0);
	KUNIT_EXPECT_EQ(test, load_alternate(qp, 2), -EACCES);
	KUNIT_EXPECT_EQ(test, load_alternate(qp, 1), 0);
	/* The QP may have migrated to this path before another alternate path was loaded. */
	KUNIT_EXPECT_EQ(test, load_alternate(qp, 0), 0);
	KUNIT_EXPECT_EQ(test, seen.fatal, 0);
	change_pkey(test, 1, SECRET);
	KUNIT_EXPECT_EQ(test, seen.fatal, 1);
	KUNIT_EXPECT_EQ(test, seen.state, IB_QPS_ERR);
	ib_destroy_qp(qp);
	ib_dealloc_pd(pd);
}

static void new_pkey_stops_who_may_not_use_it(struct kunit *test)
{
	struct ib_pd *pd = make_pd(test);
	struct ib_qp *qp = make_qp(test, pd, 7), *other = make_qp(test, pd, 1);
	struct ib_qp *idle = make_qp(test, pd, 7);

	KUNIT_EXPECT_EQ(test, to_init(qp, 1), 0);
	KUNIT_EXPECT_EQ(test, to_init(other, 1), 0);
	KUNIT_EXPECT_EQ(test, to_init(idle, 0), 0);
	seen.modified = 0;
	change_pkey(test, 3, SECRET);
	KUNIT_EXPECT_EQ(test, seen.fatal, 0);
	change_pkey(test, 1, SECRET);
	KUNIT_EXPECT_EQ(test, seen.fatal, 1);
	KUNIT_EXPECT_EQ(test, seen.modified, 1);
	KUNIT_EXPECT_EQ(test, seen.state, IB_QPS_ERR);
	/* The event is reported only once. */
	change_pkey(test, 2, PUBLIC);
	KUNIT_EXPECT_EQ(test, seen.fatal, 1);
	KUNIT_EXPECT_EQ(test, seen.modified, 1);
	ib_destroy_qp(idle);
	ib_destroy_qp(other);
	ib_destroy_qp(qp);
	ib_dealloc_pd(pd);
}

/* A walk over the QPs that begins again after the last number there is ends with that QP. */
static void last_number_is_looked_at_once(struct kunit *test)
{
	struct ib_pd *pd = make_pd(test);

	seen.qpn = U32_MAX;
	policy.last = make_qp(test, pd, 7);
	KUNIT_EXPECT_EQ(test, policy.last->res.id, U32_MAX);
	KUNIT_EXPECT_EQ(test, to_init(policy.last, 1), 0);
	policy.asked = 0;
	change_pkey(test, 3, SECRET);
	KUNIT_EXPECT_EQ(test, policy.asked, 1);
	flush_work(&policy.end);
	if (policy.last)
		ib_destroy_qp(policy.last);
	ib_dealloc_pd(pd);
}

static void qp_that_was_reset_uses_nothing(struct kunit *test)
{
	struct ib_pd *pd = make_pd(test);
	struct ib_qp *qp = make_qp(test, pd, 7);

	KUNIT_EXPECT_EQ(test, to_init(qp, 1), 0);
	KUNIT_EXPECT_EQ(test, load_alternate(qp, 1), 0);
	KUNIT_EXPECT_EQ(test, to_state(qp, IB_QPS_RESET), 0);
	change_pkey(test, 1, SECRET);
	KUNIT_EXPECT_EQ(test, seen.fatal, 0);
	ib_destroy_qp(qp);
	ib_dealloc_pd(pd);
}

static void refused_modification_changes_nothing(struct kunit *test)
{
	struct ib_pd *pd = make_pd(test);
	struct ib_qp *qp = make_qp(test, pd, 7);

	KUNIT_EXPECT_EQ(test, to_init(qp, 1), 0);
	seen.refuse = -EIO;
	KUNIT_EXPECT_EQ(test, to_state(qp, IB_QPS_RESET), -EIO);
	KUNIT_EXPECT_EQ(test, load_alternate(qp, 0), -EIO);
	seen.refuse = 0;
	change_pkey(test, 1, SECRET);
	KUNIT_EXPECT_EQ(test, seen.fatal, 1);
	/* If the device does not move the QP to ERR, its user gets the event all the same. */
	change_pkey(test, 1, PUBLIC);
	KUNIT_EXPECT_EQ(test, to_init(qp, 1), 0);
	seen.refuse = -EIO;
	seen.state = IB_QPS_INIT;
	change_pkey(test, 1, SECRET);
	KUNIT_EXPECT_EQ(test, seen.fatal, 2);
	/* It is checked again. */
	seen.refuse = 0;
	change_pkey(test, 3, PUBLIC);
	KUNIT_EXPECT_EQ(test, seen.state, IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, seen.fatal, 3);
	change_pkey(test, 3, SECRET);
	KUNIT_EXPECT_EQ(test, seen.fatal, 3);
	ib_destroy_qp(qp);
	ib_dealloc_pd(pd);
}

static void all_who_share_a_qp_need_the_right(struct kunit *test)
{
	struct test_device *device = test->priv;
	struct ib_qp_init_attr attr = { .qp_type = IB_QPT_XRC_TGT, .event_handler = hear };
	struct ib_qp_open_attr open = { .qp_type = IB_QPT_XRC_TGT, .event_handler = hear };
	struct ib_qp *first, *second;

	attr.xrcd = ib_alloc_xrcd_user(&device->ib, NULL, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(attr.xrcd));
	policy.running = 1;
	first = ib_create_qp_user(&device->ib, NULL, &attr, NULL, NULL, KBUILD_MODNAME);
	KUNIT_ASSERT_FALSE(test, IS_ERR(first));
	KUNIT_EXPECT_EQ(test, to_init(first, 2), 0);

	policy.running = 7;
	open.qp_num = first->qp_num;
	KUNIT_EXPECT_PTR_EQ(test, ib_open_qp(attr.xrcd, &open), ERR_PTR(-EACCES));
	KUNIT_EXPECT_EQ(test, to_state(first, IB_QPS_RESET), 0);
	KUNIT_EXPECT_EQ(test, to_init(first, 1), 0);
	second = ib_open_qp(attr.xrcd, &open);
	KUNIT_ASSERT_FALSE(test, IS_ERR(second));
	KUNIT_EXPECT_EQ(test, to_init(first, 2), -EACCES);
	KUNIT_EXPECT_EQ(test, to_init(second, 2), -EACCES);
	change_pkey(test, 1, SECRET);
	KUNIT_EXPECT_EQ(test, seen.fatal, 2);
	/* A closed handle is not checked any more. */
	KUNIT_EXPECT_EQ(test, ib_close_qp(second), 0);
	KUNIT_EXPECT_EQ(test, to_init(first, 2), 0);
	KUNIT_EXPECT_EQ(test, ib_destroy_qp_user(first, NULL), 0);
	KUNIT_EXPECT_EQ(test, ib_dealloc_xrcd_user(attr.xrcd, NULL), 0);
}

static void security_module_may_refuse_the_qp(struct kunit *test)
{
	struct ib_qp_init_attr attr = { .qp_type = IB_QPT_RC };
	struct ib_pd *pd = make_pd(test);
	struct ib_qp *qp;

	policy.refuse_blob = -ENOMEM;
	KUNIT_EXPECT_PTR_EQ(test, ib_create_qp(pd, &attr), ERR_PTR(-ENOMEM));
	/* A special QP belongs to the MAD agents: the module is not called. */
	attr.qp_type = IB_QPT_GSI;
	attr.port_num = 1;
	policy.suspect = 0;
	qp = ib_create_qp(pd, &attr);
	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
	KUNIT_EXPECT_EQ(test, to_init(qp, 2), 0);
	KUNIT_EXPECT_EQ(test, policy.asked, 0);
	ib_destroy_qp(qp);
	ib_dealloc_pd(pd);
}

static struct kunit_case security_cases[] = {
	KUNIT_CASE(pkey_is_asked_for),
	KUNIT_CASE(alternate_paths_are_asked_for),
	KUNIT_CASE(new_pkey_stops_who_may_not_use_it),
	KUNIT_CASE(last_number_is_looked_at_once),
	KUNIT_CASE(qp_that_was_reset_uses_nothing),
	KUNIT_CASE(refused_modification_changes_nothing),
	KUNIT_CASE(all_who_share_a_qp_need_the_right),
	KUNIT_CASE(security_module_may_refuse_the_qp),
	{}
};

static struct kunit_suite security_suite = {
	.name = "ib_core_security",
	.init = played_init,
	.exit = played_exit,
	.test_cases = security_cases,
};

kunit_test_suite(security_suite);

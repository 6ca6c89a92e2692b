// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: multicast groups on InfiniBand, with a fake subnet manager.
 */
#include <kunit/static_stub.h>
#include <linux/iopoll.h>
#include <rdma/rdma_ext_cm.h>

#include "test_cma.h"

#define MLID 0xc123

/**
 * struct manager - the subnet manager
 * @test: the test
 * @sa: the membership that was asked for last
 * @rec: as what
 * @mask: what of @rec counts
 * @joins: memberships that were asked for
 * @leaves: and given back
 * @left: the one that was given back last
 * @refuses: error for the next
 * @nowhere: the interface is not in its broadcast group
 * @early: called with the id before the call that asks has returned
 */
struct manager {
	struct kunit *test;
	struct ib_sa_multicast *sa;
	struct ib_sa_mcmember_rec rec;
	ib_sa_comp_mask mask;
	unsigned int joins;
	unsigned int leaves;
	struct ib_sa_multicast *left;
	int refuses;
	bool nowhere;
	void (*early)(struct cma_id *id);
};

static struct manager manager;

static int play_broadcast_group(struct cma_id *id, struct ib_sa_mcmember_rec *rec)
{
	if (manager.nowhere)
		return -EADDRNOTAVAIL;
	*rec = (struct ib_sa_mcmember_rec) { .qkey = cpu_to_be32(0xb1b), .sl = 3, .mtu = 4 };
	return 0;
}

static struct ib_sa_multicast *play_join(struct cma_id *id, struct ib_sa_mcmember_rec *rec,
					 ib_sa_comp_mask mask, void *context)
{
	struct ib_sa_multicast *sa;

	if (manager.refuses)
		return ERR_PTR(manager.refuses);
	sa = kunit_kzalloc(manager.test, sizeof(*sa), GFP_KERNEL);
	if (!sa)
		return ERR_PTR(-ENOMEM);
	manager.joins++;
	manager.rec = *rec;
	manager.mask = mask;
	sa->rec = *rec;
	sa->rec.mlid = cpu_to_be16(MLID);
	sa->context = context;
	manager.sa = sa;
	if (manager.early)
		manager.early(id);
	return sa;
}

static void play_leave(struct ib_sa_multicast *sa)
{
	manager.leaves++;
	manager.left = sa;
	/* A handler that gives up ends here, in the id's work. */
	if (current->flags & PF_WQ_WORKER)
		current->kunit_test = NULL;
}

static void show_manager(struct kunit *test, bool there)
{
	struct cma_test *t = test->priv;

	for (u32 port_num = 1; port_num <= TEST_PORTS; port_num++) {
		u32 *flags = &t->device[0]->ib.port_data[port_num].immutable.core_cap_flags;

		*flags = there ? *flags | RDMA_CORE_CAP_IB_SA : *flags & ~RDMA_CORE_CAP_IB_SA;
	}
}

static int mcast_init(struct kunit *test)
{
	int ret = ct_init(test);

	if (ret)
		return ret;
	manager = (struct manager) { .test = test };
	kunit_activate_static_stub(test, cma_broadcast_group, play_broadcast_group);
	kunit_activate_static_stub(test, cma_sa_join, play_join);
	kunit_activate_static_stub(test, cma_sa_leave, play_leave);
	/* Other clients must not see that the ports have a manager: the device cannot send MADs. */
	ct_add_device(test->priv, 1);
	show_manager(test, true);
	return 0;
}

static void mcast_exit(struct kunit *test)
{
	struct cma_test *t = test->priv;

	if (t && t->device[0])
		show_manager(test, false);
	ct_exit(test);
	KUNIT_EXPECT_EQ(test, manager.joins, manager.leaves);
}

static struct consumer *datagrams(struct kunit *test, enum rdma_ucm_port_space ps)
{
	struct consumer *c = ct_consumer(test, ps, IB_QPT_UD);
	union ct_addr own = ct_ip4(0x0a000102, 0);

	KUNIT_ASSERT_EQ(test, rdma_bind_addr(c->id, &own.any), 0);
	ib_addr_set_pkey(&c->id->route.addr.dev_addr, 0x8003);
	return c;
}

static int join(struct consumer *c, union ct_addr group)
{
	return rdma_join_multicast(c->id, &group.any, BIT(FULLMEMBER_JOIN), &manager);
}

static void leave(struct consumer *c, union ct_addr group)
{
	rdma_leave_multicast(c->id, &group.any);
}

static union ct_addr group(void)
{
	return ct_ip4(0xef010203, 0);
}

static void answer(int status)
{
	KUNIT_EXPECT_EQ(manager.test, cma_sa_joined(status, manager.sa), 0);
}

/* ---- joining ---- */

static void joined(struct kunit *test)
{
	struct consumer *c = datagrams(test, RDMA_PS_UDP);
	union ib_gid gid;

	KUNIT_ASSERT_EQ(test, join(c, group()), 0);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(manager.rec.qkey), RDMA_UDP_QKEY);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(manager.rec.pkey), 0x8003);
	KUNIT_EXPECT_EQ(test, manager.rec.join_state, BIT(FULLMEMBER_JOIN));
	rdma_addr_get_sgid(&c->id->route.addr.dev_addr, &gid);
	KUNIT_EXPECT_MEMEQ(test, manager.rec.port_gid.raw, gid.raw, sizeof(gid.raw));
	KUNIT_EXPECT_FALSE(test, manager.mask & IB_SA_MCMEMBER_REC_MTU);
	KUNIT_EXPECT_TRUE(test, manager.mask & IB_SA_MCMEMBER_REC_SL);
	KUNIT_EXPECT_EQ(test, manager.rec.sl, 3);

	answer(0);
	ct_settle();
	KUNIT_ASSERT_EQ(test, c->calls, 1);
	KUNIT_EXPECT_EQ(test, c->events[0], RDMA_CM_EVENT_MULTICAST_JOIN);
	KUNIT_EXPECT_EQ(test, c->status[0], 0);
	KUNIT_EXPECT_PTR_EQ(test, c->last.param.ud.private_data, (const void *)&manager);
	KUNIT_EXPECT_EQ(test, c->last.param.ud.qp_num, 0xffffff);
	KUNIT_EXPECT_EQ(test, c->last.param.ud.qkey, RDMA_UDP_QKEY);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_dlid(&c->last.param.ud.ah_attr), MLID);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_sl(&c->last.param.ud.ah_attr), 3);

	/* A membership may be lost later. */
	answer(-ENETRESET);
	ct_settle();
	KUNIT_EXPECT_EQ(test, c->calls, 2);
	KUNIT_EXPECT_EQ(test, c->events[1], RDMA_CM_EVENT_MULTICAST_ERROR);
	KUNIT_EXPECT_EQ(test, c->status[1], -ENETRESET);
	KUNIT_EXPECT_PTR_EQ(test, c->last.param.ud.private_data, (const void *)&manager);
}

/* In PS_IPOIB groups and Q_Key are those of the interface. */
static void ipoib(struct kunit *test)
{
	struct consumer *c = datagrams(test, RDMA_PS_IPOIB);

	KUNIT_ASSERT_EQ(test, join(c, group()), 0);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(manager.rec.qkey), 0xb1b);
	KUNIT_EXPECT_TRUE(test, manager.mask & IB_SA_MCMEMBER_REC_MTU);
	KUNIT_EXPECT_TRUE(test, manager.mask & IB_SA_MCMEMBER_REC_HOP_LIMIT);
	answer(0);
	ct_settle();
	KUNIT_EXPECT_EQ(test, c->last.param.ud.qkey, 0xb1b);
}

/* ---- MGIDs ---- */

static void expect_mgid(struct kunit *test, enum rdma_ucm_port_space ps, union ct_addr addr,
			const u8 *mgid)
{
	struct consumer *c = datagrams(test, ps);

	KUNIT_ASSERT_EQ(test, join(c, addr), 0);
	KUNIT_EXPECT_MEMEQ(test, manager.rec.mgid.raw, mgid, 16);
}

static void mgids(struct kunit *test)
{
	static const u8 none[16];
	static const u8 udp4[16] = { 0xff, 0x10, 0x40, 0x01, 0x80, 0x03, [12] = 0x0f, 1, 2, 3 };
	static const u8 ipoib4[16] = { 0xff, 0x10, 0x40, 0x1b, 0x80, 0x03, [12] = 0x0f, 1, 2, 3 };
	static const u8 udp6[16] = { 0xff, 0x10, 0x60, 0x01, 0x80, 0x03, [15] = 0x77 };
	static const u8 ipoib6[16] = { 0xff, 0x10, 0x60, 0x1b, 0x80, 0x03, [15] = 0x77 };
	static const u8 chosen[16] = { 0xff, 0x12, 0xa0, 0x1b, [15] = 0x77 };
	union ct_addr ib = ct_ib(0, 0, 0, 0);

	expect_mgid(test, RDMA_PS_UDP, ct_ip4(0, 0), none);
	expect_mgid(test, RDMA_PS_UDP, group(), udp4);
	expect_mgid(test, RDMA_PS_IPOIB, group(), ipoib4);
	expect_mgid(test, RDMA_PS_UDP, ct_ip6(0xff0e0000, 0x77, 0), udp6);
	expect_mgid(test, RDMA_PS_IPOIB, ct_ip6(0xff0e0000, 0x77, 0), ipoib6);
	/* What the subnet manager chose before is an MGID, not an IPv6 group. */
	expect_mgid(test, RDMA_PS_UDP, ct_ip6(0xff12a01b, 0x77, 0), chosen);
	memcpy(&ib.ib.sib_addr, ipoib6, sizeof(ipoib6));
	expect_mgid(test, RDMA_PS_UDP, ib, ipoib6);
}

/* ---- leaving ---- */

static void left(struct kunit *test)
{
	struct consumer *c = datagrams(test, RDMA_PS_UDP);

	KUNIT_ASSERT_EQ(test, join(c, group()), 0);
	/* The answer waits for the handler when the group is left. */
	rdma_lock_handler(c->id);
	answer(0);
	leave(c, ct_ip4(0xef010204, 0));
	KUNIT_EXPECT_EQ(test, manager.leaves, 0);
	leave(c, group());
	KUNIT_EXPECT_EQ(test, manager.leaves, 1);
	rdma_unlock_handler(c->id);
	ct_settle();
	KUNIT_EXPECT_EQ(test, c->calls, 0);
	leave(c, group());
	KUNIT_EXPECT_EQ(test, manager.leaves, 1);
}

/* Of two groups of one address the one whose context is given is left; the other one stays. */
static void left_by_context(struct kunit *test)
{
	struct consumer *c = datagrams(test, RDMA_PS_UDP);
	union ct_addr addr = group();
	u8 contexts[2] = {};
	struct ib_sa_multicast *first;

	KUNIT_ASSERT_EQ(test, rdma_join_multicast(c->id, &addr.any, BIT(FULLMEMBER_JOIN),
						  &contexts[0]), 0);
	first = manager.sa;
	KUNIT_ASSERT_EQ(test, rdma_join_multicast(c->id, &addr.any, BIT(FULLMEMBER_JOIN),
						  &contexts[1]), 0);
	rdma_leave_multicast_of(c->id, &contexts[0]);
	KUNIT_EXPECT_EQ(test, manager.leaves, 1);
	KUNIT_EXPECT_PTR_EQ(test, manager.left, first);
	rdma_leave_multicast_of(c->id, &contexts[0]);
	KUNIT_EXPECT_EQ(test, manager.leaves, 1);
	answer(0);
	ct_settle();
	KUNIT_EXPECT_EQ(test, c->calls, 1);
	KUNIT_EXPECT_PTR_EQ(test, c->last.param.ud.private_data, (const void *)&contexts[1]);
}

static void leave_here(struct consumer *c)
{
	/* Static stubs apply to tasks that name the test: this one, too. */
	current->kunit_test = manager.test;
	leave(c, group());
	current->kunit_test = NULL;
}

static void left_in_handler(struct kunit *test)
{
	struct consumer *c = datagrams(test, RDMA_PS_UDP);

	KUNIT_ASSERT_EQ(test, join(c, group()), 0);
	c->hook = leave_here;
	answer(0);
	ct_settle();
	KUNIT_EXPECT_EQ(test, c->calls, 1);
	KUNIT_EXPECT_EQ(test, manager.leaves, 1);
}

static void be_played_to(struct consumer *c)
{
	current->kunit_test = manager.test;
}

/* The handler of the group's event may give the id up, and with it the group. */
static void destroyed_in_handler(struct kunit *test)
{
	struct consumer *c = datagrams(test, RDMA_PS_UDP);

	KUNIT_ASSERT_EQ(test, join(c, group()), 0);
	c->hook = be_played_to;
	c->ret = 1;
	answer(0);
	ct_settle();
	KUNIT_EXPECT_EQ(test, c->calls, 1);
	KUNIT_EXPECT_EQ(test, manager.leaves, 1);
}

/* ---- answers that come before the call that asks has returned ---- */

static void answer_early(struct cma_id *id)
{
	answer(0);
	ct_settle();
}

static void left_in_handler_early(struct kunit *test)
{
	struct consumer *c = datagrams(test, RDMA_PS_UDP);

	c->hook = leave_here;
	manager.early = answer_early;
	KUNIT_ASSERT_EQ(test, join(c, group()), 0);
	KUNIT_EXPECT_EQ(test, c->calls, 1);
	KUNIT_EXPECT_EQ(test, manager.leaves, 1);
	KUNIT_EXPECT_TRUE(test, list_empty(&ct_id(c)->mcasts));
}

/* Destruction waits for the call, and the call for all that destruction does before. */
static void answer_destroys(struct cma_id *id)
{
	int refs;

	KUNIT_EXPECT_EQ(manager.test, refcount_read(&id->refs), 2);
	answer(0);
	KUNIT_EXPECT_EQ(manager.test,
			read_poll_timeout(refcount_read, refs, refs == 1, 100, 20 * USEC_PER_SEC,
					  false, &id->refs), 0);
}

static void destroyed_in_handler_early(struct kunit *test)
{
	struct consumer *c = datagrams(test, RDMA_PS_UDP);

	c->ret = 1;
	manager.early = answer_destroys;
	KUNIT_EXPECT_EQ(test, join(c, group()), 0);
	ct_settle();
	KUNIT_EXPECT_EQ(test, c->calls, 1);
	KUNIT_EXPECT_EQ(test, manager.leaves, 1);
}

/* While an answer waits for the handler, a later one takes its place. */
static void two_answers(struct kunit *test)
{
	struct consumer *c = datagrams(test, RDMA_PS_UDP);

	KUNIT_ASSERT_EQ(test, join(c, group()), 0);
	rdma_lock_handler(c->id);
	answer(0);
	answer(-ENETRESET);
	rdma_unlock_handler(c->id);
	ct_settle();
	KUNIT_EXPECT_EQ(test, c->calls, 1);
	KUNIT_EXPECT_EQ(test, c->status[0], -ENETRESET);
}

/* ---- refusals ---- */

static void refusals(struct kunit *test)
{
	struct consumer *c = datagrams(test, RDMA_PS_IPOIB);
	struct consumer *rc = ct_consumer(test, RDMA_PS_TCP, IB_QPT_RC);
	union ct_addr own = ct_ip4(0x0a000101, 0), unknown = { .any.sa_family = AF_UNIX };
	struct ib_qp qp;

	KUNIT_EXPECT_EQ(test, rdma_bind_addr(rc->id, &own.any), 0);
	KUNIT_EXPECT_EQ(test, join(rc, group()), -EINVAL);
	KUNIT_EXPECT_EQ(test, join(c, unknown), -EINVAL);
	c->id->qp = &qp;
	KUNIT_EXPECT_EQ(test, join(c, group()), -EINVAL);
	c->id->qp = NULL;
	manager.nowhere = true;
	KUNIT_EXPECT_EQ(test, join(c, group()), -EADDRNOTAVAIL);
	manager.nowhere = false;
	manager.refuses = -EBUSY;
	KUNIT_EXPECT_EQ(test, join(c, group()), -EBUSY);
	manager.refuses = 0;
	show_manager(test, false);
	KUNIT_EXPECT_EQ(test, join(c, group()), -ENOSYS);
	show_manager(test, true);
	KUNIT_EXPECT_EQ(test, manager.joins, 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&ct_id(c)->mcasts));
}

/* The manager's Q_Key must be the id's. */
static void other_qkey(struct kunit *test)
{
	struct consumer *c = datagrams(test, RDMA_PS_UDP);

	KUNIT_ASSERT_EQ(test, join(c, group()), 0);
	manager.sa->rec.qkey = cpu_to_be32(0x7777);
	answer(0);
	ct_settle();
	KUNIT_EXPECT_EQ(test, c->events[0], RDMA_CM_EVENT_MULTICAST_ERROR);
	KUNIT_EXPECT_EQ(test, c->status[0], -EINVAL);
}

static struct kunit_case mcast_cases[] = {
	KUNIT_CASE(joined),
	KUNIT_CASE(ipoib),
	KUNIT_CASE(mgids),
	KUNIT_CASE(left),
	KUNIT_CASE(left_by_context),
	KUNIT_CASE(left_in_handler),
	KUNIT_CASE(destroyed_in_handler),
	KUNIT_CASE(left_in_handler_early),
	KUNIT_CASE(destroyed_in_handler_early),
	KUNIT_CASE(two_answers),
	KUNIT_CASE(refusals),
	KUNIT_CASE(other_qkey),
	{}
};

static struct kunit_suite mcast_suite = {
	.name = "rdma_cm_mcast",
	.init = mcast_init,
	.exit = mcast_exit,
	.test_cases = mcast_cases,
};

kunit_test_suite(mcast_suite);

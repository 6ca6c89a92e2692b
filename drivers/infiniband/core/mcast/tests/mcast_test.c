// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: multicast memberships, counted by join state, with a fake subnet manager that records the
 * joined states.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/prandom.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>

#include "../../sa/sa.h"
#include "../../sa/tests/fake_sa.h"
#include "../mcast_priv.h"

#define GROUPS 4
#define REFUSED 0x0300

/**
 * struct manager - the subnet manager, and counters of its requests
 * @fake: device
 * @states: join states of the port in each group, by the last byte of the MGID
 * @joins: number of Sets
 * @leaves: number of Deletes
 * @wrong: number of Deletes of states that were not joined
 * @status: status of its answers to joins
 * @silent: it does not answer
 * @created: number of groups whose MGID it has chosen
 * @failed: number of requests that have failed
 * @failed_at: when the first ones failed, in jiffies
 * @all_failed: completed when @failed_at is full
 */
struct manager {
	struct fake_sa *fake;
	u8 states[256];
	unsigned int joins;
	unsigned int leaves;
	unsigned int wrong;
	u16 status;
	bool silent;
	u8 created;
	unsigned int failed;
	unsigned long failed_at[4];
	struct completion all_failed;
};

/**
 * struct member - a consumer
 * @multicast: its membership, or NULL
 * @calls: number of calls of the callback
 * @status: status of the last call
 * @rec: record of the last call
 * @told: completed by each call
 * @give_up: return value of the callback
 */
struct member {
	struct ib_sa_multicast *multicast;
	unsigned int calls;
	int status;
	struct ib_sa_mcmember_rec rec;
	struct completion told;
	int give_up;
};

static struct ib_sa_client user;
static struct manager *now;

static void manage(struct fake_sa *fake, struct fake_mad *mad)
{
	struct ib_sa_mcmember_rec rec;
	u8 record[52];
	u16 status = 0;
	u8 *states;

	sa_unpack_mcmember(mad->mad.data, &rec);
	if (mad->mad.mad_hdr.method == IB_MGMT_METHOD_SET) {
		now->joins++;
		status = now->status;
		if (rdma_is_zero_gid(&rec.mgid)) {
			rec.mgid.raw[0] = 0xff;
			rec.mgid.raw[15] = 200 + now->created++;
		}
		states = &now->states[rec.mgid.raw[15]];
		if (!status)
			*states |= rec.join_state;
		rec.mlid = cpu_to_be16(0xc000 + rec.mgid.raw[15]);
		rec.pkey = cpu_to_be16(IB_DEFAULT_PKEY_FULL);
		rec.mtu = IB_MTU_2048;
	} else {
		now->leaves++;
		states = &now->states[rec.mgid.raw[15]];
		if ((*states & rec.join_state) != rec.join_state) {
			now->wrong++;
			status = REFUSED;
		}
		*states &= ~rec.join_state;
	}
	sa_pack_mcmember(&rec, record);
	fake_mad_answer(mad, status, record, sizeof(record));
}

/* A request does not reach the manager. */
static void fail(struct fake_sa *fake, struct fake_mad *mad)
{
	if (now->failed < ARRAY_SIZE(now->failed_at))
		now->failed_at[now->failed] = jiffies;
	if (++now->failed == ARRAY_SIZE(now->failed_at))
		complete(&now->all_failed);
	fake_mad_end(mad, IB_WC_GENERAL_ERR);
}

/* Answers the MAD that was posted first, which must exist. */
static void manage_posted(struct kunit *test)
{
	struct manager *m = test->priv;
	struct fake_mad *mad = fake_sa_posted(m->fake, 0);

	KUNIT_EXPECT_NOT_NULL(test, mad);
	if (mad)
		manage(m->fake, mad);
}

static int hear(int status, struct ib_sa_multicast *multicast)
{
	struct member *member = multicast->context;

	member->calls++;
	member->status = status;
	member->rec = multicast->rec;
	complete(&member->told);
	return member->give_up;
}

static void join_with(struct kunit *test, struct member *member, u8 group, u8 states,
		      const struct ib_sa_mcmember_rec *more, ib_sa_comp_mask mask)
{
	struct ib_sa_mcmember_rec rec = {};
	struct manager *m = test->priv;

	if (more)
		rec = *more;
	if (group)
		rec.mgid.raw[0] = 0xff;
	rec.mgid.raw[15] = group;
	rec.join_state = states;
	member->calls = 0;
	init_completion(&member->told);
	member->multicast = ib_sa_join_multicast(&user, &m->fake->ib, 1, &rec,
						 IB_SA_MCMEMBER_REC_MGID |
						 IB_SA_MCMEMBER_REC_JOIN_STATE | mask,
						 GFP_KERNEL, hear, member);
	KUNIT_ASSERT_FALSE(test, IS_ERR(member->multicast));
}

static void join(struct kunit *test, struct member *member, u8 group, u8 states)
{
	join_with(test, member, group, states, NULL, 0);
}

/* After a timeout the case goes on, so that its members leave: the device waits for them. */
static void wait(struct kunit *test, struct member *member)
{
	KUNIT_EXPECT_GT(test, wait_for_completion_timeout(&member->told, 30 * HZ), 0);
}

static void leave(struct member *member)
{
	ib_sa_free_multicast(member->multicast);
	member->multicast = NULL;
}

/* Waits until nothing is queued any more: works of groups and of the manager queue each other. */
static void settle(struct manager *m)
{
	unsigned int posts;

	do {
		posts = m->fake->posts;
		flush_workqueue(mcast_wq);
		fake_sa_settle(m->fake);
		flush_workqueue(mcast_wq);
	} while (posts != m->fake->posts);
}

static int mcast_test_init(struct kunit *test)
{
	struct manager *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, m);
	test->priv = m;
	now = m;
	init_completion(&m->all_failed);
	ib_sa_register_client(&user);
	m->fake = fake_sa_begin(test);
	m->fake->respond = manage;
	return 0;
}

static void mcast_test_exit(struct kunit *test)
{
	struct manager *m = test->priv;

	settle(m);
	fake_sa_end(test, m->fake);
	KUNIT_EXPECT_EQ(test, m->wrong, 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(m->states); i++)
		KUNIT_EXPECT_EQ(test, m->states[i], 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&user.users), 1);
	ib_sa_unregister_client(&user);
}

static void one_membership(struct kunit *test)
{
	struct manager *m = test->priv;
	struct ib_sa_mcmember_rec rec;
	struct member one = {}, two = {};
	union ib_gid mgid = { .raw = { [0] = 0xff, [15] = 1 } };

	KUNIT_EXPECT_EQ(test, ib_sa_get_mcmember_rec(&m->fake->ib, 1, &mgid, &rec),
			-EADDRNOTAVAIL);
	join(test, &one, 1, BIT(FULLMEMBER_JOIN));
	wait(test, &one);
	KUNIT_EXPECT_EQ(test, one.status, 0);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(one.rec.mlid), 0xc001);
	KUNIT_EXPECT_EQ(test, one.rec.join_state, 1);
	KUNIT_EXPECT_EQ(test, ib_sa_get_mcmember_rec(&m->fake->ib, 1, &mgid, &rec), 0);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(rec.mlid), 0xc001);
	/* A second member causes no request. */
	join(test, &two, 1, BIT(FULLMEMBER_JOIN));
	wait(test, &two);
	KUNIT_EXPECT_EQ(test, two.status, 0);
	KUNIT_EXPECT_EQ(test, m->joins, 1);
	leave(&one);
	settle(m);
	KUNIT_EXPECT_EQ(test, m->leaves, 0);
	/* Another join state causes one, and is left separately. */
	join(test, &one, 1, BIT(SENDONLY_NONMEBER_JOIN));
	wait(test, &one);
	KUNIT_EXPECT_EQ(test, m->joins, 2);
	KUNIT_EXPECT_EQ(test, m->states[1], 5);
	leave(&two);
	settle(m);
	KUNIT_EXPECT_EQ(test, m->leaves, 1);
	KUNIT_EXPECT_EQ(test, m->states[1], 4);
	leave(&one);
	settle(m);
	KUNIT_EXPECT_EQ(test, m->leaves, 2);
	KUNIT_EXPECT_EQ(test, ib_sa_get_mcmember_rec(&m->fake->ib, 1, &mgid, &rec),
			-EADDRNOTAVAIL);
	KUNIT_EXPECT_EQ(test, ib_sa_get_mcmember_rec(&m->fake->ib, 2, &mgid, &rec), -ENODEV);
}

static void created_groups(struct kunit *test)
{
	struct manager *m = test->priv;
	struct ib_sa_mcmember_rec rec;
	struct member one = {}, two = {};

	/* Each makes a group of its own, which is found by its chosen MGID. */
	join(test, &one, 0, BIT(FULLMEMBER_JOIN));
	join(test, &two, 0, BIT(FULLMEMBER_JOIN));
	wait(test, &one);
	wait(test, &two);
	KUNIT_EXPECT_EQ(test, m->joins, 2);
	KUNIT_EXPECT_NE(test, one.rec.mgid.raw[15], two.rec.mgid.raw[15]);
	KUNIT_EXPECT_EQ(test, ib_sa_get_mcmember_rec(&m->fake->ib, 1, &one.rec.mgid, &rec), 0);
	leave(&one);
	leave(&two);
	settle(m);
	KUNIT_EXPECT_EQ(test, m->leaves, 2);
}

static void refusals(struct kunit *test)
{
	struct ib_sa_mcmember_rec wanted = { .mtu_selector = IB_SA_GT, .mtu = IB_MTU_2048 };
	struct manager *m = test->priv;
	struct member one = {}, two = {};

	m->status = REFUSED;
	join(test, &one, 1, BIT(FULLMEMBER_JOIN));
	wait(test, &one);
	KUNIT_EXPECT_EQ(test, one.status, -EINVAL);
	leave(&one);
	/* The consumer may also end its membership by the callback's return value. */
	one.give_up = 1;
	join(test, &one, 1, BIT(FULLMEMBER_JOIN));
	wait(test, &one);
	settle(m);
	KUNIT_EXPECT_EQ(test, atomic_read(&user.users), 1);
	m->status = 0;
	join(test, &one, 1, BIT(FULLMEMBER_JOIN));
	wait(test, &one);
	settle(m);
	KUNIT_EXPECT_EQ(test, one.status, 0);
	KUNIT_EXPECT_EQ(test, m->states[1], 0);
	one.give_up = 0;
	/* The group does not have the attributes that the second member asks for. */
	join(test, &one, 1, BIT(FULLMEMBER_JOIN));
	wait(test, &one);
	join_with(test, &two, 1, BIT(FULLMEMBER_JOIN), &wanted,
		  IB_SA_MCMEMBER_REC_MTU_SELECTOR | IB_SA_MCMEMBER_REC_MTU);
	wait(test, &two);
	KUNIT_EXPECT_EQ(test, two.status, -EINVAL);
	leave(&two);
	leave(&one);
	/* There is no subnet manager. */
	m->fake->attr.sm_lid = 0;
	settle(m);
	fake_sa_event(m->fake, IB_EVENT_SM_CHANGE);
	join(test, &one, 1, BIT(FULLMEMBER_JOIN));
	wait(test, &one);
	KUNIT_EXPECT_EQ(test, one.status, -EAGAIN);
	leave(&one);
}

static void losses(struct kunit *test)
{
	static const enum ib_event_type causes[] = {
		IB_EVENT_PORT_ERR, IB_EVENT_LID_CHANGE, IB_EVENT_CLIENT_REREGISTER,
	};
	struct manager *m = test->priv;
	struct member one = {}, kept = {};

	for (unsigned int i = 0; i < ARRAY_SIZE(causes); i++) {
		join(test, &one, 1, BIT(FULLMEMBER_JOIN));
		join(test, &kept, 1, BIT(FULLMEMBER_JOIN) | BIT(SENDONLY_NONMEBER_JOIN));
		ib_sa_keep_multicast(kept.multicast);
		wait(test, &one);
		wait(test, &kept);
		/* The manager has lost the membership. */
		m->states[1] = 0;
		fake_sa_event(m->fake, causes[i]);
		wait(test, &one);
		KUNIT_EXPECT_EQ(test, one.status, -ENETRESET);
		wait(test, &kept);
		wait(test, &kept);
		KUNIT_EXPECT_EQ(test, kept.calls, 3);
		KUNIT_EXPECT_EQ(test, kept.status, 0);
		settle(m);
		KUNIT_EXPECT_EQ(test, one.calls, 2);
		KUNIT_EXPECT_EQ(test, m->states[1], 5);
		leave(&one);
		leave(&kept);
		settle(m);
		KUNIT_EXPECT_EQ(test, m->states[1], 0);
	}
	/* These events do not end the membership. */
	join(test, &one, 1, BIT(FULLMEMBER_JOIN));
	wait(test, &one);
	fake_sa_event(m->fake, IB_EVENT_SM_CHANGE);
	fake_sa_event(m->fake, IB_EVENT_PORT_ACTIVE);
	m->fake->pkey[3] = 0x8001;
	fake_sa_event(m->fake, IB_EVENT_PKEY_CHANGE);
	settle(m);
	KUNIT_EXPECT_EQ(test, one.calls, 1);
	/*
	 * The P_Key has moved. The manager still has the membership, so joining again changes
	 * nothing for it.
	 */
	m->fake->pkey[0] = IB_DEFAULT_PKEY_FULL;
	m->fake->pkey[1] = 0;
	fake_sa_event(m->fake, IB_EVENT_PKEY_CHANGE);
	wait(test, &one);
	KUNIT_EXPECT_EQ(test, one.status, -ENETRESET);
	leave(&one);
	settle(m);
	m->states[1] = 0;
}

/* Two members that join again and cannot: each asks once, and once more after 2 s. */
static void kept_members_wait(struct kunit *test)
{
	struct manager *m = test->priv;
	struct member one = {}, two = {};

	join(test, &one, 1, BIT(FULLMEMBER_JOIN));
	join(test, &two, 1, BIT(FULLMEMBER_JOIN));
	ib_sa_keep_multicast(one.multicast);
	ib_sa_keep_multicast(two.multicast);
	wait(test, &one);
	wait(test, &two);
	m->fake->respond = fail;
	m->states[1] = 0;
	fake_sa_event(m->fake, IB_EVENT_CLIENT_REREGISTER);
	wait(test, &one);
	wait(test, &two);
	KUNIT_EXPECT_GT(test, wait_for_completion_timeout(&m->all_failed, 30 * HZ), 0);
	KUNIT_EXPECT_LT(test, m->failed_at[1] - m->failed_at[0], 2 * HZ);
	KUNIT_EXPECT_GE(test, m->failed_at[2] - m->failed_at[1], 2 * HZ);
	KUNIT_EXPECT_LT(test, m->failed_at[3] - m->failed_at[2], 2 * HZ);
	m->fake->respond = manage;
	fake_sa_event(m->fake, IB_EVENT_SM_CHANGE);
	wait(test, &one);
	wait(test, &two);
	KUNIT_EXPECT_EQ(test, one.status, 0);
	KUNIT_EXPECT_EQ(test, two.status, 0);
	leave(&one);
	leave(&two);
	settle(m);
}

/*
 * The answer to a request from before a loss arrives after it: the manager may have lost the
 * membership.
 */
static void answered_after_loss(struct kunit *test)
{
	struct manager *m = test->priv;
	struct member one = {};

	m->fake->respond = NULL;
	join(test, &one, 1, BIT(FULLMEMBER_JOIN));
	flush_workqueue(mcast_wq);
	fake_sa_event(m->fake, IB_EVENT_CLIENT_REREGISTER);
	flush_workqueue(mcast_wq);
	manage_posted(test);
	m->states[1] = 0;
	flush_workqueue(mcast_wq);
	KUNIT_EXPECT_EQ(test, one.calls, 0);
	m->fake->respond = manage;
	manage_posted(test);
	wait(test, &one);
	KUNIT_EXPECT_EQ(test, one.status, 0);
	KUNIT_EXPECT_EQ(test, m->joins, 2);
	KUNIT_EXPECT_EQ(test, m->states[1], BIT(FULLMEMBER_JOIN));
	leave(&one);
	settle(m);
}

/* A group whose MGID the manager has chosen keeps it when the membership is lost. */
static void created_group_lost(struct kunit *test)
{
	struct manager *m = test->priv;
	struct ib_sa_mcmember_rec rec;
	struct member kept = {};
	union ib_gid mgid;

	/* The loss comes before the member has received its MGID, ... */
	m->fake->respond = NULL;
	join(test, &kept, 0, BIT(FULLMEMBER_JOIN));
	ib_sa_keep_multicast(kept.multicast);
	flush_workqueue(mcast_wq);
	fake_sa_event(m->fake, IB_EVENT_LID_CHANGE);
	flush_workqueue(mcast_wq);
	manage_posted(test);
	flush_workqueue(mcast_wq);
	KUNIT_EXPECT_EQ(test, kept.calls, 0);
	m->fake->respond = manage;
	manage_posted(test);
	wait(test, &kept);
	KUNIT_EXPECT_EQ(test, kept.status, 0);
	KUNIT_EXPECT_EQ(test, m->created, 1);
	mgid = kept.rec.mgid;
	KUNIT_EXPECT_EQ(test, m->states[mgid.raw[15]], BIT(FULLMEMBER_JOIN));

	/* ... and afterwards, when the manager has lost everything. */
	m->states[mgid.raw[15]] = 0;
	fake_sa_event(m->fake, IB_EVENT_CLIENT_REREGISTER);
	wait(test, &kept);
	wait(test, &kept);
	KUNIT_EXPECT_EQ(test, kept.status, 0);
	KUNIT_EXPECT_EQ(test, m->created, 1);
	KUNIT_EXPECT_EQ(test, m->states[mgid.raw[15]], BIT(FULLMEMBER_JOIN));
	KUNIT_EXPECT_MEMEQ(test, &kept.rec.mgid, &mgid, sizeof(mgid));
	KUNIT_EXPECT_EQ(test, be16_to_cpu(kept.rec.mlid), 0xc000 + mgid.raw[15]);
	KUNIT_EXPECT_EQ(test, ib_sa_get_mcmember_rec(&m->fake->ib, 1, &mgid, &rec), 0);
	leave(&kept);
	settle(m);
}

/* A member that leaves before it has joined takes no join states of another member away. */
static void left_before_joined(struct kunit *test)
{
	struct manager *m = test->priv;
	struct member one = {}, asks = {}, waits = {};

	join(test, &one, 1, BIT(FULLMEMBER_JOIN));
	wait(test, &one);
	/*
	 * The manager does not answer: a second member has sent a request, and a third one is
	 * queued behind it.
	 */
	m->fake->respond = NULL;
	join(test, &asks, 1, BIT(FULLMEMBER_JOIN) | BIT(SENDONLY_NONMEBER_JOIN));
	join(test, &waits, 1, BIT(FULLMEMBER_JOIN));
	flush_workqueue(mcast_wq);
	leave(&waits);
	KUNIT_EXPECT_EQ(test, waits.calls, 0);
	m->fake->respond = manage;
	manage_posted(test);
	wait(test, &asks);
	leave(&asks);
	settle(m);
	KUNIT_EXPECT_EQ(test, m->states[1], BIT(FULLMEMBER_JOIN));
	leave(&one);
	settle(m);
	KUNIT_EXPECT_EQ(test, m->states[1], 0);
}

static void removed_while_joining(struct kunit *test)
{
	struct manager *m = test->priv;
	struct fake_sa *fake = m->fake;
	struct member one = {};

	/* The manager does not answer, and the member leaves before the late answer. */
	fake->respond = NULL;
	join(test, &one, 1, BIT(FULLMEMBER_JOIN));
	flush_workqueue(mcast_wq);
	leave(&one);
	KUNIT_EXPECT_EQ(test, one.calls, 0);
	manage_posted(test);
	flush_workqueue(mcast_wq);
	/* The port has joined, so it leaves. */
	KUNIT_ASSERT_NOT_NULL(test, fake_sa_posted(fake, 0));
	KUNIT_EXPECT_EQ(test, fake_sa_posted(fake, 0)->mad.mad_hdr.method, IB_SA_METHOD_DELETE);
	/* The device is removed without waiting for the answer. */
	m->states[1] = 0;
	ib_unregister_device(&fake->ib);
	KUNIT_EXPECT_EQ(test, m->leaves, 0);
}

/*
 * At all times the manager has the join states of the members, and no others once they have
 * settled.
 */
#define MEMBERS 24
#define STEPS 1500

static void at_random(struct kunit *test)
{
	struct member *members = kunit_kcalloc(test, MEMBERS, sizeof(*members), GFP_KERNEL);
	u8 *asked = kunit_kzalloc(test, MEMBERS * 2, GFP_KERNEL);
	struct manager *m = test->priv;
	unsigned int differ = 0, unheard = 0;
	struct rnd_state rnd;

	KUNIT_ASSERT_TRUE(test, members && asked);
	prandom_seed_state(&rnd, 38);
	for (unsigned int step = 0; step < STEPS; step++) {
		unsigned int who = prandom_u32_state(&rnd) % MEMBERS;
		struct member *member = &members[who];
		u8 want[GROUPS + 1] = {};

		if (member->multicast) {
			leave(member);
			asked[2 * who] = 0;
		} else {
			asked[2 * who] = 1 + prandom_u32_state(&rnd) % GROUPS;
			asked[2 * who + 1] = 1 + prandom_u32_state(&rnd) % 15;
			join(test, member, asked[2 * who], asked[2 * who + 1]);
		}
		if (prandom_u32_state(&rnd) % 16)
			continue;
		settle(m);
		for (unsigned int i = 0; i < MEMBERS; i++) {
			if (!members[i].multicast)
				continue;
			want[asked[2 * i]] |= asked[2 * i + 1];
			unheard += members[i].calls != 1 || members[i].status;
		}
		for (unsigned int i = 1; i <= GROUPS; i++)
			differ += m->states[i] != want[i];
	}
	KUNIT_EXPECT_EQ(test, differ, 0);
	KUNIT_EXPECT_EQ(test, unheard, 0);
	KUNIT_EXPECT_GT(test, m->joins, STEPS / 20);
	for (unsigned int i = 0; i < MEMBERS; i++)
		if (members[i].multicast)
			leave(&members[i]);
}

static void addresses(struct kunit *test)
{
	struct manager *m = test->priv;
	struct ib_sa_mcmember_rec rec = { .mlid = cpu_to_be16(0xc123), .sl = 5, .hop_limit = 2 };
	struct rdma_ah_attr attr;

	rec.mgid.raw[0] = 0xff;
	KUNIT_EXPECT_EQ(test, ib_init_ah_from_mcmember(&m->fake->ib, 1, &rec, NULL,
						       IB_GID_TYPE_IB, &attr), -ENOENT);
	rdma_query_gid(&m->fake->ib, 1, 0, &rec.port_gid);
	KUNIT_ASSERT_EQ(test, ib_init_ah_from_mcmember(&m->fake->ib, 1, &rec, NULL,
						       IB_GID_TYPE_IB, &attr), 0);
	KUNIT_EXPECT_EQ(test, attr.ib.dlid, 0xc123);
	KUNIT_EXPECT_EQ(test, attr.sl, 5);
	KUNIT_EXPECT_EQ(test, attr.ah_flags, IB_AH_GRH);
	KUNIT_EXPECT_EQ(test, attr.grh.dgid.raw[0], 0xff);
	KUNIT_EXPECT_EQ(test, attr.grh.hop_limit, 2);
	rdma_destroy_ah_attr(&attr);
}

static void suiting(struct kunit *test)
{
	struct ib_sa_mcmember_rec group = { .mtu = 4, .rate = 7, .packet_life_time = 18 };
	struct ib_sa_mcmember_rec want = { .mtu_selector = IB_SA_EQ, .mtu = 4 };
	ib_sa_comp_mask mtu = IB_SA_MCMEMBER_REC_MTU_SELECTOR | IB_SA_MCMEMBER_REC_MTU;

	KUNIT_EXPECT_TRUE(test, mcast_suits(&group, &want, mtu));
	want.mtu_selector = IB_SA_GT;
	KUNIT_EXPECT_FALSE(test, mcast_suits(&group, &want, mtu));
	KUNIT_EXPECT_TRUE(test, mcast_suits(&group, &want, IB_SA_MCMEMBER_REC_MTU));
	want.mtu = 3;
	KUNIT_EXPECT_TRUE(test, mcast_suits(&group, &want, mtu));
	want.mtu_selector = IB_SA_LT;
	KUNIT_EXPECT_FALSE(test, mcast_suits(&group, &want, mtu));
	want.mtu_selector = IB_SA_BEST;
	KUNIT_EXPECT_TRUE(test, mcast_suits(&group, &want, mtu));
	want.qkey = cpu_to_be32(1);
	KUNIT_EXPECT_TRUE(test, mcast_suits(&group, &want, 0));
	KUNIT_EXPECT_FALSE(test, mcast_suits(&group, &want, IB_SA_MCMEMBER_REC_QKEY));
	want.port_gid.raw[15] = 1;
	KUNIT_EXPECT_FALSE(test, mcast_suits(&group, &want, IB_SA_MCMEMBER_REC_PORT_GID));
	want.rate_selector = IB_SA_LT;
	want.rate = 8;
	KUNIT_EXPECT_TRUE(test, mcast_suits(&group, &want, IB_SA_MCMEMBER_REC_RATE_SELECTOR |
					    IB_SA_MCMEMBER_REC_RATE));
}

static struct kunit_case mcast_cases[] = {
	KUNIT_CASE(one_membership),
	KUNIT_CASE(created_groups),
	KUNIT_CASE(refusals),
	KUNIT_CASE(losses),
	KUNIT_CASE_SLOW(kept_members_wait),
	KUNIT_CASE(answered_after_loss),
	KUNIT_CASE(created_group_lost),
	KUNIT_CASE(left_before_joined),
	KUNIT_CASE(removed_while_joining),
	KUNIT_CASE(at_random),
	KUNIT_CASE(addresses),
	KUNIT_CASE(suiting),
	{}
};

static struct kunit_suite mcast_suite = {
	.name = "ib_core_mcast",
	.init = mcast_test_init,
	.exit = mcast_test_exit,
	.test_cases = mcast_cases,
};

kunit_test_suite(mcast_suite);

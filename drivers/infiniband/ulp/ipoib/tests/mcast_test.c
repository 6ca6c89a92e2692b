// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: groups, from the question to the subnet manager on. The test gives its answers, and does
 * the groups' work when it wants to.
 */
#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <net/sch_generic.h>

#include "../mcast.h"
#include "../ud.h"
#include "bed.h"

/* Ways to be a member, as the subnet manager knows them. */
#define FULL		1
#define SEND_ONLY	8

/* What the broadcast group is like. */
#define QKEY		0xb1b
#define TCLASS		7
#define MLID		0xc001

/**
 * struct played - what the device and the subnet manager do; cases run one after the other
 * @state: of the port
 * @asked: group of the last question
 * @rec: what was wanted
 * @mask: and what of that counts
 * @asks: questions so far
 * @ask_error: of the next ones
 * @attached: how often the QP was attached
 * @attach_error: of doing so
 * @no_address: there are none
 * @forgotten: memberships that were given back
 * @qkey: of the QP
 * @up: how often the carrier was to be turned on
 * @mc: all memberships' handle
 */
static struct played {
	enum ib_port_state state;
	struct ipoib_group *asked;
	struct ib_sa_mcmember_rec rec;
	ib_sa_comp_mask mask;
	unsigned int asks;
	int ask_error;
	unsigned int attached;
	int attach_error;
	bool no_address;
	unsigned int forgotten;
	u32 qkey;
	unsigned int up;
	struct ib_sa_multicast mc;
} played;

/**
 * struct bench - what a test has; kunit->priv
 * @bed: a device and its interface
 * @work: the groups' work
 */
struct bench {
	struct ipoib_bed bed;
	work_func_t work;
};

static const u8 broadcast[IPOIB_ADDR_LEN] = {
	0x00, 0xff, 0xff, 0xff, 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, [16] = 0xff, 0xff, 0xff, 0xff
};

/* A group of IPv4, of the same scope */
static const u8 group_addr[IPOIB_ADDR_LEN] = {
	0x00, 0xff, 0xff, 0xff, 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, [16] = 0x0f, 0x4e, 0x01, 0x01
};

static int play_query_port(struct ib_device *ca, u32 port, struct ib_port_attr *attr)
{
	attr->state = played.state;
	attr->lid = 17;
	attr->subnet_prefix = 1;
	return 0;
}

static struct ib_sa_multicast *play_ask(struct ipoib_group *group, struct ib_sa_mcmember_rec *rec,
					ib_sa_comp_mask mask)
{
	played.asked = group;
	played.rec = *rec;
	played.mask = mask;
	played.asks++;
	return played.ask_error ? ERR_PTR(played.ask_error) : &played.mc;
}

static void play_forget(struct ib_sa_multicast *mc)
{
	played.forgotten++;
}

static struct ipoib_ah *play_make_ah(struct ipoib_group *group)
{
	return played.no_address ? NULL : kzalloc(sizeof(struct ipoib_ah), GFP_KERNEL);
}

static int play_attach(struct ipoib_group *group, bool set_qkey)
{
	if (set_qkey)
		played.qkey = be32_to_cpu(group->rec.qkey);
	if (!played.attach_error)
		played.attached++;
	return played.attach_error;
}

static void count_up(struct work_struct *work)
{
	struct ipoib_dev *ipoib = container_of(work, struct ipoib_dev, link_work);

	played.up++;
	dev_put(ipoib->netdev);
}

static int mcast_init(struct kunit *test)
{
	struct bench *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);
	struct net_device *netdev;
	struct ipoib_dev *ipoib;

	KUNIT_ASSERT_NOT_NULL(test, b);
	ipoib_bed_init(test, &b->bed);
	ipoib = b->bed.ipoib;
	netdev = ipoib->netdev;
	/* as registering it would */
	spin_lock_init(&netdev->addr_list_lock);
	netdev->addr_len = IPOIB_ADDR_LEN;
	memcpy(netdev->broadcast, broadcast, sizeof(broadcast));
	/* Packets that go through the transmit queue again end there. */
	rcu_assign_pointer(netdev_get_tx_queue(netdev, 0)->qdisc, &noop_qdisc);
	b->bed.ca->ops.query_port = play_query_port;
	ipoib->pkey = 0xffff;
	ipoib->gid.global.interface_id = cpu_to_be64(5);
	set_bit(IPOIB_GUID_FOUND, &ipoib->flags);
	KUNIT_ASSERT_EQ(test, ipoib_mcast_init(ipoib), 0);
	b->work = ipoib->group_work.work.func;
	INIT_DELAYED_WORK(&ipoib->group_work, ipoib_bed_no_work);
	INIT_DELAYED_WORK(&ipoib->ah_work, ipoib_bed_no_work);
	INIT_WORK(&ipoib->link_work, count_up);
	memset(&played, 0, sizeof(played));
	played.state = IB_PORT_ACTIVE;
	kunit_activate_static_stub(test, ipoib_mcast_ask, play_ask);
	kunit_activate_static_stub(test, ipoib_mcast_forget, play_forget);
	kunit_activate_static_stub(test, ipoib_mcast_make_ah, play_make_ah);
	kunit_activate_static_stub(test, ipoib_mcast_attach, play_attach);
	test->priv = b;
	ipoib_mcast_start(ipoib);
	return 0;
}

static void mcast_exit(struct kunit *test)
{
	struct bench *b = test->priv;
	struct ipoib_ah *ah, *next;

	if (!b)
		return;
	ipoib_mcast_end(b->bed.ipoib);
	flush_work(&b->bed.ipoib->link_work);
	dev_mc_flush(b->bed.ipoib->netdev);
	cancel_delayed_work_sync(&b->bed.ipoib->ah_work);
	list_for_each_entry_safe(ah, next, &b->bed.ipoib->ah_idle, entry)
		kfree(ah);
}

static void work(struct kunit *test)
{
	struct bench *b = test->priv;

	b->work(&b->bed.ipoib->group_work.work);
}

/* The subnet manager answers the last question. */
static void answer(struct kunit *test, int status)
{
	played.mc.context = played.asked;
	played.mc.rec = played.rec;
	played.mc.rec.mlid = cpu_to_be16(MLID);
	if (!played.rec.qkey) {
		played.mc.rec.qkey = cpu_to_be32(QKEY);
		played.mc.rec.mtu = IB_MTU_2048;
		played.mc.rec.traffic_class = TCLASS;
		played.mc.rec.sl = 3;
	}
	KUNIT_EXPECT_EQ(test, ipoib_mcast_answered(status, &played.mc), 0);
	work(test);
}

/* The interface is a member of its broadcast group. */
static void join_broadcast(struct kunit *test)
{
	struct bench *b = test->priv;

	work(test);
	KUNIT_ASSERT_EQ(test, played.asks, 1);
	answer(test, 0);
	KUNIT_ASSERT_TRUE(test, ipoib_mcast_joined(b->bed.ipoib));
}

/* A packet for the group; which allocation fails, 0 for none */
static void send_without(struct kunit *test, unsigned int nth)
{
	struct bench *b = test->priv;
	struct sk_buff *skb = alloc_skb(100, GFP_KERNEL);
	union ib_gid mgid;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_put_zero(skb, 64);
	memcpy(mgid.raw, ipoib_addr_gid(group_addr), sizeof(mgid));
	rcu_read_lock_bh();
	ipoib_bed_fail(nth);
	ipoib_mcast_send(b->bed.ipoib, skb, &mgid);
	ipoib_bed_fail(0);
	rcu_read_unlock_bh();
}

static void send(struct kunit *test)
{
	send_without(test, 0);
}

static unsigned long dropped(struct kunit *test)
{
	struct bench *b = test->priv;

	return DEV_STATS_READ(b->bed.ipoib->netdev, tx_dropped);
}

/* Time passes until the group may be asked for again. */
static void wait_for_retry(struct ipoib_group *group)
{
	group->retry = jiffies;
}

/* All datagrams are as the broadcast group says. */
static void follows_broadcast(struct kunit *test)
{
	struct bench *b = test->priv;
	struct ipoib_dev *ipoib = b->bed.ipoib;

	work(test);
	KUNIT_EXPECT_MEMEQ(test, &played.rec.mgid, ipoib_addr_gid(broadcast), 16);
	KUNIT_EXPECT_MEMEQ(test, &played.rec.port_gid, &ipoib->gid, 16);
	KUNIT_EXPECT_EQ(test, played.rec.join_state, FULL);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(played.rec.pkey), 0xffff);
	KUNIT_EXPECT_FALSE(test, !!(played.mask & IB_SA_MCMEMBER_REC_QKEY));
	KUNIT_EXPECT_FALSE(test, ipoib_mcast_joined(ipoib));
	KUNIT_EXPECT_EQ(test, played.attached, 0);
	answer(test, 0);
	KUNIT_EXPECT_TRUE(test, ipoib_mcast_joined(ipoib));
	KUNIT_EXPECT_EQ(test, played.attached, 1);
	KUNIT_EXPECT_EQ(test, played.qkey, QKEY);
	KUNIT_EXPECT_EQ(test, ipoib->traffic_class, TCLASS);
	KUNIT_EXPECT_EQ(test, ipoib->group_mtu, 2044);
	KUNIT_EXPECT_EQ(test, ipoib->lid, 17);
	flush_work(&ipoib->link_work);
	KUNIT_EXPECT_EQ(test, played.up, 1);
	work(test);
	KUNIT_EXPECT_EQ(test, played.asks, 1);
}

/* Nobody is asked while the port is not active, or has not the own GUID. */
static void port_not_ready(struct kunit *test)
{
	struct bench *b = test->priv;

	played.state = IB_PORT_INIT;
	work(test);
	KUNIT_EXPECT_EQ(test, played.asks, 0);
	played.state = IB_PORT_ACTIVE;
	clear_bit(IPOIB_GUID_FOUND, &b->bed.ipoib->flags);
	work(test);
	KUNIT_EXPECT_EQ(test, played.asks, 0);
	set_bit(IPOIB_GUID_FOUND, &b->bed.ipoib->flags);
	work(test);
	KUNIT_EXPECT_EQ(test, played.asks, 1);
}

/* It is asked again after 1, 2, 4, 8 seconds, and from then on every 16. */
static void backs_off(struct kunit *test)
{
	static const unsigned int seconds[] = { 1, 2, 4, 8, 16, 16 };
	struct ipoib_group *group;

	work(test);
	group = played.asked;
	for (int i = 0; i < ARRAY_SIZE(seconds); i++) {
		unsigned long begun = jiffies;

		KUNIT_EXPECT_EQ(test, played.asks, i + 1);
		answer(test, -ETIMEDOUT);
		KUNIT_EXPECT_EQ(test, played.forgotten, i + 1);
		KUNIT_EXPECT_EQ(test, played.asks, i + 1);
		KUNIT_EXPECT_GE(test, (long)(group->retry - begun), (long)(seconds[i] * HZ));
		KUNIT_EXPECT_LE(test, (long)(group->retry - jiffies), (long)(seconds[i] * HZ));
		wait_for_retry(group);
		work(test);
	}
	answer(test, 0);
	KUNIT_EXPECT_EQ(test, group->backoff, 1);
	KUNIT_EXPECT_EQ(test, played.attached, 1);
}

/* Whatever there is no memory for is tried again: the question, the attachment, the address. */
static void without_memory(struct kunit *test)
{
	struct bench *b = test->priv;

	played.ask_error = -ENOMEM;
	work(test);
	KUNIT_EXPECT_EQ(test, played.asks, 1);
	KUNIT_EXPECT_EQ(test, played.asked->state, IPOIB_GROUP_IDLE);
	KUNIT_EXPECT_NULL(test, played.asked->mc);
	played.ask_error = 0;
	wait_for_retry(played.asked);
	work(test);
	KUNIT_EXPECT_EQ(test, played.asks, 2);

	played.attach_error = -ENOMEM;
	answer(test, 0);
	KUNIT_EXPECT_EQ(test, played.forgotten, 1);
	played.attach_error = 0;
	wait_for_retry(played.asked);
	work(test);

	played.no_address = true;
	answer(test, 0);
	KUNIT_EXPECT_EQ(test, played.forgotten, 2);
	KUNIT_EXPECT_FALSE(test, ipoib_mcast_joined(b->bed.ipoib));
	played.no_address = false;
	wait_for_retry(played.asked);
	work(test);
	answer(test, 0);
	KUNIT_EXPECT_TRUE(test, ipoib_mcast_joined(b->bed.ipoib));
}

#ifdef CONFIG_FAILSLAB
/* So is the group itself: it is not there, and comes with the next work. */
static void group_without_memory(struct kunit *test)
{
	struct bench *b = test->priv;

	ipoib_bed_fail(1);
	work(test);
	ipoib_bed_fail(0);
	KUNIT_EXPECT_NULL(test, b->bed.ipoib->broadcast);
	KUNIT_EXPECT_EQ(test, played.asks, 0);
	join_broadcast(test);

	/* A packet whose group there is no memory for is dropped. */
	send_without(test, 1);
	work(test);
	KUNIT_EXPECT_EQ(test, dropped(test), 1);
	KUNIT_EXPECT_EQ(test, played.asks, 1);
}
#endif

/* The subnet manager has lost the membership: another is asked for at once. */
static void lost(struct kunit *test)
{
	struct bench *b = test->priv;

	join_broadcast(test);
	KUNIT_EXPECT_EQ(test, ipoib_mcast_answered(-ENETRESET, &played.mc), 0);
	KUNIT_EXPECT_FALSE(test, ipoib_mcast_joined(b->bed.ipoib));
	work(test);
	KUNIT_EXPECT_EQ(test, played.forgotten, 1);
	KUNIT_EXPECT_EQ(test, played.asks, 2);
	answer(test, 0);
	KUNIT_EXPECT_TRUE(test, ipoib_mcast_joined(b->bed.ipoib));
}

/* Loss and a late answer: the loss counts. */
static void lost_while_answered(struct kunit *test)
{
	struct bench *b = test->priv;

	join_broadcast(test);
	ipoib_mcast_answered(-ENETRESET, &played.mc);
	ipoib_mcast_answered(0, &played.mc);
	KUNIT_EXPECT_FALSE(test, ipoib_mcast_joined(b->bed.ipoib));
	work(test);
	KUNIT_EXPECT_EQ(test, played.asks, 2);
}

/* Who only sends to a group joins it so, and its packets wait, until that has failed twice. */
static void send_only(struct kunit *test)
{
	struct bench *b = test->priv;
	struct ipoib_group *group;

	/* Before there is a broadcast group nobody knows what groups are like. */
	send(test);
	KUNIT_EXPECT_EQ(test, dropped(test), 1);
	join_broadcast(test);
	for (int i = 0; i <= IPOIB_GROUP_QUEUE; i++)
		send(test);
	KUNIT_EXPECT_EQ(test, dropped(test), 2);
	work(test);
	KUNIT_ASSERT_EQ(test, played.asks, 2);
	group = played.asked;
	KUNIT_EXPECT_EQ(test, played.rec.join_state, SEND_ONLY);
	KUNIT_EXPECT_TRUE(test, !!(played.mask & IB_SA_MCMEMBER_REC_QKEY));
	KUNIT_EXPECT_EQ(test, be32_to_cpu(played.rec.qkey), QKEY);
	KUNIT_EXPECT_EQ(test, played.rec.mtu, IB_MTU_2048);
	KUNIT_EXPECT_EQ(test, played.rec.traffic_class, TCLASS);
	KUNIT_EXPECT_EQ(test, played.rec.sl, 3);
	answer(test, -EINVAL);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&group->queue), IPOIB_GROUP_QUEUE);
	wait_for_retry(group);
	work(test);
	KUNIT_ASSERT_EQ(test, played.asks, 3);
	answer(test, -EINVAL);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&group->queue), 0);
	KUNIT_EXPECT_EQ(test, dropped(test), IPOIB_GROUP_QUEUE + 2);

	/* There is nothing to be sent, so nothing is asked. */
	wait_for_retry(group);
	work(test);
	KUNIT_EXPECT_EQ(test, played.asks, 3);
	send(test);
	work(test);
	KUNIT_ASSERT_EQ(test, played.asks, 4);
	answer(test, 0);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&group->queue), 0);
	KUNIT_EXPECT_EQ(test, played.attached, 1);
	KUNIT_EXPECT_NOT_NULL(test, rcu_access_pointer(group->ah));

	/* It is left when nobody has sent to it for some time. */
	ipoib_mcast_age(b->bed.ipoib, 600 * HZ);
	work(test);
	KUNIT_EXPECT_EQ(test, b->bed.ipoib->groups.count, 2);
	group->used = jiffies - 700 * HZ;
	ipoib_mcast_age(b->bed.ipoib, 600 * HZ);
	work(test);
	KUNIT_EXPECT_EQ(test, b->bed.ipoib->groups.count, 1);
}

/* The stack wants to receive what was only sent so far; later it does not any more. */
static void send_only_to_full(struct kunit *test)
{
	struct bench *b = test->priv;
	struct ipoib_dev *ipoib = b->bed.ipoib;
	unsigned int forgotten;

	join_broadcast(test);
	send(test);
	work(test);
	answer(test, 0);
	KUNIT_EXPECT_EQ(test, played.attached, 1);
	forgotten = played.forgotten;

	KUNIT_ASSERT_EQ(test, dev_mc_add(ipoib->netdev, group_addr), 0);
	ipoib_mcast_sync(ipoib);
	work(test);
	KUNIT_EXPECT_EQ(test, played.forgotten, forgotten + 1);
	KUNIT_ASSERT_EQ(test, played.asks, 3);
	KUNIT_EXPECT_EQ(test, played.rec.join_state, FULL);
	answer(test, 0);
	KUNIT_EXPECT_EQ(test, played.attached, 2);

	KUNIT_ASSERT_EQ(test, dev_mc_del(ipoib->netdev, group_addr), 0);
	ipoib_mcast_sync(ipoib);
	work(test);
	KUNIT_EXPECT_EQ(test, played.forgotten, forgotten + 2);
	KUNIT_EXPECT_EQ(test, ipoib->groups.count, 1);
	KUNIT_EXPECT_TRUE(test, ipoib_mcast_joined(ipoib));
}

/* A group of another scope is not joined for the stack. */
static void foreign(struct kunit *test)
{
	struct bench *b = test->priv;
	u8 addr[IPOIB_ADDR_LEN];

	join_broadcast(test);
	memcpy(addr, group_addr, sizeof(addr));
	addr[5] ^= 1;
	KUNIT_ASSERT_EQ(test, dev_mc_add(b->bed.ipoib->netdev, addr), 0);
	ipoib_mcast_sync(b->bed.ipoib);
	work(test);
	KUNIT_EXPECT_EQ(test, played.asks, 1);
}

/* The port got another first P_Key. The stack's list has the addresses that it made before. */
static void other_pkey(struct kunit *test)
{
	struct bench *b = test->priv;
	struct ipoib_dev *ipoib = b->bed.ipoib;
	union ib_gid mgid;

	KUNIT_ASSERT_EQ(test, dev_mc_add(ipoib->netdev, group_addr), 0);
	ipoib->pkey = 0x8001;
	ipoib->netdev->broadcast[8] = 0x80;
	ipoib->netdev->broadcast[9] = 0x01;
	join_broadcast(test);
	work(test);
	KUNIT_ASSERT_EQ(test, played.asks, 2);
	ipoib_group_gid(&mgid, group_addr, 0x8001);
	KUNIT_EXPECT_MEMEQ(test, played.rec.mgid.raw, mgid.raw, sizeof(mgid));
	KUNIT_EXPECT_EQ(test, played.rec.join_state, FULL);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(played.rec.pkey), 0x8001);
	answer(test, 0);
	KUNIT_EXPECT_EQ(test, played.attached, 2);
}

static struct kunit_case mcast_cases[] = {
	KUNIT_CASE(follows_broadcast),
	KUNIT_CASE(port_not_ready),
	KUNIT_CASE(backs_off),
	KUNIT_CASE(without_memory),
#ifdef CONFIG_FAILSLAB
	KUNIT_CASE(group_without_memory),
#endif
	KUNIT_CASE(lost),
	KUNIT_CASE(lost_while_answered),
	KUNIT_CASE(send_only),
	KUNIT_CASE(send_only_to_full),
	KUNIT_CASE(foreign),
	KUNIT_CASE(other_pkey),
	{}
};

static struct kunit_suite mcast_suite = {
	.name = "ipoib_mcast",
	.init = mcast_init,
	.exit = mcast_exit,
	.test_cases = mcast_cases,
};

kunit_test_suite(mcast_suite);

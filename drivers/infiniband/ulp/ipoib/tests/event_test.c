// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: the carrier follows the broadcast group, whichever comes first: the work that turns it on,
 * or an event of the port by which the group is left. There is no device: the test makes groups
 * members, and nothing is joined.
 */
#include <kunit/test.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include "../mcast.h"
#include "bed.h"

static const u8 mgid[sizeof(union ib_gid)] = { 0xff, 0x12, 0x40, 0x1b };

static int carrier_init(struct kunit *test)
{
	struct ipoib_bed *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, b);
	ipoib_bed_init(test, b);
	/* Addresses are of no device. */
	INIT_DELAYED_WORK(&b->ipoib->ah_work, ipoib_bed_no_work);
	KUNIT_ASSERT_EQ(test, ipoib_mcast_init(b->ipoib), 0);
	test->priv = b;
	ipoib_mcast_start(b->ipoib);
	return 0;
}

static void carrier_exit(struct kunit *test)
{
	struct ipoib_bed *b = test->priv;

	if (b)
		ipoib_mcast_end(b->ipoib);
}

static struct ipoib_group *join(struct kunit *test)
{
	struct ipoib_bed *b = test->priv;
	struct ipoib_ah *ah = kunit_kzalloc(test, sizeof(*ah), GFP_KERNEL);
	struct ipoib_group *group;

	KUNIT_ASSERT_NOT_NULL(test, ah);
	/* It is freed when it is left. */
	group = kzalloc(sizeof(*group), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, group);
	group->ipoib = b->ipoib;
	__skb_queue_head_init(&group->queue);
	guard(spinlock_irq)(&b->ipoib->lock);
	KUNIT_EXPECT_EQ(test, ipoib_table_add(&b->ipoib->groups, &group->node, mgid), 0);
	group->state = IPOIB_GROUP_JOINED;
	rcu_assign_pointer(group->ah, ah);
	b->ipoib->broadcast = group;
	return group;
}

/* As when the group has been joined: the work comes when it gets RTNL. */
static void have_link_up(struct ipoib_bed *b)
{
	dev_hold(b->ipoib->netdev);
	schedule_work(&b->ipoib->link_work);
}

static void expect_carrier(struct kunit *test, bool on)
{
	struct ipoib_bed *b = test->priv;

	flush_work(&b->ipoib->link_work);
	KUNIT_EXPECT_EQ(test, netif_carrier_ok(b->ipoib->netdev), on);
}

static void joined(struct kunit *test)
{
	struct ipoib_bed *b = test->priv;

	join(test);
	have_link_up(b);
	expect_carrier(test, true);
}

/* The port went down meanwhile: groups are left, to be joined when it is active again. */
static void left(struct kunit *test)
{
	struct ipoib_bed *b = test->priv;

	join(test);
	rtnl_lock();
	have_link_up(b);
	ipoib_mcast_stop(b->ipoib);
	ipoib_mcast_start(b->ipoib);
	rtnl_unlock();
	expect_carrier(test, false);
	/* The next time it is turned on. */
	join(test);
	have_link_up(b);
	expect_carrier(test, true);
}

/* It was joined again, and the answer is not there yet. */
static void asked(struct kunit *test)
{
	struct ipoib_bed *b = test->priv;
	struct ipoib_group *group;

	join(test);
	rtnl_lock();
	have_link_up(b);
	ipoib_mcast_stop(b->ipoib);
	ipoib_mcast_start(b->ipoib);
	group = join(test);
	group->state = IPOIB_GROUP_ASKED;
	RCU_INIT_POINTER(group->ah, NULL);
	rtnl_unlock();
	expect_carrier(test, false);
}

/* The subnet manager has lost it. */
static void lost(struct kunit *test)
{
	struct ipoib_bed *b = test->priv;

	join(test)->state = IPOIB_GROUP_ANSWERED;
	have_link_up(b);
	expect_carrier(test, false);
}

static void stopped(struct kunit *test)
{
	struct ipoib_bed *b = test->priv;

	join(test);
	rtnl_lock();
	have_link_up(b);
	clear_bit(__LINK_STATE_START, &b->ipoib->netdev->state);
	rtnl_unlock();
	expect_carrier(test, false);
}

static void expect_mtu(struct kunit *test, unsigned int group, unsigned int mtu)
{
	struct ipoib_bed *b = test->priv;

	b->ipoib->group_mtu = group;
	have_link_up(b);
	flush_work(&b->ipoib->link_work);
	KUNIT_EXPECT_EQ(test, b->ipoib->netdev->mtu, mtu);
}

static void ask_for_mtu(struct kunit *test, int mtu)
{
	struct ipoib_bed *b = test->priv;

	rtnl_lock();
	KUNIT_EXPECT_EQ(test, dev_set_mtu(b->ipoib->netdev, mtu), 0);
	rtnl_unlock();
}

/*
 * The MTU that was asked for comes back when the group allows it again; one that was the group's
 * follows the group. All are too small for IPv6, which leaves the network device alone.
 */
static void mtu(struct kunit *test)
{
	struct ipoib_bed *b = test->priv;

	join(test);
	/* as registering it would */
	set_bit(__LINK_STATE_PRESENT, &b->ipoib->netdev->state);
	b->ipoib->port_mtu = 1024;
	b->ipoib->wanted_mtu = IPOIB_LARGEST_MTU;
	expect_mtu(test, 1020, 1020);
	ask_for_mtu(test, 700);
	expect_mtu(test, 508, 508);
	expect_mtu(test, 1020, 700);
	ask_for_mtu(test, 1020);
	expect_mtu(test, 508, 508);
	ask_for_mtu(test, 1020);
	KUNIT_EXPECT_EQ(test, b->ipoib->netdev->mtu, 508);
	expect_mtu(test, 1020, 1020);
}

static struct kunit_case carrier_cases[] = {
	KUNIT_CASE(joined),
	KUNIT_CASE(left),
	KUNIT_CASE(asked),
	KUNIT_CASE(lost),
	KUNIT_CASE(stopped),
	KUNIT_CASE(mtu),
	{}
};

static struct kunit_suite carrier_suite = {
	.name = "ipoib_carrier",
	.init = carrier_init,
	.exit = carrier_exit,
	.test_cases = carrier_cases,
};

kunit_test_suite(carrier_suite);

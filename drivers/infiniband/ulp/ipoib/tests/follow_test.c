// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: what an interface makes of events, and of a port that does not answer. The device is the
 * test's, which has a P_Key table and nothing else.
 */
#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include "../client.h"
#include "../mcast.h"
#include "bed.h"

/**
 * struct played - what the device and the interface's start do; cases run one after the other
 * @pkey: the only P_Key of the port
 * @pkey_error: of reading it
 * @port_queries: how often the port was asked, which it does not answer
 * @again: completed the second time
 * @start_error: of starting
 * @starts: how often that was tried
 */
static struct played {
	u16 pkey;
	int pkey_error;
	unsigned int port_queries;
	struct completion again;
	int start_error;
	unsigned int starts;
} played;

static int play_query_pkey(struct ib_device *ca, u32 port, u16 index, u16 *pkey)
{
	*pkey = played.pkey;
	return played.pkey_error;
}

static int play_query_port(struct ib_device *ca, u32 port, struct ib_port_attr *attr)
{
	if (++played.port_queries == 2)
		complete(&played.again);
	return -EIO;
}

static int play_up(struct ipoib_dev *ipoib)
{
	played.starts++;
	if (!played.start_error)
		set_bit(IPOIB_STARTED, &ipoib->flags);
	return played.start_error;
}

static int follow_init(struct kunit *test)
{
	struct ipoib_bed *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, b);
	ipoib_bed_init(test, b);
	b->ca->port_data[1].immutable.pkey_tbl_len = 1;
	b->ca->ops.query_pkey = play_query_pkey;
	b->ca->ops.query_port = play_query_port;
	b->ipoib->pkey = 0xffff;
	played = (struct played){ .pkey = 0xffff };
	init_completion(&played.again);
	KUNIT_ASSERT_EQ(test, ipoib_mcast_init(b->ipoib), 0);
	test->priv = b;
	return 0;
}

static void follow_exit(struct kunit *test)
{
	struct ipoib_bed *b = test->priv;

	if (b)
		ipoib_mcast_end(b->ipoib);
}

/* As when an event has come, but here: only in this thread starting is the test's. */
static void follow(struct ipoib_bed *b, enum ipoib_flush level)
{
	struct net_device *netdev = b->ipoib->netdev;

	dev_hold(netdev);
	atomic_set(&b->ipoib->flush, BIT(level));
	netdev->reg_state = NETREG_REGISTERED;
	b->ipoib->flush_work.func(&b->ipoib->flush_work);
	netdev->reg_state = NETREG_UNINITIALIZED;
}

/* An interface that could not be started is started by the next event, as soon as that works. */
static void starts_again(struct kunit *test)
{
	struct ipoib_bed *b = test->priv;

	kunit_activate_static_stub(test, ipoib_up, play_up);
	/* Without its P_Key it cannot be. */
	follow(b, IPOIB_FLUSH_LIGHT);
	KUNIT_EXPECT_EQ(test, played.starts, 0);
	set_bit(IPOIB_PKEY_FOUND, &b->ipoib->flags);
	played.start_error = -ENOMEM;
	follow(b, IPOIB_FLUSH_NORMAL);
	KUNIT_EXPECT_EQ(test, played.starts, 1);
	follow(b, IPOIB_FLUSH_HEAVY);
	KUNIT_EXPECT_EQ(test, played.starts, 2);
	played.start_error = 0;
	follow(b, IPOIB_FLUSH_LIGHT);
	KUNIT_EXPECT_EQ(test, played.starts, 3);
	/* The P_Key is where it was, and the interface works: nothing is to be done. */
	follow(b, IPOIB_FLUSH_HEAVY);
	KUNIT_EXPECT_EQ(test, played.starts, 3);
	clear_bit(IPOIB_STARTED, &b->ipoib->flags);
}

/* An error of reading the table does not mean that the P_Key is not there. */
static void pkey_unreadable(struct kunit *test)
{
	struct ipoib_bed *b = test->priv;

	ipoib_find_pkey(b->ipoib);
	KUNIT_EXPECT_TRUE(test, ipoib_is(b->ipoib, IPOIB_PKEY_FOUND));
	played.pkey_error = -EIO;
	ipoib_find_pkey(b->ipoib);
	KUNIT_EXPECT_TRUE(test, ipoib_is(b->ipoib, IPOIB_PKEY_FOUND));
	played.pkey_error = 0;
	played.pkey = 0x8001;
	ipoib_find_pkey(b->ipoib);
	KUNIT_EXPECT_FALSE(test, ipoib_is(b->ipoib, IPOIB_PKEY_FOUND));
	played.pkey_error = -EIO;
	ipoib_find_pkey(b->ipoib);
	KUNIT_EXPECT_FALSE(test, ipoib_is(b->ipoib, IPOIB_PKEY_FOUND));
}

/* A P_Key that moved while the table could not be read is followed with the next event. */
static void pkey_moves_unseen(struct kunit *test)
{
	struct ipoib_bed *b = test->priv;

	kunit_activate_static_stub(test, ipoib_up, play_up);
	ipoib_find_pkey(b->ipoib);
	played.start_error = -ENOMEM;
	played.pkey = 0x8001;
	played.pkey_error = -EIO;
	follow(b, IPOIB_FLUSH_HEAVY);
	KUNIT_EXPECT_EQ(test, b->ipoib->pkey, 0xffff);
	follow(b, IPOIB_FLUSH_LIGHT);
	KUNIT_EXPECT_EQ(test, b->ipoib->pkey, 0xffff);
	played.pkey_error = 0;
	follow(b, IPOIB_FLUSH_LIGHT);
	KUNIT_EXPECT_EQ(test, b->ipoib->pkey, 0x8001);
	KUNIT_EXPECT_TRUE(test, ipoib_is(b->ipoib, IPOIB_PKEY_FOUND));
	/* That is over: events of other kinds do not ask for it again. */
	played.pkey = 0x8002;
	follow(b, IPOIB_FLUSH_LIGHT);
	KUNIT_EXPECT_EQ(test, b->ipoib->pkey, 0x8001);
}

/* A child may have a GUID of its own, for which it alone waits. */
static void waiting(struct kunit *test)
{
	struct ipoib_bed *b = test->priv;
	struct ipoib_dev *child = kunit_kzalloc(test, sizeof(*child), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, child);
	KUNIT_EXPECT_TRUE(test, ipoib_event_waiting(b->ipoib));
	set_bit(IPOIB_GUID_FOUND, &b->ipoib->flags);
	KUNIT_EXPECT_FALSE(test, ipoib_event_waiting(b->ipoib));
	list_add_tail_rcu(&child->entry, &b->ipoib->children);
	KUNIT_EXPECT_FALSE(test, ipoib_event_waiting(b->ipoib));
	set_bit(IPOIB_STARTED, &child->flags);
	KUNIT_EXPECT_TRUE(test, ipoib_event_waiting(b->ipoib));
	set_bit(IPOIB_GUID_FOUND, &child->flags);
	KUNIT_EXPECT_FALSE(test, ipoib_event_waiting(b->ipoib));
	list_del_rcu(&child->entry);
	synchronize_rcu();
}

/* A port that cannot be asked is asked again, without an event. */
static void port_unreadable(struct kunit *test)
{
	struct ipoib_bed *b = test->priv;

	set_bit(IPOIB_GUID_FOUND, &b->ipoib->flags);
	ipoib_mcast_start(b->ipoib);
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&played.again, 30 * HZ), 0);
}

/* By which interface a request has come */
static void partition(struct kunit *test)
{
	struct ipoib_bed *b = test->priv;
	struct net_device *netdev = b->ipoib->netdev;

	set_bit(IPOIB_PKEY_FOUND, &b->ipoib->flags);
	KUNIT_EXPECT_FALSE(test, ipoib_client_in_partition(b->ipoib, 0));
	netdev->reg_state = NETREG_REGISTERED;
	KUNIT_EXPECT_TRUE(test, ipoib_client_in_partition(b->ipoib, 0));
	KUNIT_EXPECT_FALSE(test, ipoib_client_in_partition(b->ipoib, 1));
	clear_bit(IPOIB_PKEY_FOUND, &b->ipoib->flags);
	KUNIT_EXPECT_FALSE(test, ipoib_client_in_partition(b->ipoib, 0));
	netdev->reg_state = NETREG_UNINITIALIZED;
}

static struct kunit_case follow_cases[] = {
	KUNIT_CASE(starts_again),
	KUNIT_CASE(pkey_unreadable),
	KUNIT_CASE(pkey_moves_unseen),
	KUNIT_CASE(waiting),
	KUNIT_CASE(port_unreadable),
	KUNIT_CASE(partition),
	{}
};

static struct kunit_suite follow_suite = {
	.name = "ipoib_follow",
	.init = follow_init,
	.exit = follow_exit,
	.test_cases = follow_cases,
};

kunit_test_suite(follow_suite);

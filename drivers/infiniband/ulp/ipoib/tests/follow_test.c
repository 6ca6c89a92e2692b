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
#include "../dev.h"
#include "../mcast.h"

/**
 * struct bench - what a test has; kunit->priv
 * @ca: the device
 * @ipoib: the interface, running; its network device is not registered
 */
struct bench {
	struct ib_device *ca;
	struct ipoib_dev *ipoib;
};

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

static void setup(struct net_device *netdev)
{
}

static int follow_init(struct kunit *test)
{
	struct bench *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);
	struct net_device *netdev;

	KUNIT_ASSERT_NOT_NULL(test, b);
	b->ca = kunit_kzalloc(test, sizeof(*b->ca), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, b->ca);
	b->ca->port_data = kunit_kcalloc(test, 2, sizeof(*b->ca->port_data), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, b->ca->port_data);
	b->ca->phys_port_cnt = 1;
	b->ca->port_data[1].immutable.pkey_tbl_len = 1;
	b->ca->ops.query_pkey = play_query_pkey;
	b->ca->ops.query_port = play_query_port;
	played = (struct played){ .pkey = 0xffff };
	init_completion(&played.again);
	netdev = alloc_netdev(sizeof(struct ipoib_dev), "kunit%d", NET_NAME_UNKNOWN, setup);
	KUNIT_ASSERT_NOT_NULL(test, netdev);
	b->ipoib = netdev_priv(netdev);
	test->priv = b;
	ipoib_init_dev(netdev, b->ca, 1);
	b->ipoib->pkey = 0xffff;
	b->ipoib->wq = alloc_ordered_workqueue("ipoib_kunit", 0);
	KUNIT_ASSERT_NOT_NULL(test, b->ipoib->wq);
	KUNIT_ASSERT_EQ(test, ipoib_mcast_init(b->ipoib), 0);
	set_bit(__LINK_STATE_START, &netdev->state);
	netif_carrier_off(netdev);
	return 0;
}

static void follow_exit(struct kunit *test)
{
	struct bench *b = test->priv;

	ipoib_mcast_end(b->ipoib);
	destroy_workqueue(b->ipoib->wq);
	free_netdev(b->ipoib->netdev);
}

/* As when an event has come, but here: only in this thread starting is the test's. */
static void follow(struct bench *b, enum ipoib_flush level)
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
	struct bench *b = test->priv;

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
	struct bench *b = test->priv;

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

/* A child may have a GUID of its own, for which it alone waits. */
static void waiting(struct kunit *test)
{
	struct bench *b = test->priv;
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
	struct bench *b = test->priv;

	set_bit(IPOIB_GUID_FOUND, &b->ipoib->flags);
	ipoib_mcast_start(b->ipoib);
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&played.again, 30 * HZ), 0);
}

/* By which interface a request has come */
static void partition(struct kunit *test)
{
	struct bench *b = test->priv;
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

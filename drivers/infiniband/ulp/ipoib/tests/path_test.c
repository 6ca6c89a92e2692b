// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: queries for paths whose answers the test gives, and the packets that wait for them.
 */
#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <linux/etherdevice.h>
#include <linux/netdevice.h>
#include <linux/slab.h>

#include "../path.h"

/**
 * struct bench - an interface, and what it has asked
 * @ipoib: the interface
 * @asked: queries so far
 * @path: of the one under way
 * @refuse: queries are not taken
 * @made: addresses made
 * @sent: packets sent again
 */
static struct bench {
	struct ipoib_dev *ipoib;
	unsigned int asked;
	struct ipoib_path *path;
	bool refuse;
	unsigned int made;
	atomic_t sent;
} bench;

/* Tells the packets of the test from those that the kernel sends by itself. */
#define MARK	0x6b74

static const u8 gid[16] = { 0xfe, 0x80, [15] = 7 };

static int play_query(struct ipoib_path *path)
{
	if (bench.refuse)
		return -EAGAIN;
	bench.path = path;
	return ++bench.asked;
}

/* Addresses are told apart by the count of the queue behind which they were used last. */
static struct ipoib_ah *play_make_ah(struct ipoib_dev *ipoib, struct sa_path_rec *rec)
{
	struct ipoib_ah *ah = kzalloc(sizeof(*ah), GFP_KERNEL);

	if (ah)
		ah->last = ++bench.made;
	return ah;
}

static netdev_tx_t count_packet(struct sk_buff *skb, struct net_device *ndev)
{
	if (skb->mark == MARK)
		atomic_inc(&bench.sent);
	dev_kfree_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops netdev_ops = { .ndo_start_xmit = count_packet };

static void end_netdev(void *ndev)
{
	unregister_netdev(ndev);
	free_netdev(ndev);
}

static struct net_device *begin_netdev(struct kunit *test)
{
	struct net_device *ndev = alloc_etherdev(0);

	KUNIT_ASSERT_NOT_NULL(test, ndev);
	ndev->netdev_ops = &netdev_ops;
	ndev->priv_flags |= IFF_NO_QUEUE;
	eth_hw_addr_random(ndev);
	KUNIT_ASSERT_EQ(test, register_netdev(ndev), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, end_netdev, ndev), 0);
	rtnl_lock();
	KUNIT_EXPECT_EQ(test, dev_open(ndev, NULL), 0);
	rtnl_unlock();
	return ndev;
}

static void leave_addresses(struct work_struct *work)
{
}

static int path_init(struct kunit *test)
{
	struct ipoib_dev *ipoib = kunit_kzalloc(test, sizeof(*ipoib), GFP_KERNEL);
	struct ib_device *ca = kunit_kzalloc(test, sizeof(*ca), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ipoib);
	KUNIT_ASSERT_NOT_NULL(test, ca);
	memset(&bench, 0, sizeof(bench));
	ca->port_data = kunit_kcalloc(test, 2, sizeof(*ca->port_data), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ca->port_data);
	ipoib->netdev = begin_netdev(test);
	ipoib->ca = ca;
	ipoib->port = 1;
	ipoib->wq = system_wq;
	spin_lock_init(&ipoib->lock);
	init_waitqueue_head(&ipoib->idle);
	INIT_LIST_HEAD(&ipoib->ah_idle);
	INIT_DELAYED_WORK(&ipoib->ah_work, leave_addresses);
	KUNIT_ASSERT_EQ(test, ipoib_path_init(ipoib), 0);
	kunit_activate_static_stub(test, ipoib_path_query, play_query);
	kunit_activate_static_stub(test, ipoib_path_make_ah, play_make_ah);
	bench.ipoib = ipoib;
	return 0;
}

static void path_exit(struct kunit *test)
{
	struct ipoib_dev *ipoib = bench.ipoib;
	struct ipoib_ah *ah, *next;
	unsigned int freed = 0;

	if (!ipoib)
		return;
	/* What a case that has failed has left under way */
	if (bench.path)
		ipoib_path_answered(-EINTR, NULL, 0, bench.path);
	KUNIT_EXPECT_EQ(test, ipoib->queries, 0);
	ipoib_path_end(ipoib);
	cancel_delayed_work_sync(&ipoib->ah_work);
	list_for_each_entry_safe(ah, next, &ipoib->ah_idle, entry) {
		kfree(ah);
		freed++;
	}
	KUNIT_EXPECT_EQ(test, freed, bench.made);
}

/*
 * Sends a packet to a GID that ends so; returns the number of the address that it has, 0 if it
 * waits or was dropped.
 */
static u32 send_to(struct kunit *test, u8 last)
{
	struct sk_buff *skb = alloc_skb(100, GFP_KERNEL);
	struct ipoib_ah *ah;
	u32 number = 0;
	u8 to[16];

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_put_zero(skb, ETH_HLEN);
	skb->mark = MARK;
	rcu_read_lock_bh();
	memcpy(to, gid, sizeof(to));
	to[15] = last;
	ah = ipoib_path_ah(bench.ipoib, to, skb);
	if (ah) {
		number = ah->last;
		kfree_skb(skb);
	}
	rcu_read_unlock_bh();
	return number;
}

static u32 send(struct kunit *test)
{
	return send_to(test, gid[15]);
}

static void answer(struct kunit *test, int status)
{
	struct ipoib_path *path = bench.path;
	struct sa_path_rec rec;

	KUNIT_ASSERT_NOT_NULL(test, path);
	rec = path->rec;
	bench.path = NULL;
	ipoib_path_answered(status, status ? NULL : &rec, 1, path);
}

static bool known(void)
{
	struct sa_path_rec rec;

	return ipoib_path_rec(bench.ipoib, gid, &rec);
}

static unsigned long dropped(void)
{
	return atomic_long_read(&bench.ipoib->netdev->stats.__tx_dropped);
}

static void one_query(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, send(test), 0);
	KUNIT_EXPECT_EQ(test, send(test), 0);
	KUNIT_EXPECT_EQ(test, bench.asked, 1);
	KUNIT_EXPECT_FALSE(test, known());
	answer(test, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&bench.sent), 2);
	KUNIT_EXPECT_TRUE(test, known());
	KUNIT_EXPECT_EQ(test, send(test), 1);
	KUNIT_EXPECT_EQ(test, bench.asked, 1);
	KUNIT_EXPECT_EQ(test, dropped(), 0);
}

static void no_path(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, send(test), 0);
	answer(test, -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, dropped(), 1);
	KUNIT_EXPECT_FALSE(test, known());
	/* The next packet has it asked for again, if it can be. */
	bench.refuse = true;
	KUNIT_EXPECT_EQ(test, send(test), 0);
	KUNIT_EXPECT_EQ(test, dropped(), 2);
	bench.refuse = false;
	KUNIT_EXPECT_EQ(test, send(test), 0);
	KUNIT_EXPECT_EQ(test, bench.asked, 2);
	answer(test, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&bench.sent), 1);
}

/* An answer lasts until everything becomes stale; then the address is used no more. */
static void stale_after(struct kunit *test)
{
	send(test);
	answer(test, 0);
	ipoib_path_stale(bench.ipoib);
	KUNIT_EXPECT_FALSE(test, known());
	KUNIT_EXPECT_EQ(test, bench.asked, 1);
	KUNIT_EXPECT_EQ(test, send(test), 0);
	KUNIT_EXPECT_EQ(test, bench.asked, 2);
	answer(test, 0);
	KUNIT_EXPECT_EQ(test, send(test), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&bench.sent), 2);
}

/* What was asked before everything became stale is asked again, and packets go on waiting. */
static void stale_meanwhile(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, send(test), 0);
	ipoib_path_stale(bench.ipoib);
	answer(test, 0);
	KUNIT_EXPECT_FALSE(test, known());
	KUNIT_EXPECT_EQ(test, atomic_read(&bench.sent), 0);
	KUNIT_EXPECT_EQ(test, bench.asked, 2);
	KUNIT_EXPECT_EQ(test, send(test), 0);
	KUNIT_EXPECT_EQ(test, bench.asked, 2);
	answer(test, 0);
	KUNIT_EXPECT_TRUE(test, known());
	KUNIT_EXPECT_EQ(test, atomic_read(&bench.sent), 2);
	KUNIT_EXPECT_EQ(test, send(test), 2);

	/* The same with an address from before, and with a refusal as the late answer */
	ipoib_path_stale(bench.ipoib);
	KUNIT_EXPECT_EQ(test, send(test), 0);
	ipoib_path_stale(bench.ipoib);
	ipoib_path_stale(bench.ipoib);
	answer(test, -EINVAL);
	KUNIT_EXPECT_EQ(test, bench.asked, 4);
	KUNIT_EXPECT_FALSE(test, known());
	KUNIT_EXPECT_EQ(test, dropped(), 0);
	answer(test, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&bench.sent), 3);
	KUNIT_EXPECT_EQ(test, send(test), 3);
	KUNIT_EXPECT_EQ(test, bench.asked, 4);

	/* If it cannot be asked again, nothing waits for it. */
	ipoib_path_stale(bench.ipoib);
	KUNIT_EXPECT_EQ(test, send(test), 0);
	ipoib_path_stale(bench.ipoib);
	bench.refuse = true;
	answer(test, 0);
	KUNIT_EXPECT_EQ(test, dropped(), 1);
	KUNIT_EXPECT_FALSE(test, known());
}

/* Peers may make up GIDs: what the subnet manager does not know takes no room. */
static void unknown(struct kunit *test)
{
	struct ipoib_table *paths = &bench.ipoib->paths;

	paths->limit = 2;
	for (u8 last = 1; last <= 2; last++) {
		KUNIT_EXPECT_EQ(test, send_to(test, last), 0);
		answer(test, -ETIMEDOUT);
		KUNIT_EXPECT_EQ(test, paths->count, 0);
	}
	bench.refuse = true;
	KUNIT_EXPECT_EQ(test, send_to(test, 3), 0);
	KUNIT_EXPECT_EQ(test, paths->count, 0);
	bench.refuse = false;
	KUNIT_EXPECT_EQ(test, send_to(test, 4), 0);
	KUNIT_EXPECT_EQ(test, bench.asked, 3);
	answer(test, 0);
	KUNIT_EXPECT_EQ(test, send_to(test, 4), 1);
	KUNIT_EXPECT_EQ(test, dropped(), 3);
}

/* The path that was not used for longest gives way to a new one, unless it is being asked for. */
static void no_room(struct kunit *test)
{
	struct ipoib_table *paths = &bench.ipoib->paths;

	paths->limit = 2;
	send_to(test, 1);
	answer(test, 0);
	send_to(test, 2);
	KUNIT_ASSERT_NOT_NULL(test, bench.path);
	bench.path->used -= HZ;
	answer(test, 0);
	KUNIT_EXPECT_EQ(test, send_to(test, 3), 0);
	KUNIT_EXPECT_EQ(test, bench.asked, 3);
	answer(test, 0);
	KUNIT_EXPECT_EQ(test, paths->count, 2);
	KUNIT_EXPECT_EQ(test, send_to(test, 1), 1);
	KUNIT_EXPECT_EQ(test, send_to(test, 3), 3);
	KUNIT_EXPECT_EQ(test, bench.asked, 3);
	KUNIT_EXPECT_EQ(test, dropped(), 0);

	ipoib_path_flush(bench.ipoib);
	paths->limit = 1;
	KUNIT_EXPECT_EQ(test, send_to(test, 1), 0);
	KUNIT_EXPECT_EQ(test, send_to(test, 2), 0);
	KUNIT_EXPECT_EQ(test, bench.asked, 4);
	KUNIT_EXPECT_EQ(test, dropped(), 1);
	answer(test, 0);
}

/*
 * While too many queries are under way paths wait. They are the first that give way; when their
 * turn comes they are asked for from the GID that the interface has then.
 */
static void wait_for_query(struct kunit *test)
{
	struct ipoib_dev *ipoib = bench.ipoib;

	ipoib->paths.limit = 3;
	KUNIT_EXPECT_EQ(test, send_to(test, 1), 0);
	answer(test, 0);
	KUNIT_EXPECT_EQ(test, send_to(test, 2), 0);
	ipoib->queries += IPOIB_MAX_QUERIES - 1;
	KUNIT_EXPECT_EQ(test, send_to(test, 3), 0);
	KUNIT_EXPECT_EQ(test, send_to(test, 4), 0);
	KUNIT_EXPECT_EQ(test, dropped(), 1);
	KUNIT_EXPECT_EQ(test, bench.asked, 2);
	ipoib->gid.raw[15] = 5;
	ipoib->queries -= IPOIB_MAX_QUERIES - 1;
	answer(test, 0);
	KUNIT_ASSERT_NOT_NULL(test, bench.path);
	KUNIT_EXPECT_EQ(test, bench.asked, 3);
	KUNIT_EXPECT_EQ(test, bench.path->node.key[15], 4);
	KUNIT_EXPECT_EQ(test, bench.path->rec.sgid.raw[15], 5);
	answer(test, 0);
	KUNIT_EXPECT_EQ(test, send_to(test, 1), 1);
}

static struct kunit_case path_cases[] = {
	KUNIT_CASE(one_query),
	KUNIT_CASE(no_path),
	KUNIT_CASE(stale_after),
	KUNIT_CASE(stale_meanwhile),
	KUNIT_CASE(unknown),
	KUNIT_CASE(no_room),
	KUNIT_CASE(wait_for_query),
	{}
};

static struct kunit_suite path_suite = {
	.name = "ib_ipoib_path",
	.init = path_init,
	.exit = path_exit,
	.test_cases = path_cases,
};

kunit_test_suite(path_suite);

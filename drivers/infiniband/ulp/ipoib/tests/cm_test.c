// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: connections as far as they need no device: how many there may be, how they end, and that
 * an interface does without.
 */
#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/slab.h>

#include "../cm.h"
#include "../path.h"

/**
 * struct bench - what a test has; kunit->priv
 * @ca: the device
 * @ipoib: the interface; its network device is not registered
 * @cm: its connections
 */
struct bench {
	struct ib_device *ca;
	struct ipoib_dev *ipoib;
	struct ipoib_cm cm;
};

/* How often senders were waited for, the answer about a shared receive queue, and the path that was
 * asked for: cases do not overlap.
 */
static unsigned int waits;
static int srq_error;
static struct ipoib_path *asked;

static const u8 peer_addr[IPOIB_ADDR_LEN] = { IPOIB_ADDR_RC, [4] = 0xfe, 0x80, [19] = 7 };

static void setup(struct net_device *netdev)
{
}

static void leave(struct work_struct *work)
{
}

static int cm_init(struct kunit *test)
{
	struct bench *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);
	struct net_device *netdev;

	KUNIT_ASSERT_NOT_NULL(test, b);
	b->ca = kunit_kzalloc(test, sizeof(*b->ca), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, b->ca);
	b->ca->port_data = kunit_kcalloc(test, 2, sizeof(*b->ca->port_data), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, b->ca->port_data);
	netdev = alloc_netdev(sizeof(struct ipoib_dev), "kunit%d", NET_NAME_UNKNOWN, setup);
	KUNIT_ASSERT_NOT_NULL(test, netdev);
	b->ipoib = netdev_priv(netdev);
	test->priv = b;
	b->ipoib->netdev = netdev;
	b->ipoib->ca = b->ca;
	b->ipoib->port = 1;
	b->ipoib->wq = system_wq;
	spin_lock_init(&b->ipoib->lock);
	b->cm.ipoib = b->ipoib;
	waits = 0;
	asked = NULL;
	return 0;
}

static void cm_exit(struct kunit *test)
{
	struct bench *b = test->priv;

	free_netdev(b->ipoib->netdev);
}

static int create_srq(struct ib_srq *srq, struct ib_srq_init_attr *attr, struct ib_udata *udata)
{
	return -EOPNOTSUPP;
}

static struct ib_srq *refuse_srq(struct ipoib_cm *cm)
{
	return ERR_PTR(srq_error);
}

/* Whatever the device says, there is an interface without connected mode. */
static void no_srq(struct kunit *test)
{
	static const int errors[] = { -EOPNOTSUPP, -ENOMEM, -EINVAL, -ENOSPC };
	struct bench *b = test->priv;

	b->ca->ops.create_srq = create_srq;
	b->ca->attrs.max_srq_sge = 16;
	kunit_activate_static_stub(test, ipoib_cm_create_srq, refuse_srq);
	for (int i = 0; i < ARRAY_SIZE(errors); i++) {
		srq_error = errors[i];
		KUNIT_EXPECT_EQ_MSG(test, ipoib_cm_create(b->ipoib), 0, "error %d", srq_error);
		KUNIT_EXPECT_NULL(test, b->ipoib->cm);
	}
}

/* The one that was silent for longest gives way; until it is gone there may be a few more. */
static void many_peers(struct kunit *test)
{
	const unsigned int most = IPOIB_MAX_PEERS + IPOIB_MAX_ENDING;
	struct bench *b = test->priv;
	struct ipoib_peer *peers, *peer;
	unsigned long now = jiffies;
	unsigned int ended = 0;

	peers = kvcalloc(most + 1, sizeof(*peers), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, peers);
	INIT_LIST_HEAD(&b->cm.peers);
	INIT_LIST_HEAD(&b->cm.ended);
	INIT_WORK(&b->cm.reap, leave);
	for (unsigned int i = 0; i <= most; i++) {
		peers[i].cm = &b->cm;
		peers[i].used = now + i;
	}
	peers[1000].used = now - 1;
	for (unsigned int i = 0; i < IPOIB_MAX_PEERS; i++)
		KUNIT_ASSERT_TRUE(test, ipoib_peer_enter(&peers[i]));
	KUNIT_EXPECT_TRUE(test, list_empty(&b->cm.ended));
	KUNIT_EXPECT_TRUE(test, ipoib_peer_enter(&peers[IPOIB_MAX_PEERS]));
	KUNIT_EXPECT_TRUE(test, peers[1000].ending);
	for (unsigned int i = IPOIB_MAX_PEERS + 1; i < most; i++)
		KUNIT_EXPECT_TRUE(test, ipoib_peer_enter(&peers[i]));
	KUNIT_EXPECT_FALSE(test, ipoib_peer_enter(&peers[most]));
	list_for_each_entry(peer, &b->cm.ended, entry)
		ended++;
	KUNIT_EXPECT_EQ(test, ended, IPOIB_MAX_ENDING);
	KUNIT_EXPECT_TRUE(test, peers[IPOIB_MAX_ENDING - 2].ending);
	KUNIT_EXPECT_FALSE(test, peers[IPOIB_MAX_ENDING - 1].ending);
	flush_work(&b->cm.reap);
	kvfree(peers);
}

static int play_query(struct ipoib_path *path)
{
	asked = path;
	return 1;
}

static struct ipoib_ah *play_make_ah(struct ipoib_dev *ipoib, struct sa_path_rec *rec)
{
	return kzalloc(sizeof(struct ipoib_ah), GFP_KERNEL);
}

static void count_wait(void)
{
	waits++;
}

static void send_to(struct kunit *test, u8 qpn)
{
	struct bench *b = test->priv;
	struct sk_buff *skb = alloc_skb(100, GFP_KERNEL);
	u8 addr[IPOIB_ADDR_LEN];

	KUNIT_ASSERT_NOT_NULL(test, skb);
	memcpy(addr, peer_addr, sizeof(addr));
	addr[3] = qpn;
	rcu_read_lock_bh();
	ipoib_cm_send(b->ipoib, skb, addr);
	rcu_read_unlock_bh();
}

/* Many connections that end together wait only once for those who may still be sending. */
static void end_together(struct kunit *test)
{
	struct bench *b = test->priv;
	struct ipoib_ah *ah, *next;
	struct sa_path_rec rec;
	work_func_t work;

	INIT_LIST_HEAD(&b->ipoib->ah_idle);
	INIT_DELAYED_WORK(&b->ipoib->ah_work, leave);
	init_waitqueue_head(&b->ipoib->idle);
	KUNIT_ASSERT_EQ(test, ipoib_path_init(b->ipoib), 0);
	KUNIT_ASSERT_EQ(test, ipoib_conn_init(&b->cm), 0);
	b->ipoib->cm = &b->cm;
	/* The test does the work, and not before all connections have ended. */
	work = b->cm.work.func;
	INIT_WORK(&b->cm.work, leave);
	kunit_activate_static_stub(test, ipoib_path_query, play_query);
	kunit_activate_static_stub(test, ipoib_path_make_ah, play_make_ah);
	kunit_activate_static_stub(test, ipoib_conn_wait_for_senders, count_wait);

	/* The packet that asks does not wait for the answer: no network device would send it. */
	send_to(test, 1);
	KUNIT_ASSERT_NOT_NULL(test, asked);
	scoped_guard(spinlock_irq, &b->ipoib->lock)
		kfree_skb(__skb_dequeue(&asked->queue));
	rec = asked->rec;
	ipoib_path_answered(0, &rec, 1, asked);
	for (u8 qpn = 1; qpn <= 5; qpn++)
		send_to(test, qpn);
	KUNIT_EXPECT_EQ(test, b->cm.conns.count, 5);
	ipoib_conn_flush(b->ipoib);
	KUNIT_EXPECT_EQ(test, b->cm.conns.count, 0);
	work(&b->cm.work);
	KUNIT_EXPECT_TRUE(test, list_empty(&b->cm.todo));
	KUNIT_EXPECT_EQ(test, waits, 1);

	flush_work(&b->cm.work);
	ipoib_table_free(&b->cm.conns);
	ipoib_path_end(b->ipoib);
	cancel_delayed_work_sync(&b->ipoib->ah_work);
	list_for_each_entry_safe(ah, next, &b->ipoib->ah_idle, entry)
		kfree(ah);
}

static struct kunit_case cm_cases[] = {
	KUNIT_CASE(no_srq),
	KUNIT_CASE(many_peers),
	KUNIT_CASE(end_together),
	{}
};

static struct kunit_suite cm_suite = {
	.name = "ipoib_cm",
	.init = cm_init,
	.exit = cm_exit,
	.test_cases = cm_cases,
};

kunit_test_suite(cm_suite);

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
#include "bed.h"

/**
 * struct bench - what a test has; kunit->priv
 * @bed: a device and its interface
 * @cm: its connections
 */
struct bench {
	struct ipoib_bed bed;
	struct ipoib_cm cm;
};

/* How often senders were waited for, the answer about a shared receive queue, and the path that was
 * asked for: cases do not overlap.
 */
static unsigned int waits;
static int srq_error;
static struct ipoib_path *asked;

static const u8 peer_addr[IPOIB_ADDR_LEN] = { IPOIB_ADDR_RC, [4] = 0xfe, 0x80, [19] = 7 };

static int cm_init(struct kunit *test)
{
	struct bench *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, b);
	ipoib_bed_init(test, &b->bed);
	b->cm.ipoib = b->bed.ipoib;
	test->priv = b;
	waits = 0;
	asked = NULL;
	return 0;
}

static struct ib_srq *refuse_srq(struct ipoib_cm *cm)
{
	return ERR_PTR(srq_error);
}

/* An interface whose connections have receives of their own */
static void expect_own(struct kunit *test, unsigned int peers)
{
	struct ipoib_dev *ipoib = ((struct bench *)test->priv)->bed.ipoib;

	KUNIT_ASSERT_EQ_MSG(test, ipoib_cm_create(ipoib), 0, "error %d", srq_error);
	KUNIT_ASSERT_NOT_NULL(test, ipoib->cm);
	KUNIT_EXPECT_NULL(test, ipoib->cm->srq);
	KUNIT_EXPECT_EQ(test, ipoib->cm->mtu, ipoib_cm_mtu(5));
	KUNIT_EXPECT_EQ(test, ipoib->cm->max_peers, peers);
	KUNIT_EXPECT_EQ(test, ipoib->cm->extra_peers, 0);
	KUNIT_EXPECT_EQ(test, ipoib_cm_entries(ipoib), peers * ipoib_recvq_size + 1);
	ipoib_cm_destroy(ipoib);
}

/* Whatever the device says of a shared receive queue, peers connect. */
static void no_srq(struct kunit *test)
{
	static const int errors[] = { -EOPNOTSUPP, -ENOMEM, -EINVAL, -ENOSPC };
	struct bench *b = test->priv;
	struct ib_device_attr *attrs = &b->bed.ca->attrs;

	attrs->max_srq_sge = 16;
	attrs->max_recv_sge = 5;
	attrs->max_cqe = 100 * ipoib_recvq_size;
	kunit_activate_static_stub(test, ipoib_cm_create_srq, refuse_srq);
	for (int i = 0; i < ARRAY_SIZE(errors); i++) {
		srq_error = errors[i];
		expect_own(test, 98);
	}
	attrs->max_cqe = INT_MAX;
	expect_own(test, ipoib_max_nonsrq);
	/* One that has no entry for a page is not even asked. */
	attrs->max_srq_sge = 0;
	srq_error = 0;
	expect_own(test, ipoib_max_nonsrq);
	/* By a device that receives nothing there are no connections. */
	attrs->max_recv_sge = 0;
	KUNIT_EXPECT_EQ(test, ipoib_cm_create(b->bed.ipoib), 0);
	KUNIT_EXPECT_NULL(test, b->bed.ipoib->cm);
	KUNIT_EXPECT_EQ(test, ipoib_cm_entries(b->bed.ipoib), 0);
}

static void no_peers(struct ipoib_cm *cm, unsigned int max, unsigned int extra)
{
	INIT_LIST_HEAD(&cm->peers);
	INIT_LIST_HEAD(&cm->ended);
	INIT_WORK(&cm->reap, ipoib_bed_no_work);
	cm->max_peers = max;
	cm->extra_peers = extra;
}

/*
 * Where each peer has receives of its own there are never more than are allowed, of which some may
 * be ending: a new one has to come again.
 */
static void few_peers(struct kunit *test)
{
	struct bench *b = test->priv;
	struct ipoib_peer peers[4] = {};

	no_peers(&b->cm, 3, 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(peers); i++) {
		peers[i].cm = &b->cm;
		peers[i].used = jiffies + i;
	}
	peers[1].used = jiffies - HZ;
	for (unsigned int i = 0; i < 3; i++)
		KUNIT_EXPECT_TRUE(test, ipoib_peer_enter(&peers[i]));
	for (unsigned int i = 0; i < 2; i++) {
		KUNIT_EXPECT_FALSE(test, ipoib_peer_enter(&peers[3]));
		KUNIT_EXPECT_TRUE(test, peers[1].ending);
		KUNIT_EXPECT_EQ(test, b->cm.ending, 1);
		KUNIT_EXPECT_EQ(test, b->cm.count, 3);
	}
	list_del(&peers[1].entry);
	b->cm.count--;
	b->cm.ending--;
	KUNIT_EXPECT_TRUE(test, ipoib_peer_enter(&peers[3]));
	KUNIT_EXPECT_EQ(test, b->cm.ending, 0);

	flush_work(&b->cm.reap);
	b->cm.count = 0;
	no_peers(&b->cm, 0, 0);
	KUNIT_EXPECT_FALSE(test, ipoib_peer_enter(&peers[0]));
	KUNIT_EXPECT_EQ(test, b->cm.ending, 0);
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
	no_peers(&b->cm, IPOIB_MAX_PEERS, IPOIB_MAX_ENDING);
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

static int refuse_qp(struct ipoib_conn *conn)
{
	return -ENOMEM;
}

static void addr_of(u8 *addr, u16 qpn)
{
	memcpy(addr, peer_addr, IPOIB_ADDR_LEN);
	addr[2] = qpn >> 8;
	addr[3] = qpn;
}

/* A packet by the connection to a QP; which allocation fails, 0 for none */
static void send_without(struct kunit *test, u16 qpn, unsigned int nth)
{
	struct bench *b = test->priv;
	struct sk_buff *skb = alloc_skb(100, GFP_KERNEL);
	u8 addr[IPOIB_ADDR_LEN];

	KUNIT_ASSERT_NOT_NULL(test, skb);
	addr_of(addr, qpn);
	rcu_read_lock_bh();
	ipoib_bed_fail(nth);
	ipoib_cm_send(b->bed.ipoib, skb, addr);
	ipoib_bed_fail(0);
	rcu_read_unlock_bh();
}

static void send_to(struct kunit *test, u16 qpn)
{
	send_without(test, qpn, 0);
}

/* An interface that knows a path: the test does the connections' work. Returns that. */
static work_func_t begin(struct kunit *test)
{
	struct bench *b = test->priv;
	struct sa_path_rec rec;
	work_func_t work;

	INIT_DELAYED_WORK(&b->bed.ipoib->ah_work, ipoib_bed_no_work);
	init_waitqueue_head(&b->bed.ipoib->idle);
	KUNIT_ASSERT_EQ(test, ipoib_path_init(b->bed.ipoib), 0);
	KUNIT_ASSERT_EQ(test, ipoib_conn_init(&b->cm), 0);
	b->bed.ipoib->cm = &b->cm;
	work = b->cm.work.func;
	INIT_WORK(&b->cm.work, ipoib_bed_no_work);
	kunit_activate_static_stub(test, ipoib_path_query, play_query);
	kunit_activate_static_stub(test, ipoib_path_make_ah, play_make_ah);
	kunit_activate_static_stub(test, ipoib_conn_wait_for_senders, count_wait);
	kunit_activate_static_stub(test, ipoib_conn_create_qp, refuse_qp);

	/* The packet that asks does not wait for the answer: no network device would send it. */
	send_to(test, 1);
	KUNIT_ASSERT_NOT_NULL(test, asked);
	scoped_guard(spinlock_irq, &b->bed.ipoib->lock)
		kfree_skb(__skb_dequeue(&asked->queue));
	rec = asked->rec;
	ipoib_path_answered(0, &rec, 1, asked);
	return work;
}

/* All connections end. */
static void finish(struct kunit *test, work_func_t work)
{
	struct bench *b = test->priv;
	struct ipoib_ah *ah, *next;

	ipoib_conn_flush(b->bed.ipoib);
	KUNIT_EXPECT_EQ(test, b->cm.conns.count, 0);
	work(&b->cm.work);
	KUNIT_EXPECT_TRUE(test, list_empty(&b->cm.todo));
	flush_work(&b->cm.work);
	ipoib_table_free(&b->cm.conns);
	ipoib_path_end(b->bed.ipoib);
	cancel_delayed_work_sync(&b->bed.ipoib->ah_work);
	list_for_each_entry_safe(ah, next, &b->bed.ipoib->ah_idle, entry)
		kfree(ah);
}

static struct ipoib_conn *conn_to(struct kunit *test, u16 qpn)
{
	struct bench *b = test->priv;
	u8 addr[IPOIB_ADDR_LEN];
	struct ipoib_node *node;

	addr_of(addr, qpn);
	node = ipoib_table_find(&b->cm.conns, addr);
	return node ? container_of(node, struct ipoib_conn, node) : NULL;
}

/* Many connections that end together wait only once for those who may still be sending. */
static void end_together(struct kunit *test)
{
	work_func_t work = begin(test);
	struct bench *b = test->priv;

	for (u16 qpn = 1; qpn <= 5; qpn++)
		send_to(test, qpn);
	KUNIT_EXPECT_EQ(test, b->cm.conns.count, 5);
	finish(test, work);
	KUNIT_EXPECT_EQ(test, waits, 1);
}

/* The one by which nothing was sent for longest gives way. */
static void many_conns(struct kunit *test)
{
	work_func_t work = begin(test);
	struct bench *b = test->priv;
	/* What follows may take long. */
	const unsigned long begun = jiffies;

	for (u16 qpn = 1; qpn <= IPOIB_MAX_CONNS; qpn++) {
		send_to(test, qpn);
		KUNIT_ASSERT_NOT_NULL(test, conn_to(test, qpn));
		conn_to(test, qpn)->used = begun + qpn;
	}
	conn_to(test, 700)->used = begun - HZ;
	KUNIT_EXPECT_EQ(test, b->cm.conns.count, IPOIB_MAX_CONNS);
	send_to(test, IPOIB_MAX_CONNS + 1);
	KUNIT_EXPECT_EQ(test, b->cm.conns.count, IPOIB_MAX_CONNS);
	KUNIT_EXPECT_NULL(test, conn_to(test, 700));
	KUNIT_EXPECT_NOT_NULL(test, conn_to(test, 1));
	KUNIT_EXPECT_NOT_NULL(test, conn_to(test, IPOIB_MAX_CONNS + 1));
	/* Now it is the first one's turn: the new one has just been used. */
	conn_to(test, 1)->used = begun - HZ;
	send_to(test, IPOIB_MAX_CONNS + 2);
	KUNIT_EXPECT_NULL(test, conn_to(test, 1));
	KUNIT_EXPECT_NOT_NULL(test, conn_to(test, IPOIB_MAX_CONNS + 1));
	finish(test, work);
}

/* One that works and was not used for some time is given up, and no other. */
static void idle_conns(struct kunit *test)
{
	work_func_t work = begin(test);
	struct bench *b = test->priv;

	for (u16 qpn = 1; qpn <= 4; qpn++)
		send_to(test, qpn);
	conn_to(test, 1)->state = IPOIB_CONN_UP;
	conn_to(test, 1)->used = jiffies - 60 * HZ;
	conn_to(test, 2)->state = IPOIB_CONN_UP;
	conn_to(test, 2)->used = jiffies - 30 * HZ;
	conn_to(test, 3)->state = IPOIB_CONN_ASKED;
	conn_to(test, 3)->used = jiffies - 60 * HZ;
	conn_to(test, 4)->state = IPOIB_CONN_UP;
	ipoib_conn_age(&b->cm, 45 * HZ);
	KUNIT_EXPECT_NULL(test, conn_to(test, 1));
	KUNIT_EXPECT_NOT_NULL(test, conn_to(test, 2));
	KUNIT_EXPECT_NOT_NULL(test, conn_to(test, 3));
	KUNIT_EXPECT_NOT_NULL(test, conn_to(test, 4));
	finish(test, work);
}

/* Those that have not come up begin anew, and no others. */
static void asked_conns(struct kunit *test)
{
	work_func_t work = begin(test);

	for (u16 qpn = 1; qpn <= 3; qpn++)
		send_to(test, qpn);
	conn_to(test, 1)->state = IPOIB_CONN_UP;
	conn_to(test, 2)->state = IPOIB_CONN_ASKED;
	ipoib_conn_renew(((struct bench *)test->priv)->bed.ipoib);
	KUNIT_EXPECT_NOT_NULL(test, conn_to(test, 1));
	KUNIT_EXPECT_NULL(test, conn_to(test, 2));
	KUNIT_EXPECT_NULL(test, conn_to(test, 3));
	send_to(test, 2);
	KUNIT_EXPECT_NOT_NULL(test, conn_to(test, 2));
	finish(test, work);
}

/* One that cannot be established goes, and its packets with it; the next packet begins another. */
static void not_established(struct kunit *test)
{
	work_func_t work = begin(test);
	struct bench *b = test->priv;
	struct net_device *netdev = b->bed.ipoib->netdev;
	unsigned long before = DEV_STATS_READ(netdev, tx_dropped);

	for (int i = 0; i <= IPOIB_CONN_QUEUE; i++)
		send_to(test, 1);
	KUNIT_EXPECT_EQ(test, DEV_STATS_READ(netdev, tx_dropped), before + 1);
	work(&b->cm.work);
	KUNIT_EXPECT_EQ(test, b->cm.conns.count, 0);
	KUNIT_EXPECT_EQ(test, DEV_STATS_READ(netdev, tx_dropped), before + 1 + IPOIB_CONN_QUEUE);
	send_to(test, 1);
	KUNIT_EXPECT_EQ(test, b->cm.conns.count, 1);
	finish(test, work);
}

#ifdef CONFIG_FAILSLAB
/* A packet for whose connection there is no memory is dropped, and the next one begins it. */
static void without_memory(struct kunit *test)
{
	work_func_t work = begin(test);
	struct bench *b = test->priv;
	struct net_device *netdev = b->bed.ipoib->netdev;
	unsigned long before = DEV_STATS_READ(netdev, tx_dropped);

	send_without(test, 1, 1);
	KUNIT_EXPECT_EQ(test, b->cm.conns.count, 0);
	KUNIT_EXPECT_EQ(test, DEV_STATS_READ(netdev, tx_dropped), before + 1);
	send_to(test, 1);
	KUNIT_EXPECT_EQ(test, b->cm.conns.count, 1);
	finish(test, work);
}
#endif

static struct kunit_case cm_cases[] = {
	KUNIT_CASE(no_srq),
	KUNIT_CASE(few_peers),
	KUNIT_CASE(many_peers),
	KUNIT_CASE(end_together),
	KUNIT_CASE(many_conns),
	KUNIT_CASE(idle_conns),
	KUNIT_CASE(asked_conns),
	KUNIT_CASE(not_established),
#ifdef CONFIG_FAILSLAB
	KUNIT_CASE(without_memory),
#endif
	{}
};

static struct kunit_suite cm_suite = {
	.name = "ipoib_cm",
	.init = cm_init,
	.test_cases = cm_cases,
};

kunit_test_suite(cm_suite);

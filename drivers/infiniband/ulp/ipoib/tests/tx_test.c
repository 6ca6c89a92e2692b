// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: datagrams that are sent: the queue stops before the ring is full and wakes when half of
 * it is sent, packets in too many parts become one, and what cannot be posted is dropped. The
 * device is the test's, which keeps what was posted.
 */
#include <kunit/test.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <net/sch_generic.h>
#include <net/sock.h>

#include "../ud.h"
#include "bed.h"

#define GROUP_MTU	2044

/* Bytes of each part of a packet but the first */
#define PART		300

/**
 * struct played - what the device does; cases run one after the other
 * @posted: packets posted so far
 * @post_error: of the next one
 * @cqe: completions of those that were posted, in their order
 * @parts: of the last one
 * @bytes: of the last one
 */
static struct played {
	unsigned int posted;
	int post_error;
	struct ib_cqe *cqe[256];
	int parts;
	unsigned int bytes;
} played;

/**
 * struct bench - what a test has; kunit->priv
 * @bed: a device and its interface
 * @cq: completions of sends
 * @ah: where all packets go
 * @sent: packets that have completed
 */
struct bench {
	struct ipoib_bed bed;
	struct ib_cq cq;
	struct ipoib_ah ah;
	unsigned int sent;
};

static int play_post(struct ib_qp *qp, const struct ib_send_wr *wr, const struct ib_send_wr **bad)
{
	if (played.post_error)
		return played.post_error;
	played.cqe[played.posted++ % ARRAY_SIZE(played.cqe)] = wr->wr_cqe;
	played.parts = wr->num_sge;
	played.bytes = 0;
	for (int i = 0; i < wr->num_sge; i++)
		played.bytes += wr->sg_list[i].length;
	return 0;
}

static int tx_init(struct kunit *test)
{
	struct bench *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);
	struct ipoib_dev *ipoib;

	KUNIT_ASSERT_NOT_NULL(test, b);
	ipoib_bed_init(test, &b->bed);
	memset(&played, 0, sizeof(played));
	ipoib = b->bed.ipoib;
	/* Whoever wakes the queue has it looked at. */
	rcu_assign_pointer(netdev_get_tx_queue(ipoib->netdev, 0)->qdisc, &noop_qdisc);
	netif_start_queue(ipoib->netdev);
	b->bed.ca->ops.post_send = play_post;
	ipoib_bed_give_qp(&b->bed);
	b->cq.cq_context = &ipoib->tx_cq;
	ipoib->group_mtu = GROUP_MTU;
	ipoib->max_sge = 4;
	INIT_WORK(&ipoib->repair, ipoib_bed_no_work);
	INIT_WORK(&ipoib->too_long_work, ipoib_bed_no_work);
	KUNIT_ASSERT_EQ(test, ipoib_tx_ring_init(&ipoib->tx), 0);
	test->priv = b;
	return 0;
}

static void tx_exit(struct kunit *test)
{
	struct bench *b = test->priv;

	if (!b)
		return;
	ipoib_tx_ring_drain(b->bed.ipoib, &b->bed.ipoib->tx);
	kvfree(b->bed.ipoib->tx.bufs);
	skb_queue_purge(&b->bed.ipoib->too_long);
}

/* A packet of so many bytes, address and header in front, in a linear part and so many others */
static struct sk_buff *packet(struct kunit *test, unsigned int len, unsigned int frags)
{
	unsigned int linear = IPOIB_HEAD_LEN + len - frags * PART;
	struct sk_buff *skb = alloc_skb(linear, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_put_zero(skb, linear);
	for (unsigned int i = 0; i < frags; i++) {
		struct page *page = alloc_page(GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, page);
		skb_add_rx_frag(skb, i, page, 0, PART, PAGE_SIZE);
	}
	return skb;
}

/* Send it; which allocation fails, 0 for none. */
static void send(struct kunit *test, struct sk_buff *skb, unsigned int nth)
{
	struct bench *b = test->priv;

	rcu_read_lock_bh();
	ipoib_bed_fail(nth);
	ipoib_ud_send(b->bed.ipoib, skb, &b->ah, 1);
	ipoib_bed_fail(0);
	rcu_read_unlock_bh();
}

/* The oldest packet has been sent, or has not. */
static void complete_one(struct kunit *test, enum ib_wc_status status)
{
	struct bench *b = test->priv;
	struct ib_wc wc = { .status = status,
			    .wr_cqe = played.cqe[b->sent++ % ARRAY_SIZE(played.cqe)] };

	local_bh_disable();
	wc.wr_cqe->done(&b->cq, &wc);
	local_bh_enable();
}

static bool stopped(struct kunit *test)
{
	struct bench *b = test->priv;

	return netif_queue_stopped(b->bed.ipoib->netdev);
}

#define STAT(_test, _name)							\
	DEV_STATS_READ(((struct bench *)(_test)->priv)->bed.ipoib->netdev, _name)

/* Three times round, so that counts of both ends wrap. */
static void stops_and_wakes(struct kunit *test)
{
	struct ipoib_dev *ipoib = ((struct bench *)test->priv)->bed.ipoib;
	unsigned int size = ipoib_sendq_size;

	for (unsigned int n = 0; n < size - 1; n++) {
		KUNIT_EXPECT_FALSE(test, stopped(test));
		KUNIT_EXPECT_FALSE(test, ipoib_is(ipoib, IPOIB_TX_AWAITED));
		send(test, packet(test, 100, 0), 0);
	}
	for (int round = 0; round < 3; round++) {
		KUNIT_EXPECT_TRUE(test, stopped(test));
		KUNIT_EXPECT_TRUE(test, test_and_clear_bit(IPOIB_TX_AWAITED, &ipoib->flags));
		for (unsigned int n = 0; n < size - 1 - size / 2; n++) {
			KUNIT_EXPECT_TRUE(test, stopped(test));
			complete_one(test, IB_WC_SUCCESS);
		}
		KUNIT_EXPECT_FALSE(test, stopped(test));
		for (unsigned int n = 0; n < size - 1 - size / 2; n++) {
			KUNIT_EXPECT_FALSE(test, stopped(test));
			send(test, packet(test, 100, 0), 0);
		}
	}
	KUNIT_EXPECT_TRUE(test, stopped(test));
	KUNIT_EXPECT_EQ(test, STAT(test, tx_dropped), 0);
	KUNIT_EXPECT_EQ(test, STAT(test, tx_packets), 3 * (size - 1 - size / 2));
}

/* An administrator wants fewer packets on their way, while there are more; and then more again. */
static void limited(struct kunit *test)
{
	struct bench *b = test->priv;

	for (int n = 0; n < 20; n++)
		send(test, packet(test, 100, 0), 0);
	b->bed.ipoib->tx_limit = 8;
	KUNIT_EXPECT_FALSE(test, stopped(test));
	send(test, packet(test, 100, 0), 0);
	while (b->sent < 21 - 4) {
		KUNIT_EXPECT_TRUE(test, stopped(test));
		complete_one(test, IB_WC_SUCCESS);
	}
	for (int n = 0; n < 3; n++) {
		KUNIT_EXPECT_FALSE(test, stopped(test));
		send(test, packet(test, 100, 0), 0);
	}
	KUNIT_EXPECT_TRUE(test, stopped(test));
	b->bed.ipoib->tx_limit = ipoib_sendq_size;
	complete_one(test, IB_WC_SUCCESS);
	KUNIT_EXPECT_FALSE(test, stopped(test));
	/* One at a time is the least. */
	b->bed.ipoib->tx_limit = IPOIB_LEAST_RING;
	while (b->sent < played.posted)
		complete_one(test, IB_WC_SUCCESS);
	for (int n = 0; n < 3; n++) {
		KUNIT_EXPECT_FALSE(test, stopped(test));
		send(test, packet(test, 100, 0), 0);
		KUNIT_EXPECT_TRUE(test, stopped(test));
		complete_one(test, IB_WC_SUCCESS);
	}
}

/* Of those who wait for a packet to be sent, its sender is one whose buffer is half full. */
static void short_sender(struct kunit *test)
{
	struct bench *b = test->priv;
	struct socket *socket;

	KUNIT_ASSERT_EQ(test, sock_create_kern(&init_net, AF_INET, SOCK_DGRAM, 0, &socket), 0);
	for (int n = 0; n < 3; n++) {
		struct sk_buff *skb = packet(test, 1000, 0);

		skb_set_owner_w(skb, socket->sk);
		socket->sk->sk_sndbuf = n ? 2 * skb->truesize : SOCK_MIN_SNDBUF * 2;
		KUNIT_EXPECT_FALSE(test, ipoib_is(b->bed.ipoib, IPOIB_TX_AWAITED));
		send(test, skb, 0);
		KUNIT_EXPECT_EQ(test, ipoib_is(b->bed.ipoib, IPOIB_TX_AWAITED), n > 0);
		clear_bit(IPOIB_TX_AWAITED, &b->bed.ipoib->flags);
	}
	while (b->sent < played.posted)
		complete_one(test, IB_WC_SUCCESS);
	sock_release(socket);
}

/* A packet that cannot be posted leaves no gap, and does not keep the queue stopped. */
static void not_posted(struct kunit *test)
{
	struct bench *b = test->priv;

	for (int n = 0; n < ipoib_sendq_size - 2; n++)
		send(test, packet(test, 100, 0), 0);
	played.post_error = -ENOMEM;
	send(test, packet(test, 100, 0), 0);
	KUNIT_EXPECT_FALSE(test, stopped(test));
	KUNIT_EXPECT_EQ(test, STAT(test, tx_errors), 1);
	played.post_error = 0;
	send(test, packet(test, 100, 0), 0);
	KUNIT_EXPECT_TRUE(test, stopped(test));
	while (b->sent < played.posted)
		complete_one(test, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, b->bed.ipoib->tx.head, b->bed.ipoib->tx.tail);
	KUNIT_EXPECT_EQ(test, STAT(test, tx_packets), ipoib_sendq_size - 1);
}

/* A send that fails has the QP repaired, and is counted. */
static void not_sent(struct kunit *test)
{
	send(test, packet(test, 100, 0), 0);
	complete_one(test, IB_WC_RETRY_EXC_ERR);
	KUNIT_EXPECT_EQ(test, STAT(test, tx_errors), 1);
	KUNIT_EXPECT_EQ(test, STAT(test, tx_packets), 0);
}

/* The device has places for four parts. */
static void parts(struct kunit *test)
{
	send(test, packet(test, 2000, 0), 0);
	KUNIT_EXPECT_EQ(test, played.parts, 1);
	send(test, packet(test, 2000, 3), 0);
	KUNIT_EXPECT_EQ(test, played.parts, 4);
	KUNIT_EXPECT_EQ(test, played.bytes, 2000 + IPOIB_ENCAP_LEN);
	send(test, packet(test, 2000, 4), 0);
	KUNIT_EXPECT_EQ(test, played.parts, 1);
	KUNIT_EXPECT_EQ(test, played.bytes, 2000 + IPOIB_ENCAP_LEN);
	KUNIT_EXPECT_EQ(test, played.posted, 3);
}

#ifdef CONFIG_FAILSLAB
/* Making one part of many takes memory: a packet without it is dropped. */
static void parts_without_memory(struct kunit *test)
{
	send(test, packet(test, 2000, 5), 1);
	KUNIT_EXPECT_EQ(test, played.posted, 0);
	KUNIT_EXPECT_EQ(test, STAT(test, tx_dropped), 1);
	send(test, packet(test, 2000, 5), 0);
	KUNIT_EXPECT_EQ(test, played.posted, 1);
}
#endif

/* Longer than the group's MTU: it is not sent, and its sender is to be told. */
static void too_long(struct kunit *test)
{
	struct bench *b = test->priv;

	send(test, packet(test, GROUP_MTU, 0), 0);
	KUNIT_EXPECT_EQ(test, played.posted, 1);
	for (int n = 1; n <= 130; n++) {
		send(test, packet(test, GROUP_MTU + 1, 0), 0);
		KUNIT_EXPECT_EQ(test, STAT(test, tx_errors), n);
		KUNIT_EXPECT_EQ(test, STAT(test, tx_dropped), n);
	}
	KUNIT_EXPECT_EQ(test, played.posted, 1);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&b->bed.ipoib->too_long), 128);
}

static struct kunit_case tx_cases[] = {
	KUNIT_CASE(stops_and_wakes),
	KUNIT_CASE(limited),
	KUNIT_CASE(short_sender),
	KUNIT_CASE(not_posted),
	KUNIT_CASE(not_sent),
	KUNIT_CASE(parts),
#ifdef CONFIG_FAILSLAB
	KUNIT_CASE(parts_without_memory),
#endif
	KUNIT_CASE(too_long),
	{}
};

static struct kunit_suite tx_suite = {
	.name = "ipoib_tx",
	.init = tx_init,
	.exit = tx_exit,
	.test_cases = tx_cases,
};

kunit_test_suite(tx_suite);

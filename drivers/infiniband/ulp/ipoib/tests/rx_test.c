// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: packets that arrive, by datagrams and by peers' connections, as peers that keep to no
 * rules send them. The device is the test's: it takes receives, and the test says what has come
 * into them.
 */
#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/slab.h>

#include "../cm.h"
#include "../ud.h"
#include "bed.h"

#define PORT_MTU	2048
#define OWN_QPN		77
#define OWN_LID		5

/**
 * struct played - what the device and the stack do; cases run one after the other
 * @posts: receives that were posted
 * @post_error: of the next ones
 * @delivered: packets that the stack got
 * @len: bytes of the last one, header included
 * @parts: its fragments
 * @type: its receiver
 * @summed: its checksum
 * @first: its first byte
 * @last: and its last one
 * @srq: shared receive queue
 * @page: pages asked for so far
 * @no_page: which of them is not there
 */
static struct played {
	unsigned int posts;
	int post_error;
	unsigned int delivered;
	unsigned int len;
	unsigned int parts;
	u8 type;
	u8 summed;
	u8 first;
	u8 last;
	struct ib_srq srq;
	unsigned int page;
	unsigned int no_page;
} played;

/**
 * struct bench - what a test has; kunit->priv
 * @bed: a device and its interface
 * @cm: its connections
 * @peer: one of a peer
 * @cq: completions of receives
 */
struct bench {
	struct ipoib_bed bed;
	struct ipoib_cm cm;
	struct ipoib_peer peer;
	struct ib_cq cq;
};

static int play_post(struct ib_qp *qp, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad)
{
	if (!played.post_error)
		played.posts++;
	return played.post_error;
}

static int play_post_srq(struct ib_srq *srq, const struct ib_recv_wr *wr,
			 const struct ib_recv_wr **bad)
{
	return play_post(NULL, wr, bad);
}

static struct ib_srq *play_create_srq(struct ipoib_cm *cm)
{
	return &played.srq;
}

static void play_destroy_srq(struct ipoib_cm *cm)
{
}

static struct page *play_new_page(struct ipoib_cm *cm, u64 *dma, gfp_t gfp)
{
	struct page *page = ++played.page == played.no_page ? NULL : alloc_page(gfp);

	if (page)
		*dma = ib_dma_map_page(cm->ipoib->ca, page, 0, PAGE_SIZE, DMA_FROM_DEVICE);
	return page;
}

static void play_deliver(struct ipoib_dev *ipoib, struct napi_struct *napi, struct sk_buff *skb)
{
	played.delivered++;
	played.len = skb->len;
	played.parts = skb_shinfo(skb)->nr_frags;
	played.type = skb->pkt_type;
	played.summed = skb->ip_summed;
	if (skb_copy_bits(skb, 0, &played.first, 1) ||
	    skb_copy_bits(skb, skb->len - 1, &played.last, 1))
		played.len = 0;
	kfree_skb(skb);
}

static int no_poll(struct napi_struct *napi, int budget)
{
	return 0;
}

static int rx_init(struct kunit *test)
{
	struct bench *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);
	struct ipoib_dev *ipoib;

	KUNIT_ASSERT_NOT_NULL(test, b);
	ipoib_bed_init(test, &b->bed);
	memset(&played, 0, sizeof(played));
	ipoib = b->bed.ipoib;
	b->bed.ca->ops.post_recv = play_post;
	b->bed.ca->ops.post_srq_recv = play_post_srq;
	ipoib_bed_give_qp(&b->bed);
	b->bed.qp.qp_num = OWN_QPN;
	b->bed.qp.qp_context = &b->peer;
	b->cq.cq_context = &ipoib->rx_cq;
	played.srq.device = b->bed.ca;
	ipoib->rx_cq.cq = &b->cq;
	ipoib->port_mtu = PORT_MTU;
	ipoib->lid = OWN_LID;
	ipoib->gid.global.interface_id = cpu_to_be64(5);
	netif_napi_add(ipoib->netdev, &ipoib->rx_cq.napi, no_poll);
	kunit_activate_static_stub(test, ipoib_rx_deliver, play_deliver);
	kunit_activate_static_stub(test, ipoib_cm_create_srq, play_create_srq);
	kunit_activate_static_stub(test, ipoib_cm_destroy_srq, play_destroy_srq);
	kunit_activate_static_stub(test, ipoib_cm_new_page, play_new_page);
	ipoib->rx_bufs = kunit_kcalloc(test, ipoib_recvq_size, sizeof(*ipoib->rx_bufs), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ipoib->rx_bufs);
	test->priv = b;
	return 0;
}

static void rx_exit(struct kunit *test)
{
	struct bench *b = test->priv;

	if (!b)
		return;
	ipoib_rx_empty(b->bed.ipoib);
	if (b->cm.ipoib) {
		ipoib_cm_empty_peer(&b->peer);
		ipoib_cm_rx_destroy(&b->cm);
	}
	netif_napi_del(&b->bed.ipoib->rx_cq.napi);
}

static void fill(struct kunit *test)
{
	struct bench *b = test->priv;

	KUNIT_ASSERT_EQ(test, ipoib_rx_fill(b->bed.ipoib), 0);
	KUNIT_ASSERT_EQ(test, played.posts, ipoib_recvq_size);
	played.posts = 0;
}

/* An interface's connections: entries of a receive of the shared queue and of a QP; 0 for none */
static void create_cm(struct kunit *test, int shared, int own)
{
	struct bench *b = test->priv;

	b->cm.ipoib = b->bed.ipoib;
	b->bed.ca->attrs.max_srq_sge = shared;
	b->bed.ca->attrs.max_recv_sge = own;
	b->bed.ca->attrs.max_cqe = INT_MAX;
	b->peer.cm = &b->cm;
	b->peer.qp = &b->bed.qp;
	b->peer.dry = ipoib_peer_dry;
	INIT_LIST_HEAD(&b->cm.peers);
	INIT_LIST_HEAD(&b->cm.ended);
	INIT_WORK(&b->cm.reap, ipoib_bed_no_work);
	INIT_LIST_HEAD(&b->peer.entry);
	init_completion(&b->peer.last);
	KUNIT_ASSERT_EQ(test, ipoib_cm_rx_create(&b->cm), 0);
	KUNIT_ASSERT_EQ(test, b->cm.pages, IPOIB_CM_PAGES);
	b->bed.ipoib->cm = &b->cm;
}

static void fill_cm(struct kunit *test)
{
	struct bench *b = test->priv;

	create_cm(test, 1000, 0);
	KUNIT_ASSERT_EQ(test, ipoib_cm_fill(&b->cm), 0);
	KUNIT_ASSERT_EQ(test, played.posts, ipoib_recvq_size);
	played.posts = 0;
}

/* Something has come into the first datagram's buffer; which allocation fails, 0 for none. */
static void come(struct kunit *test, struct ib_wc *wc, unsigned int nth)
{
	struct bench *b = test->priv;
	struct ipoib_rx_buf *buf = &b->bed.ipoib->rx_bufs[0];

	wc->wr_cqe = &buf->cqe;
	local_bh_disable();
	ipoib_bed_fail(nth);
	buf->cqe.done(&b->cq, wc);
	ipoib_bed_fail(0);
	local_bh_enable();
}

static void come_into(struct kunit *test, struct ipoib_cm_buf *buf, struct ib_wc *wc)
{
	struct bench *b = test->priv;

	wc->wr_cqe = &buf->cqe;
	wc->qp = &b->bed.qp;
	local_bh_disable();
	buf->cqe.done(&b->cq, wc);
	local_bh_enable();
}

static void come_by_peer(struct kunit *test, struct ib_wc *wc)
{
	come_into(test, &((struct bench *)test->priv)->cm.ring.bufs[0], wc);
}

#define STAT(_test, _name)							\
	DEV_STATS_READ(((struct bench *)(_test)->priv)->bed.ipoib->netdev, _name)

static void expect_dropped(struct kunit *test, unsigned int n)
{
	KUNIT_EXPECT_EQ(test, STAT(test, rx_length_errors), n);
	KUNIT_EXPECT_EQ(test, STAT(test, rx_errors), n);
	KUNIT_EXPECT_EQ(test, played.delivered, 0);
	/* The buffer is posted again. */
	KUNIT_EXPECT_EQ(test, played.posts, n);
}

/* Not even the header of 4 bytes, or more than fits */
static void wrong_length(struct kunit *test)
{
	static const u32 lengths[] = {
		0, 1, 3, IB_GRH_BYTES - 1, IB_GRH_BYTES, IB_GRH_BYTES + IPOIB_ENCAP_LEN - 1,
		IB_GRH_BYTES + PORT_MTU + 1, 65536, S32_MAX, U32_MAX
	};

	fill(test);
	for (unsigned int i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct ib_wc wc = { .byte_len = lengths[i], .wc_flags = IB_WC_GRH };

		come(test, &wc, 0);
		expect_dropped(test, i + 1);
	}
}

static void peers_wrong_length(struct kunit *test)
{
	static const u32 lengths[] = {
		0, 1, 3, IPOIB_CM_PAGES * PAGE_SIZE + 1, 1 << 30, S32_MAX, U32_MAX
	};

	fill_cm(test);
	for (unsigned int i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct ib_wc wc = { .byte_len = lengths[i] };

		come_by_peer(test, &wc);
		expect_dropped(test, i + 1);
	}
}

/* All lengths that there may be come whole. */
static void right_length(struct kunit *test)
{
	static const u32 lengths[] = { IPOIB_ENCAP_LEN, 200, 216, 217, 1000, PORT_MTU };
	struct bench *b = test->priv;
	struct ipoib_rx_buf *buf;

	fill(test);
	buf = &b->bed.ipoib->rx_bufs[0];
	for (unsigned int i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct ib_wc wc = { .byte_len = IB_GRH_BYTES + lengths[i] };

		buf->skb->data[IB_GRH_BYTES] = 11;
		buf->skb->data[IB_GRH_BYTES + lengths[i] - 1] = 22 + i;
		come(test, &wc, 0);
		KUNIT_EXPECT_EQ(test, played.delivered, i + 1);
		KUNIT_EXPECT_EQ(test, played.posts, i + 1);
		KUNIT_EXPECT_EQ(test, played.len, lengths[i]);
		KUNIT_EXPECT_EQ(test, played.first, 11);
		KUNIT_EXPECT_EQ(test, played.last, 22 + i);
		KUNIT_EXPECT_EQ(test, played.type, PACKET_HOST);
		KUNIT_EXPECT_NOT_NULL(test, buf->skb);
	}
	KUNIT_EXPECT_EQ(test, STAT(test, rx_errors), 0);
}

static void peers_right_length(struct kunit *test)
{
	static const u32 lengths[] = {
		IPOIB_ENCAP_LEN, 256, 257, PAGE_SIZE, PAGE_SIZE + 1, 30000,
		IPOIB_CM_PAGES * PAGE_SIZE
	};
	struct bench *b = test->priv;

	fill_cm(test);
	for (unsigned int i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct ib_wc wc = { .byte_len = lengths[i] };
		unsigned int end = lengths[i] - 1;
		struct page **pages = b->cm.ring.bufs[0].pages;

		*(u8 *)page_address(pages[0]) = 11;
		((u8 *)page_address(pages[end / PAGE_SIZE]))[end % PAGE_SIZE] = 22 + i;
		come_by_peer(test, &wc);
		KUNIT_EXPECT_EQ(test, played.delivered, i + 1);
		KUNIT_EXPECT_EQ(test, played.posts, i + 1);
		KUNIT_EXPECT_EQ(test, played.len, lengths[i]);
		KUNIT_EXPECT_EQ(test, played.first, 11);
		KUNIT_EXPECT_EQ(test, played.last, 22 + i);
		KUNIT_EXPECT_EQ(test, played.parts,
				lengths[i] <= 256 ? 0 : DIV_ROUND_UP(lengths[i], PAGE_SIZE));
	}
}

/* Whom a packet is for, and whether its checksum is right */
static void content(struct kunit *test)
{
	struct bench *b = test->priv;
	struct net_device *netdev = b->bed.ipoib->netdev;
	struct ib_wc wc = { .byte_len = 100, .wc_flags = IB_WC_GRH | IB_WC_IP_CSUM_OK };
	struct ib_grh *grh;

	fill(test);
	grh = (struct ib_grh *)b->bed.ipoib->rx_bufs[0].skb->data;
	memset(&netdev->broadcast[4], 0xff, 16);
	memset(&grh->dgid, 0xff, sizeof(grh->dgid));
	come(test, &wc, 0);
	KUNIT_EXPECT_EQ(test, played.type, PACKET_BROADCAST);
	KUNIT_EXPECT_EQ(test, played.summed, CHECKSUM_NONE);
	grh->dgid.raw[15] = 1;
	netdev->features |= NETIF_F_RXCSUM;
	come(test, &wc, 0);
	KUNIT_EXPECT_EQ(test, played.type, PACKET_MULTICAST);
	KUNIT_EXPECT_EQ(test, played.summed, CHECKSUM_UNNECESSARY);
	grh->dgid.raw[0] = 0xfe;
	wc.wc_flags = IB_WC_GRH;
	come(test, &wc, 0);
	KUNIT_EXPECT_EQ(test, played.type, PACKET_HOST);
	KUNIT_EXPECT_EQ(test, played.summed, CHECKSUM_NONE);
	/* Without a GRH nobody has written these bytes. */
	grh->dgid.raw[0] = 0xff;
	wc.wc_flags = 0;
	come(test, &wc, 0);
	KUNIT_EXPECT_EQ(test, played.type, PACKET_HOST);
	KUNIT_EXPECT_EQ(test, played.delivered, 4);

	/* What a switch has sent back is nobody's. */
	wc.slid = OWN_LID;
	wc.src_qp = OWN_QPN;
	come(test, &wc, 0);
	KUNIT_EXPECT_EQ(test, played.delivered, 4);
	wc.wc_flags = IB_WC_GRH;
	grh->sgid.global.interface_id = cpu_to_be64(6);
	come(test, &wc, 0);
	KUNIT_EXPECT_EQ(test, played.delivered, 5);
	grh->sgid.global.interface_id = cpu_to_be64(5);
	come(test, &wc, 0);
	KUNIT_EXPECT_EQ(test, played.delivered, 5);
	KUNIT_EXPECT_EQ(test, played.posts, 7);
	KUNIT_EXPECT_EQ(test, STAT(test, rx_errors), 0);
}

/* An administrator wants fewer receives. */
static void limited(struct kunit *test)
{
	struct bench *b = test->priv;
	struct ipoib_dev *ipoib = b->bed.ipoib;

	ipoib->rx_limit = 10;
	KUNIT_EXPECT_EQ(test, ipoib_rx_fill(ipoib), 0);
	KUNIT_EXPECT_EQ(test, played.posts, 10);
	KUNIT_EXPECT_EQ(test, atomic_read(&ipoib->rx_posted), 10);
	KUNIT_EXPECT_NULL(test, ipoib->rx_bufs[10].skb);
	ipoib_rx_empty(ipoib);
	KUNIT_EXPECT_EQ(test, atomic_read(&ipoib->rx_posted), 0);
}

/* A receive that has failed, and one that cannot be posted again, leave the queue. */
static void receive_ends(struct kunit *test)
{
	struct bench *b = test->priv;
	struct ipoib_dev *ipoib = b->bed.ipoib;
	struct ib_wc wc = { .status = IB_WC_LOC_LEN_ERR };

	fill(test);
	come(test, &wc, 0);
	KUNIT_EXPECT_EQ(test, STAT(test, rx_errors), 1);
	KUNIT_EXPECT_NULL(test, ipoib->rx_bufs[0].skb);
	KUNIT_EXPECT_EQ(test, atomic_read(&ipoib->rx_posted), ipoib_recvq_size - 1);
	ipoib_rx_empty(ipoib);
	KUNIT_EXPECT_EQ(test, atomic_read(&ipoib->rx_posted), 0);

	fill(test);
	played.post_error = -EINVAL;
	wc = (struct ib_wc){ .byte_len = 1000 };
	come(test, &wc, 0);
	KUNIT_EXPECT_EQ(test, played.delivered, 1);
	KUNIT_EXPECT_NULL(test, ipoib->rx_bufs[0].skb);
	/* A flushed one is no error. */
	played.post_error = 0;
	ipoib_rx_empty(ipoib);
	fill(test);
	wc = (struct ib_wc){ .status = IB_WC_WR_FLUSH_ERR };
	come(test, &wc, 0);
	KUNIT_EXPECT_EQ(test, STAT(test, rx_errors), 1);
	KUNIT_EXPECT_EQ(test, played.posts, 0);
}

#ifdef CONFIG_FAILSLAB
/* A packet for which there is no memory is dropped, and its buffer serves the next. */
static void packet_without_memory(struct kunit *test)
{
	struct bench *b = test->priv;
	struct ib_wc wc = { .byte_len = 1000 };

	fill(test);
	come(test, &wc, 1);
	KUNIT_EXPECT_EQ(test, STAT(test, rx_dropped), 1);
	KUNIT_EXPECT_EQ(test, played.delivered, 0);
	KUNIT_EXPECT_EQ(test, played.posts, 1);
	KUNIT_EXPECT_NOT_NULL(test, b->bed.ipoib->rx_bufs[0].skb);
	come(test, &wc, 0);
	KUNIT_EXPECT_EQ(test, played.delivered, 1);
}

/*
 * An interface that has not got all its receives gives those back that it has. Of the allocations
 * that fail some may be kmemleak's, which does without: one of two neighbours never is.
 */
static void fill_without_memory(struct kunit *test)
{
	static const unsigned int nths[] = { 1, 2, 3, 50, 51, 200, 201 };
	struct bench *b = test->priv;
	struct ipoib_dev *ipoib = b->bed.ipoib;
	unsigned int failed = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(nths); i++) {
		int ret;

		ipoib_bed_fail(nths[i]);
		ret = ipoib_rx_fill(ipoib);
		KUNIT_EXPECT_TRUE(test, ipoib_bed_fail(0));
		if (ret)
			KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
		failed += !!ret;
		KUNIT_EXPECT_EQ(test, atomic_read(&ipoib->rx_posted), played.posts);
		ipoib_rx_empty(ipoib);
		KUNIT_EXPECT_EQ(test, atomic_read(&ipoib->rx_posted), 0);
		played.posts = 0;
	}
	KUNIT_EXPECT_GE(test, failed, 3);
	fill(test);
}
#endif

static void peers_packet_without_memory(struct kunit *test)
{
	struct ib_wc wc = { .byte_len = 3 * PAGE_SIZE };
	struct bench *b = test->priv;

	fill_cm(test);
	/* Each of its pages needs another one in its place. */
	for (unsigned int nth = 1; nth <= 3; nth++) {
		played.page = 0;
		played.no_page = nth;
		come_by_peer(test, &wc);
		KUNIT_EXPECT_EQ(test, STAT(test, rx_dropped), nth);
		KUNIT_EXPECT_EQ(test, played.posts, nth);
		for (unsigned int i = 0; i < b->cm.pages; i++)
			KUNIT_ASSERT_NOT_NULL(test, b->cm.ring.bufs[0].pages[i]);
	}
	KUNIT_EXPECT_EQ(test, played.delivered, 0);
	played.no_page = 0;
	come_by_peer(test, &wc);
	KUNIT_EXPECT_EQ(test, played.delivered, 1);
}

/* What could not be allocated for connections comes with the next peer. */
static void fill_cm_without_memory(struct kunit *test)
{
	struct bench *b = test->priv;

	create_cm(test, 1000, 0);
	played.no_page = 5 * IPOIB_CM_PAGES + 3;
	KUNIT_EXPECT_EQ(test, ipoib_cm_fill(&b->cm), -ENOMEM);
	KUNIT_EXPECT_EQ(test, b->cm.ring.filled, 5);
	KUNIT_EXPECT_NULL(test, b->cm.ring.bufs[5].pages[0]);
	KUNIT_EXPECT_EQ(test, ipoib_cm_fill(&b->cm), 0);
	KUNIT_EXPECT_EQ(test, played.posts, ipoib_recvq_size);
}

/* What comes into a connection's own receives is posted again; the last one that is not ends it. */
static void own_receives(struct kunit *test)
{
	struct ib_wc wc = { .byte_len = 3 * PAGE_SIZE };
	struct bench *b = test->priv;
	struct ipoib_peer *peer = &b->peer;
	struct ipoib_cm_buf *bufs;

	create_cm(test, 0, 1000);
	KUNIT_EXPECT_NULL(test, b->cm.srq);
	KUNIT_ASSERT_TRUE(test, ipoib_peer_enter(peer));
	KUNIT_ASSERT_EQ(test, ipoib_cm_fill_peer(peer), 0);
	KUNIT_EXPECT_EQ(test, played.posts, ipoib_recvq_size);
	KUNIT_EXPECT_EQ(test, peer->posted, ipoib_recvq_size);
	bufs = peer->ring.bufs;
	played.posts = 0;
	come_into(test, &bufs[0], &wc);
	KUNIT_EXPECT_EQ(test, played.delivered, 1);
	KUNIT_EXPECT_EQ(test, played.posts, 1);
	KUNIT_EXPECT_EQ(test, peer->posted, ipoib_recvq_size);

	/* One that cannot be posted, one that has failed, and those that are flushed behind it */
	played.post_error = -EINVAL;
	come_into(test, &bufs[0], &wc);
	KUNIT_EXPECT_EQ(test, played.delivered, 2);
	KUNIT_EXPECT_EQ(test, peer->posted, ipoib_recvq_size - 1);
	played.post_error = 0;
	wc.status = IB_WC_LOC_LEN_ERR;
	come_into(test, &bufs[1], &wc);
	KUNIT_EXPECT_EQ(test, STAT(test, rx_errors), 1);
	wc.status = IB_WC_WR_FLUSH_ERR;
	for (int i = 2; i < ipoib_recvq_size; i++) {
		KUNIT_EXPECT_FALSE(test, peer->ending);
		KUNIT_EXPECT_FALSE(test, completion_done(&peer->last));
		come_into(test, &bufs[i], &wc);
	}
	KUNIT_EXPECT_EQ(test, played.posts, 1);
	KUNIT_EXPECT_EQ(test, STAT(test, rx_errors), 1);
	KUNIT_EXPECT_TRUE(test, peer->ending);
	KUNIT_EXPECT_TRUE(test, completion_done(&peer->last));
	flush_work(&b->cm.reap);
}

/* They are all flushed before the peer has entered, as by a device that dies. */
static void own_receives_flushed_early(struct kunit *test)
{
	struct ib_wc wc = { .status = IB_WC_WR_FLUSH_ERR };
	struct bench *b = test->priv;

	create_cm(test, 0, 1000);
	KUNIT_ASSERT_EQ(test, ipoib_cm_fill_peer(&b->peer), 0);
	for (int i = 0; i < ipoib_recvq_size; i++)
		come_into(test, &b->peer.ring.bufs[i], &wc);
	KUNIT_EXPECT_TRUE(test, completion_done(&b->peer.last));
	KUNIT_EXPECT_FALSE(test, b->peer.ending);
	KUNIT_EXPECT_TRUE(test, list_empty(&b->cm.ended));
	KUNIT_EXPECT_TRUE(test, ipoib_peer_enter(&b->peer));
}

/* A connection that has not got all its receives gives those back that it has. */
static void own_receives_without_memory(struct kunit *test)
{
	struct bench *b = test->priv;

	create_cm(test, 0, 1000);
	played.no_page = 5 * IPOIB_CM_PAGES + 3;
	KUNIT_EXPECT_EQ(test, ipoib_cm_fill_peer(&b->peer), -ENOMEM);
	KUNIT_EXPECT_EQ(test, b->peer.posted, 5);
	ipoib_cm_empty_peer(&b->peer);
	b->peer.ring = (struct ipoib_cm_ring){};
	played.posts = 0;
	played.post_error = -EINVAL;
	KUNIT_EXPECT_EQ(test, ipoib_cm_fill_peer(&b->peer), -EINVAL);
	KUNIT_EXPECT_EQ(test, b->peer.posted, 0);
}

static struct kunit_case rx_cases[] = {
	KUNIT_CASE(wrong_length),
	KUNIT_CASE(peers_wrong_length),
	KUNIT_CASE(right_length),
	KUNIT_CASE(peers_right_length),
	KUNIT_CASE(content),
	KUNIT_CASE(limited),
	KUNIT_CASE(receive_ends),
#ifdef CONFIG_FAILSLAB
	KUNIT_CASE(packet_without_memory),
	KUNIT_CASE(fill_without_memory),
#endif
	KUNIT_CASE(peers_packet_without_memory),
	KUNIT_CASE(fill_cm_without_memory),
	KUNIT_CASE(own_receives),
	KUNIT_CASE(own_receives_flushed_early),
	KUNIT_CASE(own_receives_without_memory),
	{}
};

static struct kunit_suite rx_suite = {
	.name = "ipoib_rx",
	.init = rx_init,
	.exit = rx_exit,
	.test_cases = rx_cases,
};

kunit_test_suite(rx_suite);

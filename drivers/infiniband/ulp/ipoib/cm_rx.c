// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Receives of peers' connections: a queue that all share, or where the device has none, a ring of
 * each connection. Their buffers are single pages, which become fragments of packets. Those of the
 * shared queue are allocated when the first peer connects.
 */
#include <kunit/static_stub.h>
#include <kunit/visibility.h>
#include <linux/skbuff.h>
#include <linux/slab.h>

#include "cm.h"
#include "ud.h"

/* Bytes of a packet that are copied, so that its headers are in the linear part. A packet that is
 * not longer uses up no page.
 */
#define COPY_LEN	256

static void unmap(struct ipoib_cm *cm, u64 dma)
{
	ib_dma_unmap_page(cm->ipoib->ca, dma, PAGE_SIZE, DMA_FROM_DEVICE);
}

/**
 * ipoib_cm_new_page() - take a page of a receive's buffer
 * @cm: interface's connections
 * @dma: receives its DMA address
 * @gfp: whether this may sleep
 *
 * Context: as @gfp says.
 * Return: the page, or NULL.
 */
VISIBLE_IF_KUNIT struct page *ipoib_cm_new_page(struct ipoib_cm *cm, u64 *dma, gfp_t gfp)
{
	struct page *page;

	KUNIT_STATIC_STUB_REDIRECT(ipoib_cm_new_page, cm, dma, gfp);
	page = alloc_page(gfp);
	if (!page)
		return NULL;
	*dma = ib_dma_map_page(cm->ipoib->ca, page, 0, PAGE_SIZE, DMA_FROM_DEVICE);
	if (!ib_dma_mapping_error(cm->ipoib->ca, *dma))
		return page;
	__free_page(page);
	return NULL;
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_cm_new_page);

/* @qp: its own receives, if none are shared */
static int post(struct ipoib_cm *cm, struct ib_qp *qp, struct ipoib_cm_buf *buf)
{
	struct ib_recv_wr wr = { .wr_cqe = &buf->cqe, .num_sge = cm->pages };
	struct ib_sge sge[IPOIB_CM_PAGES];

	for (unsigned int i = 0; i < cm->pages; i++)
		sge[i] = (struct ib_sge){
			.addr = buf->dma[i],
			.length = PAGE_SIZE,
			.lkey = cm->ipoib->pd->local_dma_lkey,
		};
	wr.sg_list = sge;
	return cm->srq ? ib_post_srq_recv(cm->srq, &wr, NULL) : ib_post_recv(qp, &wr, NULL);
}

/* Moves a page of the buffer into the packet, and puts a new one into its place. */
static bool move_page(struct ipoib_cm *cm, struct ipoib_cm_buf *buf, unsigned int i,
		      struct sk_buff *skb, unsigned int offset, unsigned int end)
{
	struct page *page;
	u64 dma;

	page = ipoib_cm_new_page(cm, &dma, GFP_ATOMIC);
	if (!page)
		return false;
	unmap(cm, buf->dma[i]);
	skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, buf->pages[i], offset, end - offset,
			PAGE_SIZE);
	buf->pages[i] = page;
	buf->dma[i] = dma;
	return true;
}

static struct sk_buff *take(struct ipoib_cm *cm, struct ipoib_cm_buf *buf, unsigned int len)
{
	unsigned int copied = min(len, COPY_LEN);
	struct ib_device *ca = cm->ipoib->ca;
	struct sk_buff *skb;

	skb = napi_alloc_skb(&cm->ipoib->rx_cq.napi, IPOIB_ADDR_LEN + copied);
	if (!skb)
		return NULL;
	skb_reserve(skb, IPOIB_ADDR_LEN);
	ib_dma_sync_single_for_cpu(ca, buf->dma[0], copied, DMA_FROM_DEVICE);
	skb_put_data(skb, page_address(buf->pages[0]), copied);
	ib_dma_sync_single_for_device(ca, buf->dma[0], copied, DMA_FROM_DEVICE);
	for (unsigned int i = 0; i * PAGE_SIZE < len && len > copied; i++)
		if (!move_page(cm, buf, i, skb, i ? 0 : copied,
			       min_t(unsigned int, len - i * PAGE_SIZE, PAGE_SIZE))) {
			kfree_skb(skb);
			return NULL;
		}
	return skb;
}

static void receive(struct ipoib_cm *cm, struct ipoib_cm_buf *buf, const struct ib_wc *wc)
{
	struct ipoib_peer *peer = wc->qp->qp_context;
	struct ipoib_dev *ipoib = cm->ipoib;
	struct sk_buff *skb;

	WRITE_ONCE(peer->used, jiffies);
	if (wc->byte_len < IPOIB_ENCAP_LEN || wc->byte_len > cm->pages * PAGE_SIZE) {
		DEV_STATS_INC(ipoib->netdev, rx_length_errors);
		DEV_STATS_INC(ipoib->netdev, rx_errors);
		return;
	}
	skb = take(cm, buf, wc->byte_len);
	if (!skb) {
		DEV_STATS_INC(ipoib->netdev, rx_dropped);
		return;
	}
	skb->pkt_type = PACKET_HOST;
	ipoib_rx_deliver(ipoib, &ipoib->rx_cq.napi, skb);
}

/* A QP has one less of its own receives. */
static void lost(struct ipoib_peer *peer)
{
	if (!--peer->posted)
		peer->dry(peer);
}

static void received(struct ib_cq *cq, struct ib_wc *wc)
{
	struct ipoib_cq *queue = cq->cq_context;
	struct ipoib_dev *ipoib = container_of(queue, struct ipoib_dev, rx_cq);
	struct ipoib_cm_buf *buf = container_of(wc->wr_cqe, struct ipoib_cm_buf, cqe);
	bool shared = ipoib->cm->srq;

	if (wc->status == IB_WC_SUCCESS)
		receive(ipoib->cm, buf, wc);
	else if (wc->status != IB_WC_WR_FLUSH_ERR)
		DEV_STATS_INC(ipoib->netdev, rx_errors);
	/*
	 * If the queue is shared, receives that are flushed with one peer's QP serve the others. A
	 * QP that has receives of its own takes none after an error.
	 */
	if ((shared || wc->status == IB_WC_SUCCESS) && !post(ipoib->cm, wc->qp, buf))
		return;
	if (shared)
		ipoib_dbg(ipoib, "a receive of the shared queue is lost\n");
	else
		lost(wc->qp->qp_context);
}

static void free_buf(struct ipoib_cm *cm, struct ipoib_cm_buf *buf)
{
	for (unsigned int i = 0; i < cm->pages; i++) {
		if (!buf->pages[i])
			break;
		unmap(cm, buf->dma[i]);
		__free_page(buf->pages[i]);
		buf->pages[i] = NULL;
	}
}

static int make_buf(struct ipoib_cm *cm, struct ib_qp *qp, struct ipoib_cm_buf *buf)
{
	int ret;

	buf->cqe.done = received;
	for (unsigned int i = 0; i < cm->pages; i++) {
		buf->pages[i] = ipoib_cm_new_page(cm, &buf->dma[i], GFP_KERNEL);
		if (!buf->pages[i]) {
			free_buf(cm, buf);
			return -ENOMEM;
		}
	}
	ret = post(cm, qp, buf);
	if (ret)
		free_buf(cm, buf);
	return ret;
}

static int create_ring(struct ipoib_cm_ring *ring)
{
	ring->bufs = kvcalloc(ipoib_recvq_size, sizeof(*ring->bufs), GFP_KERNEL);
	return ring->bufs ? 0 : -ENOMEM;
}

static int fill(struct ipoib_cm *cm, struct ib_qp *qp, struct ipoib_cm_ring *ring)
{
	for (; ring->filled < ipoib_recvq_size; ring->filled++) {
		int ret = make_buf(cm, qp, &ring->bufs[ring->filled]);

		if (ret)
			return ret;
	}
	return 0;
}

static void destroy_ring(struct ipoib_cm *cm, struct ipoib_cm_ring *ring)
{
	for (unsigned int i = 0; i < ring->filled; i++)
		free_buf(cm, &ring->bufs[i]);
	kvfree(ring->bufs);
}

/**
 * ipoib_cm_fill() - fill the shared receive queue, if that has not been done
 * @cm: interface's connections
 *
 * What could not be allocated is tried again with the next peer.
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM or what the device answers.
 */
int ipoib_cm_fill(struct ipoib_cm *cm)
{
	guard(mutex)(&cm->fill);
	return fill(cm, NULL, &cm->ring);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_cm_fill);

/**
 * ipoib_cm_fill_peer() - give a connection's QP receives of its own
 * @peer: the connection, whose QP is in INIT
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM or what the device answers: then, too, ipoib_cm_empty_peer() is due.
 */
int ipoib_cm_fill_peer(struct ipoib_peer *peer)
{
	int ret = create_ring(&peer->ring) ?: fill(peer->cm, peer->qp, &peer->ring);

	peer->posted = peer->ring.filled;
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_cm_fill_peer);

/**
 * ipoib_cm_empty_peer() - free a connection's own receives
 * @peer: the connection, whose QP is destroyed; it may have no receives of its own
 *
 * Context: may sleep.
 */
void ipoib_cm_empty_peer(struct ipoib_peer *peer)
{
	destroy_ring(peer->cm, &peer->ring);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_cm_empty_peer);

/**
 * ipoib_cm_create_srq() - have the device make the queue
 * @cm: interface's connections
 *
 * Context: may sleep.
 * Return: the queue, or what the device answers as an ERR_PTR.
 */
VISIBLE_IF_KUNIT struct ib_srq *ipoib_cm_create_srq(struct ipoib_cm *cm)
{
	struct ib_srq_init_attr attr = {
		.attr = { .max_wr = ipoib_recvq_size, .max_sge = cm->pages },
		.srq_type = IB_SRQT_BASIC,
	};

	KUNIT_STATIC_STUB_REDIRECT(ipoib_cm_create_srq, cm);
	return ib_create_srq(cm->ipoib->pd, &attr);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_cm_create_srq);

/**
 * ipoib_cm_destroy_srq() - have the device destroy the queue
 * @cm: interface's connections
 *
 * Context: may sleep.
 */
VISIBLE_IF_KUNIT void ipoib_cm_destroy_srq(struct ipoib_cm *cm)
{
	KUNIT_STATIC_STUB_REDIRECT(ipoib_cm_destroy_srq, cm);
	ib_destroy_srq(cm->srq);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_cm_destroy_srq);

/* Have the device make the shared receive queue. */
static int share(struct ipoib_cm *cm)
{
	unsigned int most = cm->ipoib->ca->attrs.max_srq_sge;
	struct ib_srq *srq;

	if (!most)
		return -EOPNOTSUPP;
	cm->pages = min_t(unsigned int, most, IPOIB_CM_PAGES);
	srq = ipoib_cm_create_srq(cm);
	if (IS_ERR(srq))
		return PTR_ERR(srq);
	cm->srq = srq;
	cm->max_peers = IPOIB_MAX_PEERS;
	cm->extra_peers = IPOIB_MAX_ENDING;
	return 0;
}

/* Each connection is to have receives of its own. */
static int do_not_share(struct ipoib_cm *cm)
{
	const struct ib_device_attr *attrs = &cm->ipoib->ca->attrs;

	cm->pages = min_t(unsigned int, attrs->max_recv_sge, IPOIB_CM_PAGES);
	cm->max_peers = ipoib_cm_peers(ipoib_max_nonsrq, ipoib_recvq_size, attrs->max_cqe);
	return cm->pages ? 0 : -EOPNOTSUPP;
}

/**
 * ipoib_cm_rx_create() - make the shared receive queue, or do without
 * @cm: interface's connections; receives and the number of peers are set
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM; -EOPNOTSUPP if the device cannot receive.
 */
int ipoib_cm_rx_create(struct ipoib_cm *cm)
{
	int ret;

	mutex_init(&cm->fill);
	ret = share(cm);
	if (!ret) {
		ret = create_ring(&cm->ring);
		if (ret)
			ipoib_cm_destroy_srq(cm);
		return ret;
	}
	if (ret != -EOPNOTSUPP)
		netdev_warn(cm->ipoib->netdev,
			    "each connection has receives of its own: no shared queue, error %d\n",
			    ret);
	return do_not_share(cm);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_cm_rx_create);

/**
 * ipoib_cm_rx_destroy() - undo ipoib_cm_rx_create()
 * @cm: interface's connections, all of which have ended
 *
 * Context: may sleep.
 */
void ipoib_cm_rx_destroy(struct ipoib_cm *cm)
{
	if (cm->srq)
		ipoib_cm_destroy_srq(cm);
	destroy_ring(cm, &cm->ring);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_cm_rx_destroy);

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The shared receive queue of all peers' connections. Its buffers are single pages, which become
 * fragments of packets. They are allocated when the first peer connects.
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

static int post(struct ipoib_cm *cm, struct ipoib_cm_buf *buf)
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
	return ib_post_srq_recv(cm->srq, &wr, NULL);
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

static void received(struct ib_cq *cq, struct ib_wc *wc)
{
	struct ipoib_cq *queue = cq->cq_context;
	struct ipoib_dev *ipoib = container_of(queue, struct ipoib_dev, rx_cq);
	struct ipoib_cm_buf *buf = container_of(wc->wr_cqe, struct ipoib_cm_buf, cqe);

	if (wc->status == IB_WC_SUCCESS)
		receive(ipoib->cm, buf, wc);
	else if (wc->status != IB_WC_WR_FLUSH_ERR)
		DEV_STATS_INC(ipoib->netdev, rx_errors);
	/* The queue is shared: receives that are flushed with one peer's QP serve the others. */
	if (post(ipoib->cm, buf))
		ipoib_dbg(ipoib, "a receive of the shared queue is lost\n");
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

static int make_buf(struct ipoib_cm *cm, struct ipoib_cm_buf *buf)
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
	ret = post(cm, buf);
	if (ret)
		free_buf(cm, buf);
	return ret;
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
	for (; cm->filled < ipoib_recvq_size; cm->filled++) {
		int ret = make_buf(cm, &cm->bufs[cm->filled]);

		if (ret)
			return ret;
	}
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_cm_fill);

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

/**
 * ipoib_cm_rx_create() - make the shared receive queue
 * @cm: interface's connections
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM; -EOPNOTSUPP if the device gives no queue, whatever it answers.
 */
int ipoib_cm_rx_create(struct ipoib_cm *cm)
{
	mutex_init(&cm->fill);
	cm->bufs = kvcalloc(ipoib_recvq_size, sizeof(*cm->bufs), GFP_KERNEL);
	if (!cm->bufs)
		return -ENOMEM;
	cm->srq = ipoib_cm_create_srq(cm);
	if (!IS_ERR(cm->srq))
		return 0;
	if (PTR_ERR(cm->srq) != -EOPNOTSUPP)
		netdev_warn(cm->ipoib->netdev,
			    "no connected mode without a shared receive queue: error %ld\n",
			    PTR_ERR(cm->srq));
	kvfree(cm->bufs);
	return -EOPNOTSUPP;
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
	ipoib_cm_destroy_srq(cm);
	for (unsigned int i = 0; i < cm->filled; i++)
		free_buf(cm, &cm->bufs[i]);
	kvfree(cm->bufs);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_cm_rx_destroy);

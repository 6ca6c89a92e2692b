// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Packets that are sent. All QPs of an interface together have as many packets under way as one
 * ring has entries, or fewer if the administrator says so; then the stack has to wait until half of
 * them are sent.
 */
#include <kunit/visibility.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <net/sock.h>

#include "ud.h"

/**
 * ipoib_tx_ring_init() - begin an empty ring
 * @ring: the ring
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int ipoib_tx_ring_init(struct ipoib_tx_ring *ring)
{
	ring->bufs = kvcalloc(ipoib_sendq_size, sizeof(*ring->bufs), GFP_KERNEL);
	if (!ring->bufs)
		return -ENOMEM;
	ring->head = IPOIB_RING_START;
	ring->tail = IPOIB_RING_START;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_tx_ring_init);

static void unmap_parts(struct ib_device *ca, struct ipoib_tx_buf *buf, unsigned int parts)
{
	const struct sk_buff *skb = buf->skb;
	unsigned int head = skb_headlen(skb) ? 1 : 0;

	if (head && parts)
		ib_dma_unmap_single(ca, buf->dma[0], skb_headlen(skb), DMA_TO_DEVICE);
	for (unsigned int i = head; i < parts; i++)
		ib_dma_unmap_page(ca, buf->dma[i],
				  skb_frag_size(&skb_shinfo(skb)->frags[i - head]), DMA_TO_DEVICE);
}

static unsigned int parts_of(const struct sk_buff *skb)
{
	return (skb_headlen(skb) ? 1 : 0) + skb_shinfo(skb)->nr_frags;
}

/* Maps all parts of the packet and lists them for the device. */
static bool map(struct ipoib_dev *ipoib, struct ipoib_tx_buf *buf)
{
	const struct sk_buff *skb = buf->skb;
	struct ib_device *ca = ipoib->ca;
	unsigned int n = 0;

	if (skb_headlen(skb)) {
		buf->dma[0] = ib_dma_map_single(ca, skb->data, skb_headlen(skb), DMA_TO_DEVICE);
		if (ib_dma_mapping_error(ca, buf->dma[0]))
			return false;
		ipoib->sge[n++].length = skb_headlen(skb);
	}
	for (unsigned int i = 0; i < skb_shinfo(skb)->nr_frags; i++) {
		const skb_frag_t *frag = &skb_shinfo(skb)->frags[i];

		buf->dma[n] = ib_dma_map_page(ca, skb_frag_page(frag), skb_frag_off(frag),
					      skb_frag_size(frag), DMA_TO_DEVICE);
		if (ib_dma_mapping_error(ca, buf->dma[n])) {
			unmap_parts(ca, buf, n);
			return false;
		}
		ipoib->sge[n++].length = skb_frag_size(frag);
	}
	for (unsigned int i = 0; i < n; i++) {
		ipoib->sge[i].addr = buf->dma[i];
		ipoib->sge[i].lkey = ipoib->pd->local_dma_lkey;
	}
	return true;
}

/**
 * ipoib_tx_prepare() - make a packet ready for the device
 * @ipoib: interface; its @sge takes the parts
 * @buf: entry of a ring that takes the packet
 * @skb: the packet, dropped on failure
 * @num_sge: receives the number of its parts
 *
 * Context: transmit queue's lock.
 * Return: success.
 */
bool ipoib_tx_prepare(struct ipoib_dev *ipoib, struct ipoib_tx_buf *buf, struct sk_buff *skb,
		      unsigned int *num_sge)
{
	if (parts_of(skb) > ipoib->max_sge && skb_linearize(skb)) {
		ipoib_drop(ipoib, skb);
		return false;
	}
	buf->skb = skb;
	buf->packets = 1;
	buf->bytes = skb->len;
	*num_sge = parts_of(skb);
	if (map(ipoib, buf))
		return true;
	buf->skb = NULL;
	DEV_STATS_INC(ipoib->netdev, tx_errors);
	dev_kfree_skb_any(skb);
	return false;
}

static bool full(const struct ipoib_dev *ipoib)
{
	u32 used = ipoib_ring_used(ipoib->tx_head, atomic_read(&ipoib->tx_tail));

	return used >= READ_ONCE(ipoib->tx_limit) - 1;
}

/* Half of the sender's buffer is taken by what was not found sent: it may soon have to wait. */
static bool sender_is_short(const struct sk_buff *skb)
{
	return skb->sk && sk_fullsock(skb->sk) && !sock_writeable(skb->sk);
}

/**
 * ipoib_tx_posted() - a packet is about to be posted: count it
 * @ipoib: interface
 * @ring: ring that has it
 * @skb: the packet
 *
 * Before and not after posting, since it may be sent at once.
 *
 * Context: transmit queue's lock.
 */
void ipoib_tx_posted(struct ipoib_dev *ipoib, struct ipoib_tx_ring *ring,
		     const struct sk_buff *skb)
{
	bool last;

	WRITE_ONCE(ring->head, ring->head + 1);
	WRITE_ONCE(ipoib->tx_head, ipoib->tx_head + 1);
	last = full(ipoib);
	if (last)
		netif_stop_queue(ipoib->netdev);
	ipoib_cq_posting(ipoib, last || sender_is_short(skb));
	/* It has a barrier: this sees what was sent, or who counts that sees the queue stopped. */
	if (last && !full(ipoib))
		netif_start_queue(ipoib->netdev);
}

/**
 * ipoib_tx_undo() - a packet that was counted could not be posted
 * @ipoib: interface
 * @ring: ring that has it
 * @buf: its entry
 *
 * Context: transmit queue's lock.
 */
void ipoib_tx_undo(struct ipoib_dev *ipoib, struct ipoib_tx_ring *ring, struct ipoib_tx_buf *buf)
{
	unmap_parts(ipoib->ca, buf, parts_of(buf->skb));
	DEV_STATS_INC(ipoib->netdev, tx_errors);
	dev_kfree_skb_any(buf->skb);
	buf->skb = NULL;
	WRITE_ONCE(ring->head, ring->head - 1);
	WRITE_ONCE(ipoib->tx_head, ipoib->tx_head - 1);
	if (netif_queue_stopped(ipoib->netdev))
		netif_start_queue(ipoib->netdev);
	/* Whoever waits for the ring to be empty may have counted this packet. */
	wake_up(&ipoib->idle);
}

static void advance(struct ipoib_dev *ipoib, struct ipoib_tx_ring *ring)
{
	WRITE_ONCE(ring->tail, ring->tail + 1);
	atomic_inc(&ipoib->tx_tail);
	/* See ipoib_tx_posted(). */
	smp_mb__after_atomic();
	if (netif_queue_stopped(ipoib->netdev) && netif_running(ipoib->netdev) &&
	    ipoib_ring_used(READ_ONCE(ipoib->tx_head), atomic_read(&ipoib->tx_tail)) <=
	    READ_ONCE(ipoib->tx_limit) / 2)
		netif_wake_queue(ipoib->netdev);
	if (ring->tail == READ_ONCE(ring->head))
		wake_up(&ipoib->idle);
}

/**
 * ipoib_tx_finish() - the device is done with a packet
 * @ipoib: interface
 * @ring: ring of the QP that sent it
 * @buf: its entry, the oldest of the ring
 * @wc: how it ended
 *
 * Context: NAPI poll.
 */
void ipoib_tx_finish(struct ipoib_dev *ipoib, struct ipoib_tx_ring *ring, struct ipoib_tx_buf *buf,
		     const struct ib_wc *wc)
{
	struct sk_buff *skb = buf->skb;

	unmap_parts(ipoib->ca, buf, parts_of(skb));
	buf->skb = NULL;
	if (wc->status == IB_WC_SUCCESS) {
		DEV_STATS_ADD(ipoib->netdev, tx_packets, buf->packets);
		DEV_STATS_ADD(ipoib->netdev, tx_bytes, buf->bytes);
		dev_consume_skb_any(skb);
	} else {
		DEV_STATS_INC(ipoib->netdev, tx_errors);
		dev_kfree_skb_any(skb);
	}
	advance(ipoib, ring);
}

/**
 * ipoib_tx_ring_drain() - free packets that have not come back
 * @ipoib: interface
 * @ring: ring of a QP that is reset or destroyed
 *
 * Context: may sleep; nobody sends or polls by this ring.
 */
void ipoib_tx_ring_drain(struct ipoib_dev *ipoib, struct ipoib_tx_ring *ring)
{
	const struct ib_wc wc = { .status = IB_WC_WR_FLUSH_ERR };

	while (ring->tail != ring->head)
		ipoib_tx_finish(ipoib, ring, &ring->bufs[ring->tail & (ipoib_sendq_size - 1)],
				&wc);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_tx_ring_drain);

static void sent(struct ib_cq *cq, struct ib_wc *wc)
{
	struct ipoib_cq *queue = cq->cq_context;
	struct ipoib_dev *ipoib = container_of(queue, struct ipoib_dev, tx_cq);

	if (wc->status != IB_WC_SUCCESS && wc->status != IB_WC_WR_FLUSH_ERR) {
		ipoib_dbg(ipoib, "a send failed: %s\n", ib_wc_status_msg(wc->status));
		queue_work(ipoib->wq, &ipoib->repair);
	}
	ipoib_tx_finish(ipoib, &ipoib->tx, container_of(wc->wr_cqe, struct ipoib_tx_buf, cqe), wc);
}

/* Bytes of the headers of a packet that the device sends as segments; 0 of others. */
static unsigned int lso_header(const struct sk_buff *skb)
{
	return skb_is_gso(skb) ? skb_tcp_all_headers(skb) : 0;
}

/* The device makes the headers of all segments of the first one's, and counts are of segments. */
static void prepare_lso(struct ipoib_tx_buf *buf, struct sk_buff *skb, unsigned int hlen,
			struct ib_ud_wr *wr)
{
	unsigned int mss = skb_shinfo(skb)->gso_size;

	wr->wr.opcode = IB_WR_LSO;
	wr->header = skb->data - hlen;
	wr->hlen = hlen;
	wr->mss = mss;
	buf->packets = DIV_ROUND_UP(skb->len, mss);
	buf->bytes = skb->len + buf->packets * hlen;
}

/**
 * ipoib_tx_send() - send a datagram
 * @ipoib: interface
 * @skb: packet, from its header of 4 bytes on
 * @ah: where to
 * @qpn: the receiver's QP
 *
 * Context: transmit queue's lock, RCU for @ah.
 */
void ipoib_tx_send(struct ipoib_dev *ipoib, struct sk_buff *skb, struct ib_ah *ah, u32 qpn)
{
	struct ipoib_tx_buf *buf = &ipoib->tx.bufs[ipoib->tx.head & (ipoib_sendq_size - 1)];
	struct ib_ud_wr wr = {
		.wr = { .wr_cqe = &buf->cqe, .sg_list = ipoib->sge, .opcode = IB_WR_SEND,
			.send_flags = IB_SEND_SIGNALED },
		.ah = ah,
		.remote_qpn = qpn,
		.remote_qkey = READ_ONCE(ipoib->qkey),
	};
	unsigned int num_sge, hlen, len, mtu;

	/* A program that writes whole frames may have told the stack another protocol. */
	if (ipoib_offload_used(skb) &&
	    ((const struct ipoib_encap *)skb->data)->proto != skb->protocol) {
		ipoib_drop(ipoib, skb);
		return;
	}
	hlen = lso_header(skb);
	len = hlen ? hlen + skb_shinfo(skb)->gso_size : skb->len;
	mtu = READ_ONCE(ipoib->group_mtu);
	if (len > mtu + IPOIB_ENCAP_LEN) {
		ipoib_too_long(ipoib, skb, mtu);
		return;
	}
	/* From here on the packet is what follows its headers. */
	if (hlen && (!pskb_may_pull(skb, hlen) || hlen >= skb->len)) {
		ipoib_drop(ipoib, skb);
		return;
	}
	__skb_pull(skb, hlen);
	if (!ipoib_tx_prepare(ipoib, buf, skb, &num_sge))
		return;
	if (hlen)
		prepare_lso(buf, skb, hlen, &wr);
	if (ipoib_offload_used(skb))
		wr.wr.send_flags |= IB_SEND_IP_CSUM;
	skb_dst_drop(skb);
	buf->cqe.done = sent;
	wr.wr.num_sge = num_sge;
	ipoib_tx_posted(ipoib, &ipoib->tx, skb);
	if (ib_post_send(ipoib->qp, &wr.wr, NULL))
		ipoib_tx_undo(ipoib, &ipoib->tx, buf);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_tx_send);
